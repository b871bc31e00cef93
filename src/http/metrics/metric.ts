import type { Distribution } from './distribution.ts';
import type { Counted } from './metrics.ts';
import type { ProcessUsage } from './process-usage.ts';

/** What a scrape shows: the counters, and what is read once for each scrape. */
export interface Scrape extends Counted {
  readonly usage: ProcessUsage;
  /** What the store takes on disk (bytes). Undefined: it is in memory, or does not tell. */
  readonly storeBytes: number | undefined;
  readonly storeWritable: boolean;
}

/** A metric as data: its lines are written on a scrape. */
export interface Metric {
  readonly name: string;
  /** The stability level; absent for metrics of the process. */
  readonly stability?: 'ALPHA' | 'BETA' | 'STABLE';
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** The names of its labels, `le` aside. A sample may lack some of them. */
  readonly labels: readonly string[];
  /** The lines, label set by label set. */
  readonly lines: (scrape: Scrape, name: string) => Iterable<string>;
}

export const line = (name: string, labels: string, value: number): string =>
  labels === '' ? `${name} ${value}\n` : `${name}{${labels}} ${value}\n`;

/** Cumulative buckets, sum and count. */
export function histogram(
  name: string,
  labels: string,
  { counts, sum }: Distribution,
  bounds: readonly number[],
): string {
  const start = `${name}_bucket{${labels === '' ? '' : `${labels},`}le="`;
  let text = '';
  let total = 0;
  counts.forEach((count, i) => {
    total += count;
    text += `${start}${bounds[i] ?? '+Inf'}"} ${total}\n`;
  });
  return text + line(`${name}_sum`, labels, sum) + line(`${name}_count`, labels, total);
}
