import { STATUS_CODES } from 'node:http';
import type { AuditCounts } from '../audit/index.ts';
import type { Registry } from '../registry/index.ts';
import type { InFlight } from './in-flight.ts';

/** Upper bounds of the histograms, as in the reference server. */
export const durationBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
export const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
export const admissionBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

/** The counters of one label set of requests. */
export interface Series {
  /** In the text format: `verb="GET",group="",…`. */
  readonly labels: string;
  /** Labels of watch events; undefined for other requests. */
  readonly watched: string | undefined;
  /** By status code. Unregistered codes are counted by class: 5 for 599. */
  readonly codes: Map<number, number>;
  readonly duration: Distribution;
  readonly size: Distribution;
  watchEvents: number;
}

export interface Distribution {
  /** One more than the bounds, for `+Inf`; not cumulative. */
  readonly counts: Float64Array;
  sum: number;
}

/** The duration of an admission plugin, or of all plugins together. */
export interface AdmissionSeries {
  readonly labels: string;
  readonly plugin: boolean;
  readonly seconds: Distribution;
}

/** All counters, for the text format. */
export interface Counted {
  readonly series: ReadonlyMap<string, Series>;
  readonly authentication: ReadonlyMap<string, number>;
  readonly authorization: ReadonlyMap<string, number>;
  readonly admission: ReadonlyMap<string, AdmissionSeries>;
  /** Mismatches and failures of declarative validation. */
  readonly rules: { readonly mismatches: number; readonly failures: number };
  readonly audit: AuditCounts;
  readonly inFlight: InFlight;
  readonly registry: () => Registry;
  /** Seconds since 1970. */
  readonly startTime: number;
}

/** Counts a completed request. `size` in bytes; undefined for a watch. */
export function countRequest(series: Series, code: number, seconds: number, size: number | undefined): void {
  const known = code in STATUS_CODES ? code : Math.trunc(code / 100);
  series.codes.set(known, (series.codes.get(known) ?? 0) + 1);
  observe(series.duration, durationBounds, seconds);
  if (size !== undefined) observe(series.size, sizeBounds, size);
}

/** Observes a value. */
export function observe(distribution: Distribution, bounds: readonly number[], value: number): void {
  let i = 0;
  while (i < bounds.length && value > (bounds[i] as number)) i++;
  distribution.counts[i] = (distribution.counts[i] as number) + 1;
  distribution.sum += value;
}

/** An empty histogram. */
export const distribution = (bounds: readonly number[]): Distribution => ({
  counts: new Float64Array(bounds.length + 1),
  sum: 0,
});

/** Labels in the text format. */
export const labelText = (labels: { readonly [label: string]: string }): string =>
  Object.entries(labels)
    .map(
      ([label, value]) => `${label}="${value.replace(/["\\\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`))}"`,
    )
    .join(',');
