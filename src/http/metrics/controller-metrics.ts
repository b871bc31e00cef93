import { queueBounds } from '../listener/bounds.ts';
import { histogram, line, type Metric } from './metric.ts';
import type { QueueSeries } from './metrics.ts';

/** A metric with one value for each work queue. */
const ofQueues = (
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: (series: QueueSeries) => number,
): Metric => ({
  ...{ name: `workqueue_${name}`, stability: 'ALPHA', help, type, labels: ['name'] },
  lines: ({ controllers: { queues } }, metric) =>
    [...queues.values()].map((series) => line(metric, series.labels, read(series))),
});

const histogramOfQueues = (name: string, help: string, part: 'waited' | 'worked'): Metric => ({
  ...{ name: `workqueue_${name}`, stability: 'ALPHA', help, type: 'histogram', labels: ['name'] },
  lines: ({ controllers: { queues } }, metric) =>
    [...queues.values()].map((series) => histogram(metric, series.labels, series[part], queueBounds)),
});

const ofLeases = (name: string, type: 'counter' | 'gauge', help: string, part: 'held' | 'slowpath'): Metric => ({
  ...{ name: `leader_election_${name}`, stability: 'ALPHA', help, type, labels: ['name'] },
  lines: ({ controllers: { leases } }, metric) =>
    [...leases].map(([labels, read]) => line(metric, labels, Number(read()[part]))),
});

/** The metrics of controllers: of their work queues, and of the lease under which they run. */
export const controllerMetrics: readonly Metric[] = [
  ofQueues('depth', 'gauge', 'Keys that wait in a work queue.', ({ queue }) => queue.depth()),
  ofQueues('adds_total', 'counter', 'Keys added to a work queue.', ({ adds }) => adds),
  histogramOfQueues('queue_duration_seconds', 'Time that keys wait in a work queue.', 'waited'),
  histogramOfQueues('work_duration_seconds', 'Time that the reconcile of a key takes.', 'worked'),
  ofQueues(
    'unfinished_work_seconds',
    'gauge',
    'Time that the reconciles under way have taken so far, all together.',
    ({ queue }) => queue.runningSeconds().reduce((sum, seconds) => sum + seconds, 0),
  ),
  ofQueues(
    'longest_running_processor_seconds',
    'gauge',
    'Time that the longest reconcile under way has taken so far.',
    ({ queue }) => queue.runningSeconds().reduce((longest, seconds) => Math.max(longest, seconds), 0),
  ),
  ofQueues('retries_total', 'counter', 'Keys that are to be reconciled again later.', ({ retries }) => retries),
  ofLeases('master_status', 'gauge', '1 for the leader of the lease, 0 for those that wait for it.', 'held'),
  ofLeases('slowpath_total', 'counter', 'Renewals of the lease that had to read it first.', 'slowpath'),
];
