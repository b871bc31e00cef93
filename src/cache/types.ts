import type { ByteString, Clock, GroupResource, LabelRequirement, StatusError, Turns } from '../meta/index.ts';
import type { Entry, Store } from '../store/index.ts';
import type { WindowMemory } from './window-memory.ts';

/**
 * A cached object: its bytes as sent to clients, and the values that filters need. Immutable except for `metadataEnd`,
 * `row`, `size` and `converted`, so that snapshots and events can share it.
 */
export interface CachedObject {
  readonly key: string;
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  /** The revision of the commit that wrote it: its `metadata.resourceVersion`. */
  readonly revision: number;
  /** The JSON encoding in the storage version, with `metadata.resourceVersion`. */
  readonly bytes: ByteString;
  readonly labels: { readonly [key: string]: string };
  /** Values of the selectable fields of the kind, except name and namespace, by path; '' for an absent field. */
  readonly fields: { readonly [path: string]: string };
  /** The index in `bytes` behind the metadata, once it has been looked for. */
  metadataEnd?: number | undefined;
  /**
   * The number under which its table row is kept, and the columns of the row. Stored here because the garbage collector
   * pauses noticeably for a WeakMap with a hundred thousand keys.
   */
  row?: number | undefined;
  rowOf?: object | undefined;
  /** The size (bytes) of the object in another encoding, and that encoding. */
  size?: number | undefined;
  sizeOf?: object | undefined;
  /** The object of a custom resource after conversion by a webhook; stored here for the same reason as `row`. */
  converted?: CachedObject | undefined;
  /** It is stored in another form than `bytes`: in another version, or as another server writes it. */
  readonly foreign?: true;
}

export interface CacheOptions {
  readonly store: Store;
  /** The cached resource, for messages. */
  readonly id: GroupResource;
  /**
   * The key prefix of the resource, which ends with a slash and is followed by `<namespace>/<name>` or `<name>`.
   */
  readonly prefix: string;
  readonly clock: Clock;
  /** Decodes a stored value into a cached object. Must not throw, whatever the bytes are. */
  readonly describe: (entry: Entry) => CachedObject;
  /** Returns the final state of a deleted object: `last` with the revision of its deletion. */
  readonly describeDeleted: (last: CachedObject, revision: number) => CachedObject;
  /** Selectable fields with an index of watches by value, such as `spec.nodeName`. */
  readonly indexedFields: readonly string[];
  /** Called while the cache loads, with the number of objects read since the last call. */
  readonly onRead?: ((objects: number) => void) | undefined;
  /** Called once when stored data is damaged, with the store's error as the cause. The cache keeps retrying. */
  readonly onDamage?: ((error: StatusError) => void) | undefined;
  /** Maximum age of events in the window (ms). */
  readonly windowMs: number;
  /** Maximum size of the replaced and deleted objects in the window (bytes), plus 128 for each event. */
  readonly windowBytes: number;
  /** The memory that the windows of all caches share. */
  readonly windowMemory: WindowMemory;
}

/** Counters of a cache since its creation, and its current sizes. */
export interface CacheCounts {
  /** Loads of the whole state from the store. */
  readonly loads: number;
  /** Changes received from the store. */
  readonly received: number;
  /** Past events returned to subscribers. */
  readonly replayed: number;
  /** Subscriptions ended because their subscriber was too slow. */
  readonly cutOff: number;
  /** Open subscriptions. */
  readonly subscribers: number;
  /** Changes in the event window, and their bytes as counted against `windowBytes`. */
  readonly windowChanges: number;
  readonly windowBytes: number;
  /** Labels with an index, and the size of the indexes (bytes). */
  readonly labelIndexes: number;
  readonly labelIndexBytes: number;
}

export interface WatchCache {
  /**
   * Starts the list-watch and resolves once the cache is loaded. Retries when the store fails. Rejects with a 503 StatusError
   * when the cache or the store is closed first, and with `damage` when stored data is damaged.
   */
  ready(): Promise<void>;
  /** {@link ready} for a request: rejects with a 504 StatusError after 34 seconds. */
  loaded(): Promise<void>;
  /** The last applied revision; 0 before the cache is loaded. */
  readonly revision: number;
  /** A 500 StatusError while the cache cannot continue because stored data is damaged. */
  readonly damage: StatusError | undefined;
  /** The reason why waiting for the cache is pointless: a 503 StatusError once it is closed, or `damage`. */
  readonly failure: StatusError | undefined;
  /** The revision after which the event window begins. Older events are read from the store's history. */
  readonly oldest: number;
  readonly counts: CacheCounts;
  /** Resolves to true once the cache has reached `revision`; to false after `timeoutMs` or when there is a `failure`. */
  reach(revision: number, timeoutMs: number): Promise<boolean>;
  /** Returns the object with this key at `revision`. */
  get(key: string): CachedObject | undefined;
  /** Returns the current state, immutable and the same object until the next change. Takes constant time. */
  snapshot(): Snapshot;
  /**
   * Returns all matching events after `options.after`, then live ones. The iteration ends with a 410 StatusError when the
   * history it needs is compacted or damaged, and without an error when the subscriber is too slow.
   */
  subscribe(options: SubscribeOptions): Subscription;
  /** The number of subscriptions that a change of this object may concern. An empty name: of a new object. */
  watching(namespace: string, name: string): number;
  /**
   * Calls `listener` from now on with every written or deleted object, as part of the change: before anybody who waits
   * for its revision continues. The listener must not throw.
   */
  listen(listener: ChangeListener): void;
  /**
   * Drops the events up to `revision`: watches from earlier revisions read the history of the store and end with 410 when
   * it is compacted. Resolves once the cache has reached `revision`, at the latest after `timeoutMs`.
   */
  forget(revision: number, timeoutMs: number): Promise<void>;
  /** Ends every subscription without an error once its buffered events are read. */
  endSubscriptions(): void;
  /** Stops the list-watch. Every subscription ends without an error once its buffered events are read. */
  close(): void;
}

/** Receives a written object, or the last state of a deleted one. */
export type ChangeListener = (object: CachedObject, deleted: boolean) => void;

export interface Snapshot {
  readonly revision: number;
  get(key: string): CachedObject | undefined;
  /** Returns the objects whose key begins with `prefix` and is greater than `after`, in key order, read lazily. */
  range(prefix: string, after?: string): IterableIterator<CachedObject>;
  /**
   * Returns the objects of that range which the requirements may select, in key order, from an index; all others do not
   * match. Undefined: no index helps.
   */
  select(requirements: readonly LabelRequirement[], prefix: string, after?: string): Iterable<CachedObject> | undefined;
  /** Returns the number of objects in that range. Takes logarithmic time. */
  count(prefix: string, after?: string): number;
}

export interface SubscribeOptions {
  /** Selects events after this revision, which may be in the future. */
  readonly after: number;
  /**
   * Selects objects of this namespace, of this name and with this value of a field; an empty namespace or name selects all.
   * Subscribers are indexed by these (by the field only when it is one of `indexedFields`).
   */
  readonly namespace?: string;
  readonly name?: string;
  readonly field?: { readonly path: string; readonly value: string } | undefined;
  /** The remaining conditions of the selection; absent: none. Must not throw. */
  readonly matches?: ((object: CachedObject) => boolean) | undefined;
  /**
   * Whether `matches` is expensive. The subscriber then looks for its events in separate turns, after writes, and only in
   * the event window: it ends with 410 when it starts before the window or falls behind it.
   */
  readonly costly?: boolean;
  /** The turns in which past events are searched; by default those of the server. */
  readonly turns?: Turns;
  /**
   * The interval of bookmarks (ms), rounded up so that each falls on a whole second; absent: no bookmarks. A bookmark has
   * the current revision of the store, even when the resource last changed long ago.
   */
  readonly bookmarkMs?: number | undefined;
  /**
   * Maximum size of buffered live events (bytes). The iteration of a slower subscriber ends, and it can subscribe again
   * after its `revision`. The first event, and a commit while `next` is pending, may exceed the maximum.
   */
  readonly bufferBytes: number;
}

/**
 * A watch event. An object that starts to match the selection is ADDED, one that no longer matches is DELETED, both with the
 * revision of the change. All watches of a change share the event and its `frame`.
 */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly revision: number;
  /** Undefined for a bookmark. */
  readonly object: CachedObject | undefined;
  /** `{"type":…,"object":…}` and a line feed, encoded once if the event is shared; empty for a bookmark, which needs the kind. */
  readonly frame: ByteString;
}

export interface Subscription extends AsyncIterableIterator<WatchEvent[]> {
  /**
   * `next` has returned every matching event up to this revision, which is at least `after`. A bookmark may have this
   * revision once those events have been written.
   */
  readonly revision: number;
  /**
   * Returns the next events, at least one, in order. Does not split the events of a commit. Ends after `close`. Must not
   * be called while another call is pending.
   */
  next(): Promise<IteratorResult<WatchEvent[]>>;
  /** Ends the subscription and drops its buffered events. */
  close(): void;
}
