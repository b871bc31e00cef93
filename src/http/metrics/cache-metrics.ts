import { formatGroupResource, ownMetric } from '../../meta/index.ts';
import type { Registry, Resource } from '../../registry/index.ts';
import type { MetricSet } from './metric.ts';

/** The resources with objects, each once, in however many versions it is served. */
function* storedResources({ resources }: Registry): Generator<Resource> {
  const seen = new Set<string>();
  for (const resource of resources) {
    const id = formatGroupResource(resource.id);
    if (!resource.definition.verbs.includes('watch') || seen.has(id)) continue;
    seen.add(id);
    yield resource;
  }
}

/** Declares the metrics of stored objects and watch caches. */
export function declareCacheMetrics(set: MetricSet, registry: () => Registry): void {
  declareObjectMetrics(set, registry);
  declareStoreEventMetrics(set, registry);
  declareWatchCacheMetrics(set, registry);
  set.observable({
    type: 'gauge',
    name: ownMetric('watch_cache_table_row_bytes'),
    stability: 'ALPHA',
    help: 'Bytes of the table rows that are kept in memory for the next tables.',
    *read() {
      yield [{}, registry().rowBytes()];
    },
  });
}

function declareObjectMetrics(set: MetricSet, registry: () => Registry): void {
  set.observable({
    type: 'gauge',
    name: 'apiserver_storage_objects',
    across: 'max',
    stability: 'STABLE',
    help: 'Objects stored, by resource.',
    labels: ['resource'],
    *read() {
      for (const { id, keyPrefix, storage } of storedResources(registry())) {
        yield [{ resource: formatGroupResource(id) }, storage.cache.snapshot().count(keyPrefix)];
      }
    },
  });
}

function declareStoreEventMetrics(set: MetricSet, registry: () => Registry): void {
  set.observable({
    type: 'counter',
    name: 'apiserver_storage_events_received_total',
    stability: 'BETA',
    help: 'Events received from the store.',
    labels: ['group', 'resource'],
    *read() {
      for (const { id, storage } of storedResources(registry())) {
        yield [{ group: id.group, resource: id.resource }, storage.cache.counts.received];
      }
    },
  });
}

/** Metrics of each watch cache. */
const watchCacheMetrics: readonly [
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: (cache: Resource['storage']['cache']) => number,
  across?: 'max',
][] = [
  [
    'apiserver_watch_cache_initializations_total',
    'counter',
    'How often a watch cache was filled from a list of the store.',
    ({ counts }) => counts.loads,
  ],
  [
    'apiserver_watch_cache_events_received_total',
    'counter',
    'Changes that a watch cache received from the store.',
    ({ counts }) => counts.received,
  ],
  [
    'apiserver_init_events_total',
    'counter',
    'Events from before their start that watches were given from the event window.',
    ({ counts }) => counts.replayed,
  ],
  [
    'apiserver_terminated_watchers_total',
    'counter',
    'Watches that were ended because their client read too slowly.',
    ({ counts }) => counts.cutOff,
  ],
  [
    'apiserver_watch_cache_resource_version',
    'gauge',
    'The revision of the store that a watch cache has reached; 0 before it is filled.',
    ({ revision }) => revision,
    'max',
  ],
  [
    ownMetric('watch_cache_subscribers'),
    'gauge',
    'Watches that are fed by a watch cache.',
    ({ counts }) => counts.subscribers,
  ],
  [
    ownMetric('watch_cache_window_changes'),
    'gauge',
    'Changes that the event window of a watch cache holds, from which watches can start.',
    ({ counts }) => counts.windowChanges,
  ],
  [
    ownMetric('watch_cache_window_bytes'),
    'gauge',
    'Bytes that the event window of a watch cache keeps in memory beyond the current objects.',
    ({ counts }) => counts.windowBytes,
  ],
  [
    ownMetric('watch_cache_label_indexes'),
    'gauge',
    'Labels by which the objects of a watch cache are indexed, because they are often selected by them.',
    ({ counts }) => counts.labelIndexes,
  ],
  [
    ownMetric('watch_cache_label_index_bytes'),
    'gauge',
    'Bytes that the indexes of a watch cache take.',
    ({ counts }) => counts.labelIndexBytes,
  ],
];

function declareWatchCacheMetrics(set: MetricSet, registry: () => Registry): void {
  for (const [name, type, help, read, across = 'sum'] of watchCacheMetrics) {
    set.observable({
      type,
      name,
      across,
      stability: 'ALPHA',
      help,
      labels: ['group', 'resource'],
      *read() {
        for (const { id, storage } of storedResources(registry())) {
          yield [{ group: id.group, resource: id.resource }, read(storage.cache)];
        }
      },
    });
  }
}
