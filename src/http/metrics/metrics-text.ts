import { type ByteString, encodeText, type Turns } from '../../meta/index.ts';
import { type Metric, metricHeader, type Scrape } from './metric.ts';

/** The target size of a piece (bytes). */
const pieceSize = 64 * 1024;

/** The current values of all metrics in pieces, which are made in turns. The lines of one histogram are consistent. */
export async function* metricsText(
  metrics: readonly Metric[],
  scrape: Scrape,
  turns: Turns,
): AsyncGenerator<ByteString> {
  let piece = '';
  for (const metric of metrics) {
    piece += metricHeader(metric);
    for (const text of metric.lines(scrape)) {
      piece += text;
      if (piece.length < pieceSize) continue;
      yield encodeText(piece);
      piece = '';
      if (turns.over) await turns.next();
    }
  }
  yield encodeText(piece);
}
