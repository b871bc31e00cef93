import { formatGroupResource, ownMetric } from '../../meta/index.ts';
import type { Resource } from '../../registry/index.ts';
import { eventBounds } from '../listener/bounds.ts';
import { labelText } from './distribution.ts';
import { histogram, line, type Metric, type Scrape } from './metric.ts';

/** The resources with objects, each once, however many versions are served. */
function* stored({ registry }: Scrape): Generator<Resource> {
  const seen = new Set<string>();
  for (const resource of registry().resources) {
    const id = formatGroupResource(resource.id);
    if (!resource.definition.verbs.includes('watch') || seen.has(id)) continue;
    seen.add(id);
    yield resource;
  }
}

const ofCaches = (
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: (cache: Resource['cache']) => number,
): Metric => ({
  ...{ name, stability: 'ALPHA', help, type, labels: ['group', 'resource'] },
  *lines(scrape, metric) {
    for (const { id, cache } of stored(scrape)) {
      yield line(metric, labelText({ group: id.group, resource: id.resource }), read(cache));
    }
  },
});

/** The metrics of watches, and of the caches that feed them. */
export const watchMetrics: readonly Metric[] = [
  {
    name: 'apiserver_watch_events_total',
    stability: 'ALPHA',
    help: 'Events sent to watchers.',
    type: 'counter',
    labels: ['group', 'version', 'resource'],
    *lines({ watched }, name) {
      for (const { labels, events } of watched.values()) yield line(name, labels, events);
    },
  },
  {
    name: 'apiserver_watch_events_sizes',
    stability: 'ALPHA',
    help: 'Bytes of the events sent to watchers.',
    type: 'histogram',
    labels: ['group', 'version', 'resource'],
    *lines({ watched }, name) {
      for (const { labels, sizes } of watched.values()) yield histogram(name, labels, sizes, eventBounds);
    },
  },
  {
    name: 'apiserver_storage_objects',
    stability: 'STABLE',
    help: 'Objects stored, by resource.',
    type: 'gauge',
    labels: ['resource'],
    *lines(scrape, name) {
      for (const { id, keyPrefix, cache } of stored(scrape)) {
        const labels = labelText({ resource: formatGroupResource(id) });
        yield line(name, labels, cache.snapshot().count(keyPrefix));
      }
    },
  },
  ofCaches(
    'apiserver_watch_cache_initializations_total',
    'counter',
    'How often a watch cache was filled from a list of the store.',
    ({ counts }) => counts.loads,
  ),
  ofCaches(
    'apiserver_watch_cache_events_received_total',
    'counter',
    'Changes that a watch cache received from the store.',
    ({ counts }) => counts.received,
  ),
  ofCaches(
    'apiserver_init_events_total',
    'counter',
    'Events from before their start that watches were given from the event window.',
    ({ counts }) => counts.replayed,
  ),
  ofCaches(
    'apiserver_terminated_watchers_total',
    'counter',
    'Watches that were ended because their client read too slowly.',
    ({ counts }) => counts.cutOff,
  ),
  ofCaches(
    'apiserver_watch_cache_resource_version',
    'gauge',
    'The revision of the store that a watch cache has reached; 0 before it is filled.',
    ({ revision }) => revision,
  ),
  ofCaches(
    ownMetric('watch_cache_subscribers'),
    'gauge',
    'Watches that are fed by a watch cache.',
    ({ counts }) => counts.subscribers,
  ),
  ofCaches(
    ownMetric('watch_cache_window_changes'),
    'gauge',
    'Changes that the event window of a watch cache holds, from which watches can start.',
    ({ counts }) => counts.windowChanges,
  ),
  ofCaches(
    ownMetric('watch_cache_window_bytes'),
    'gauge',
    'Bytes that the event window of a watch cache keeps in memory beyond the current objects.',
    ({ counts }) => counts.windowBytes,
  ),
];
