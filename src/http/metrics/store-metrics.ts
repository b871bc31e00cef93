import { type GroupResource, ownMetric } from '../../meta/index.ts';
import { MetricSet, millisecondBuckets, requestBuckets } from './metric.ts';
import type { Distribution, Value } from './series.ts';

/** The resource whose objects have this key in the store; undefined for keys that hold no object. */
export type ResourceOfKey = (key: string) => GroupResource | undefined;

/** A request to the store has ended. `key`: that of an object, or the prefix of a list. */
type ObserveStoreRequest = (operation: string, key: string, seconds: number, failed: boolean) => void;

const none: GroupResource = { group: '', resource: '' };

/** Declares the metrics of the backing store, with the names of the reference server for any store. */
export function declareStoreMetrics(set: MetricSet, resourceOf: ResourceOfKey): ObserveStoreRequest {
  const labels = ['operation', 'group', 'resource'];
  const duration = set.histogram({
    name: 'etcd_request_duration_seconds',
    stability: 'ALPHA',
    help: 'Time that requests to the backing store take, by operation and resource.',
    labels,
    buckets: requestBuckets,
  });
  const requests = set.counter({
    name: 'etcd_requests_total',
    stability: 'ALPHA',
    help: 'Requests to the backing store, by operation and resource.',
    labels,
  });
  const errors = set.counter({
    name: 'etcd_request_errors_total',
    stability: 'ALPHA',
    help: 'Requests to the backing store that failed, by operation and resource.',
    labels,
  });
  set.observable({
    type: 'gauge',
    name: 'apiserver_storage_size_bytes',
    across: 'one',
    stability: 'STABLE',
    help: 'Bytes that the database of the backing store takes on disk.',
    labels: ['storage_cluster_id'],
    read: ({ storeBytes }) => (storeBytes === undefined ? [] : [[{ storage_cluster_id: 'etcd-0' }, storeBytes]]),
  });
  set.observable({
    type: 'gauge',
    name: ownMetric('store_writable'),
    across: 'one',
    stability: 'ALPHA',
    help: 'Whether the backing store can be written: 0 while writes fail, for lack of space for example.',
    read: ({ storeWritable }) => [['', storeWritable ? 1 : 0]],
  });
  const table = new Map<string, { readonly duration: Distribution; readonly requests: Value }>();
  return (operation, storeKey, seconds, failed) => {
    const { group, resource } = resourceOf(storeKey) ?? none;
    const key = `${operation} ${group}/${resource}`;
    let series = table.get(key);
    if (series === undefined) {
      const values = { operation, group, resource };
      series = { duration: duration.series(values), requests: requests.series(values) };
      table.set(key, series);
    }
    series.duration.observe(seconds);
    series.requests.value++;
    if (failed) errors.series({ operation, group, resource }).value++;
  };
}

/** The metrics of the embedded store. Without one they observe nothing. */
export interface CommitMetrics {
  readonly set: MetricSet;
  /** From the call of a commit to its response. */
  readonly commits: Distribution;
  /** Write and flush of a transaction. */
  readonly flushes: Distribution;
}

export function createCommitMetrics(): CommitMetrics {
  const set = new MetricSet();
  // The buckets of the write-ahead log of etcd.
  const buckets = millisecondBuckets.slice(0, 14);
  const commits = set.histogram({
    name: ownMetric('store_commit_duration_seconds'),
    stability: 'ALPHA',
    help: 'Time of a commit to the embedded store, from its start until it is durable: it waits for the transaction before its own.',
    buckets,
  });
  const flushes = set.histogram({
    name: ownMetric('store_sync_duration_seconds'),
    stability: 'ALPHA',
    help: 'Time to write a group of commits to the embedded store and to flush it to disk. Commits that come together share one.',
    buckets,
  });
  return { set, commits: commits.series(), flushes: flushes.series() };
}

/** Observes the times of the embedded store (seconds). */
export const commitObserver = ({ commits, flushes }: CommitMetrics) => ({
  committed: (seconds: number): void => commits.observe(seconds),
  flushed: (seconds: number): void => flushes.observe(seconds),
});
