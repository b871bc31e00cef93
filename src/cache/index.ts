/** The watch cache of one resource: immutable snapshots of its state, and fan-out of its changes to watches. */
export { addedEvent, bookmarkEvent, objectEvent } from './change.ts';
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
export { WindowMemory } from './window-memory.ts';
