/** The watch cache of one resource: the present state as immutable snapshots, and every change to whom it concerns. */
export { addedEvent, bookmarkEvent } from './change.ts';
export { unknownLabels } from './selection.ts';
export type {
  CachedObject,
  CacheOptions,
  Snapshot,
  SubscribeOptions,
  Subscription,
  WatchCache,
  WatchEvent,
} from './types.ts';
export { createWatchCache } from './watch-cache.ts';
