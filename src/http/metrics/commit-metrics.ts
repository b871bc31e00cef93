import { ownMetric } from '../../meta/index.ts';
import { flushBounds } from '../listener/bounds.ts';
import { histogram, type Metric } from './metric.ts';
import type { CommitTimes } from './metrics.ts';

const ofCommits = (name: string, help: string, part: keyof CommitTimes): Metric => ({
  ...{ name: ownMetric(`store_${name}_duration_seconds`), stability: 'ALPHA', type: 'histogram', help, labels: [] },
  lines: ({ commits }, metric) => [histogram(metric, '', commits[part], flushBounds)],
});

/** The times of the embedded store. Without one they observe nothing. */
export const commitMetrics: readonly Metric[] = [
  ofCommits(
    'commit',
    'Time of a commit to the embedded store, from its start until it is durable: it waits for the transaction before its own.',
    'commits',
  ),
  ofCommits(
    'sync',
    'Time to write a transaction of the embedded store and to flush it to disk. Commits that come together share one.',
    'flushes',
  ),
];
