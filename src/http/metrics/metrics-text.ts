import { type ByteString, encodeText, featureList, featureMetric, type Turns } from '../../meta/index.ts';
import { accessMetrics } from './access-metrics.ts';
import { admissionMetrics } from './admission-metrics.ts';
import { commitMetrics } from './commit-metrics.ts';
import { controllerMetrics } from './controller-metrics.ts';
import { labelText } from './distribution.ts';
import { encryptionMetrics } from './encryption-metrics.ts';
import { line, type Metric, type Scrape } from './metric.ts';
import type { Counted } from './metrics.ts';
import { processMetrics } from './process-metrics.ts';
import { requestMetrics } from './request-metrics.ts';
import { storeMetrics } from './store-metrics.ts';
import { watchMetrics } from './watch-metrics.ts';

/** The target size of a piece (bytes). */
const pieceSize = 64 * 1024;

/** The current text in pieces, which are made in turns. The lines of one histogram are consistent. */
export async function* metricsText(counted: Counted, turns: Turns): AsyncGenerator<ByteString> {
  const [usage, storeBytes, storeWritable] = await Promise.all([
    counted.readUsage(),
    // A store that cannot be reached has no size now.
    counted.storeSize().catch(() => undefined),
    counted.checkWritable().then(
      () => true,
      () => false,
    ),
  ]);
  const scrape: Scrape = { ...counted, usage, storeBytes, storeWritable };
  let piece = '';
  for (const { name, stability, help, type, lines } of metrics) {
    const level = stability === undefined ? '' : `[${stability}] `;
    piece += `# HELP ${name} ${level}${help}\n# TYPE ${name} ${type}\n`;
    for (const text of lines(scrape, name)) {
      piece += text;
      if (piece.length < pieceSize) continue;
      yield encodeText(piece);
      piece = '';
      if (turns.over) await turns.next();
    }
  }
  yield encodeText(piece);
}

const serverMetrics: readonly Metric[] = [
  {
    name: 'apiserver_identity_info',
    stability: 'ALPHA',
    help: 'The API server that these metrics are of, by the name of its identity lease: always 1.',
    type: 'gauge',
    labels: ['identity'],
    lines: ({ identity }, name) => (identity === '' ? [] : [line(name, labelText({ identity }), 1)]),
  },
  {
    name: featureMetric,
    stability: 'BETA',
    help: 'Features by stage: 1 for those that are on, 0 for the others.',
    type: 'gauge',
    labels: ['name', 'stage'],
    lines: ({ registry }, metric) => {
      const features: { readonly [name: string]: boolean } = registry().features;
      return featureList.map(([name, { stage }]) =>
        line(metric, labelText({ name, stage: stage === 'stable' ? '' : stage.toUpperCase() }), features[name] ? 1 : 0),
      );
    },
  },
];

/** All metrics, in the order of a scrape. */
export const metrics: readonly Metric[] = [
  ...serverMetrics,
  ...requestMetrics,
  ...watchMetrics,
  ...storeMetrics,
  ...commitMetrics,
  ...accessMetrics,
  ...admissionMetrics,
  ...encryptionMetrics,
  ...controllerMetrics,
  ...processMetrics,
];
