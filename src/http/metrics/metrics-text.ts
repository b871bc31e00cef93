import { type ByteString, encodeText, type Turns } from '../../meta/index.ts';
import { type Metric, metricHeader, type Scrape } from './metric.ts';

/** The target size of a piece (bytes). */
const pieceSize = 64 * 1024;

/** The lines of the series of metrics, by the names of the metrics. */
export type MetricLines = ReadonlyMap<string, readonly string[]>;

/**
 * The current values of all metrics in pieces, which are made in turns, together with those of other workers. The lines of
 * one histogram are consistent.
 */
export async function* metricsText(
  metrics: readonly Metric[],
  scrape: Scrape,
  turns: Turns,
  others: readonly MetricLines[] = [],
): AsyncGenerator<ByteString> {
  let piece = '';
  for (const metric of metrics) {
    if (turns.over) await turns.next();
    piece += metricHeader(metric);
    for (const text of others.length === 0 ? metric.lines(scrape) : wholeLines(metric, scrape, others)) {
      piece += text;
      if (piece.length < pieceSize) continue;
      yield encodeText(piece);
      piece = '';
      if (turns.over) await turns.next();
    }
  }
  yield encodeText(piece);
}

/** The current values of all metrics by their names, read in turns. */
export async function metricLines(metrics: readonly Metric[], scrape: Scrape, turns: Turns): Promise<MetricLines> {
  const lines = new Map<string, readonly string[]>();
  for (const metric of metrics) {
    if (turns.over) await turns.next();
    lines.set(metric.declaration.name, [...metric.lines(scrape)].flatMap(linesOf));
  }
  return lines;
}

const wholeLines = (metric: Metric, scrape: Scrape, others: readonly MetricLines[]) =>
  addLines(metric, [
    [...metric.lines(scrape)].flatMap(linesOf),
    ...others.map((lines) => lines.get(metric.declaration.name) ?? []),
  ]);

/** A series of a histogram is a text of several lines. */
const linesOf = (text: string): string[] => text.split(/(?<=\n)/);

/** The lines of one metric of a whole server from those of its workers, each of which ends with its value. */
export function addLines(
  { declaration }: Pick<Metric, 'declaration'>,
  workers: readonly (readonly string[])[],
): string[] {
  const { across = 'sum' } = declaration;
  const values = new Map<string, number>();
  for (const lines of workers) {
    for (const line of lines) {
      const end = line.lastIndexOf(' ');
      const series = line.slice(0, end);
      const value = Number(line.slice(end));
      const before = values.get(series);
      if (before === undefined) values.set(series, value);
      else if (across === 'sum') values.set(series, before + value);
      else if (across === 'max') values.set(series, Math.max(before, value));
    }
  }
  return [...values].map(([series, value]) => `${series} ${value}\n`);
}
