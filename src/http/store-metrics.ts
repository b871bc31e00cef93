import { labelText } from './distribution.ts';
import { histogram, line, type Metric } from './metric.ts';
import { type Counted, durationBounds } from './metrics.ts';

/** The metrics of the backing store, in the names of the reference server, whichever store it is. */
export const storeMetrics: readonly Metric[] = [
  {
    name: 'etcd_request_duration_seconds',
    stability: 'ALPHA',
    help: 'Time that requests to the backing store take, by operation and resource.',
    type: 'histogram',
    *lines({ storeRequests }, name) {
      for (const { labels, duration } of storeRequests.values())
        yield histogram(name, labels, duration, durationBounds);
    },
  },
  {
    name: 'etcd_requests_total',
    stability: 'ALPHA',
    help: 'Requests to the backing store, by operation and resource.',
    type: 'counter',
    *lines({ storeRequests }, name) {
      for (const { labels, duration } of storeRequests.values()) {
        yield line(
          name,
          labels,
          duration.counts.reduce((sum, count) => sum + count, 0),
        );
      }
    },
  },
  {
    name: 'etcd_request_errors_total',
    stability: 'ALPHA',
    help: 'Requests to the backing store that failed, by operation and resource.',
    type: 'counter',
    *lines({ storeRequests }, name) {
      for (const { labels, errors } of storeRequests.values()) if (errors > 0) yield line(name, labels, errors);
    },
  },
  {
    name: 'apiserver_storage_size_bytes',
    stability: 'STABLE',
    help: 'Bytes that the database of the backing store takes on disk.',
    type: 'gauge',
    lines: sizeLines,
  },
];

/** None for a store in memory, and while the store does not tell. */
async function sizeLines({ storeSize }: Counted, name: string): Promise<string[]> {
  const size = await storeSize().catch(() => undefined);
  return size === undefined ? [] : [line(name, labelText({ storage_cluster_id: 'etcd-0' }), size)];
}
