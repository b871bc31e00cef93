import { ownMetric } from '../../meta/index.ts';
import { durationBounds } from '../listener/bounds.ts';
import { labelText, totalOf } from './distribution.ts';
import { histogram, line, type Metric } from './metric.ts';

/** The metrics of the backing store, in the names of the reference server, whichever store it is. */
export const storeMetrics: readonly Metric[] = [
  {
    name: 'etcd_request_duration_seconds',
    stability: 'ALPHA',
    help: 'Time that requests to the backing store take, by operation and resource.',
    type: 'histogram',
    labels: ['operation', 'group', 'resource'],
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
    labels: ['operation', 'group', 'resource'],
    *lines({ storeRequests }, name) {
      for (const { labels, duration } of storeRequests.values()) {
        yield line(name, labels, totalOf(duration));
      }
    },
  },
  {
    name: 'etcd_request_errors_total',
    stability: 'ALPHA',
    help: 'Requests to the backing store that failed, by operation and resource.',
    type: 'counter',
    labels: ['operation', 'group', 'resource'],
    *lines({ storeRequests }, name) {
      for (const { labels, errors } of storeRequests.values()) if (errors > 0) yield line(name, labels, errors);
    },
  },
  {
    name: 'apiserver_storage_size_bytes',
    stability: 'STABLE',
    help: 'Bytes that the database of the backing store takes on disk.',
    type: 'gauge',
    labels: ['storage_cluster_id'],
    lines: ({ storeBytes }, name) =>
      storeBytes === undefined ? [] : [line(name, labelText({ storage_cluster_id: 'etcd-0' }), storeBytes)],
  },
  {
    name: ownMetric('store_writable'),
    stability: 'ALPHA',
    help: 'Whether the backing store can be written: 0 while writes fail, for lack of space for example.',
    type: 'gauge',
    labels: [],
    lines: ({ storeWritable }, name) => [line(name, '', storeWritable ? 1 : 0)],
  },
];
