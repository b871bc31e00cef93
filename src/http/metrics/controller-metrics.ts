import { exponentialBuckets, type MetricSet } from './metric.ts';
import type { Distribution, Value } from './series.ts';

/** The current state of a work queue of controllers. */
interface QueueState {
  readonly name: string;
  readonly depth: () => number;
  /** How long each key in progress has been reconciled. */
  readonly runningSeconds: () => readonly number[];
}

/** Counts the work of a queue. */
interface QueueObserver {
  readonly added: () => void;
  readonly started: (waitedSeconds: number) => void;
  readonly ended: (workedSeconds: number) => void;
  readonly retried: () => void;
}

/** The state of a lease: whether it is held, and how many renewals had to read it first. */
type LeaseState = () => { readonly held: boolean; readonly slowpath: number };

export interface ControllerMetrics {
  /** Counts the work of a queue. A later queue of the same name continues its series. */
  queue(queue: QueueState): QueueObserver;
  /** Shows the lease of a name from now on. */
  lease(name: string, state: LeaseState): void;
}

interface QueueSeries {
  readonly adds: Value;
  readonly retries: Value;
  readonly waited: Distribution;
  readonly worked: Distribution;
}

/** Declares the metrics of controllers: of their work queues, and of the lease under which they run. */
export function declareControllerMetrics(set: MetricSet): ControllerMetrics {
  const queues = new Map<string, QueueState>();
  const leases = new Map<string, LeaseState>();
  const createSeries = declareQueueMetrics(set, queues);
  declareLeaseMetrics(set, leases);
  return {
    queue(queue) {
      queues.set(queue.name, queue);
      const { adds, retries, waited, worked } = createSeries(queue.name);
      return {
        added: () => void adds.value++,
        started: (seconds) => waited.observe(seconds),
        ended: (seconds) => worked.observe(seconds),
        retried: () => void retries.value++,
      };
    },
    lease: (name, state) => void leases.set(name, state),
  };
}

function declareQueueMetrics(set: MetricSet, queues: ReadonlyMap<string, QueueState>): (name: string) => QueueSeries {
  const labels = ['name'];
  const buckets = exponentialBuckets(1e-8, 10, 10);
  const declareGauge = (name: string, help: string, read: (queue: QueueState) => number) =>
    set.observable({
      type: 'gauge',
      name,
      stability: 'BETA',
      help,
      labels,
      *read() {
        for (const [queueName, queue] of queues) yield [{ name: queueName }, read(queue)];
      },
    });
  declareGauge('workqueue_depth', 'Keys that wait in a work queue.', (queue) => queue.depth());
  const adds = set.counter({
    name: 'workqueue_adds_total',
    stability: 'BETA',
    help: 'Keys added to a work queue.',
    labels,
  });
  const waited = set.histogram({
    name: 'workqueue_queue_duration_seconds',
    stability: 'BETA',
    help: 'Time that keys wait in a work queue.',
    labels,
    buckets,
  });
  const worked = set.histogram({
    name: 'workqueue_work_duration_seconds',
    stability: 'BETA',
    help: 'Time that the reconcile of a key takes.',
    labels,
    buckets,
  });
  declareGauge(
    'workqueue_unfinished_work_seconds',
    'Time that the reconciles under way have taken so far, all together.',
    (queue) => queue.runningSeconds().reduce((sum, seconds) => sum + seconds, 0),
  );
  declareGauge(
    'workqueue_longest_running_processor_seconds',
    'Time that the longest reconcile under way has taken so far.',
    (queue) => queue.runningSeconds().reduce((longest, seconds) => Math.max(longest, seconds), 0),
  );
  const retries = set.counter({
    name: 'workqueue_retries_total',
    stability: 'BETA',
    help: 'Keys that wait to be reconciled again.',
    labels,
  });
  return (name) => ({
    adds: adds.series({ name }),
    retries: retries.series({ name }),
    waited: waited.series({ name }),
    worked: worked.series({ name }),
  });
}

function declareLeaseMetrics(set: MetricSet, leases: ReadonlyMap<string, LeaseState>): void {
  const declare = (name: string, type: 'counter' | 'gauge', help: string, part: 'held' | 'slowpath') =>
    set.observable({
      type,
      name,
      stability: 'ALPHA',
      help,
      labels: ['name'],
      *read() {
        for (const [leaseName, state] of leases) yield [{ name: leaseName }, Number(state()[part])];
      },
    });
  declare(
    'leader_election_master_status',
    'gauge',
    '1 for the leader of the lease, 0 for those that wait for it.',
    'held',
  );
  declare('leader_election_slowpath_total', 'counter', 'Renewals of the lease that had to read it first.', 'slowpath');
}
