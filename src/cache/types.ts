import type { ByteString, Clock, GroupResource, StatusError, Turns } from '../meta/index.ts';
import type { Entry, Store } from '../store/index.ts';

/**
 * A cached object: its bytes as they are sent, and beside them only what filters need. Immutable except for `cells`,
 * `size` and `converted`, so that snapshots and events share it.
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
  /** Values of the selectable fields of the kind beyond name and namespace, by path; a missing value is ''. */
  readonly fields: { readonly [path: string]: string };
  /**
   * The cells of its table row, and the columns that they are for. They are kept here and not in a WeakMap, because the
   * garbage collector pauses for long on one with a hundred thousand keys.
   */
  cells?: ByteString | undefined;
  cellsOf?: object | undefined;
  /** Its size (bytes) in another encoding, and which one. */
  size?: number | undefined;
  sizeOf?: object | undefined;
  /** The object in the version of its resource, of a custom resource that a webhook converts; kept here as the cells are. */
  converted?: CachedObject | undefined;
}

export interface CacheOptions {
  readonly store: Store;
  /** What is cached, for messages. */
  readonly id: GroupResource;
  /**
   * The key prefix of the resource, which ends with a slash and is followed by `<namespace>/<name>` or `<name>`.
   */
  readonly prefix: string;
  readonly clock: Clock;
  /** Decodes a stored value into a cached object; never throws, whatever the bytes. */
  readonly describe: (entry: Entry) => CachedObject;
  /** The final state of a deleted object: `last` with the revision of its deletion. */
  readonly describeDeleted: (last: CachedObject, revision: number) => CachedObject;
  /** Selectable fields by whose value watches are indexed, such as `spec.nodeName`. */
  readonly indexedFields: readonly string[];
  /** Is told how many objects more have been read while the cache is loaded. */
  readonly onRead?: ((objects: number) => void) | undefined;
  /** Is told once that stored data is damaged; the cache tries to read it again. Its cause is that of the store. */
  readonly onDamage?: ((error: StatusError) => void) | undefined;
  /** How long events are kept in the window (ms), unless they exceed `windowBytes`. */
  readonly windowMs: number;
  /** The most bytes of replaced and deleted objects that the window keeps alive, plus 128 for each event. */
  readonly windowBytes: number;
}

/** What a cache has counted since it was made, and what it holds now. */
export interface CacheCounts {
  /** How often the whole state was loaded from the store. */
  readonly loads: number;
  /** Changes received from the store. */
  readonly received: number;
  /** Events from before their start that subscribers were given. */
  readonly replayed: number;
  /** Subscriptions that ended because the subscriber was too slow. */
  readonly cutOff: number;
  /** Open subscriptions. */
  readonly subscribers: number;
  /** Changes in the event window, and the bytes counted against `windowBytes`. */
  readonly windowChanges: number;
  readonly windowBytes: number;
}

export interface WatchCache {
  /**
   * Starts the list-watch; resolves once the cache is loaded. Retries when the store fails. Rejects with a 503 StatusError
   * when the cache or the store is closed first, and with `damage`.
   */
  ready(): Promise<void>;
  /** The same for a request, which waits 34 seconds at most and then rejects with a 504 StatusError. */
  loaded(): Promise<void>;
  /** The last revision applied; 0 before the cache is loaded. */
  readonly revision: number;
  /** The 500 StatusError of all who wait for the cache, while it cannot go on because stored data is damaged. */
  readonly damage: StatusError | undefined;
  /** Why nobody needs to wait for the cache: 503 once it is closed, or `damage`. */
  readonly failure: StatusError | undefined;
  /** The revision after which the event window begins; older events are read from the store's history. */
  readonly oldest: number;
  readonly counts: CacheCounts;
  /** Resolves to true once the cache has reached `revision`, to false after `timeoutMs` and when there is a `failure`. */
  reach(revision: number, timeoutMs: number): Promise<boolean>;
  /** The object with this key at `revision`. */
  get(key: string): CachedObject | undefined;
  /** The current state, immutable and the same until the next change. Takes constant time. */
  snapshot(): Snapshot;
  /**
   * All matching events after `options.after`, then live ones. The iteration ends with a 410 StatusError when the history
   * that it needs is compacted or damaged, and without an error when the subscriber is too slow.
   */
  subscribe(options: SubscribeOptions): Subscription;
  /**
   * From now on `listener` is called with every object that is written or deleted, within the change: before anybody who
   * waits for its revision goes on. It must not throw.
   */
  listen(listener: ChangeListener): void;
  /**
   * Forgets the events up to `revision`: watches from earlier ones read the history of the store, and end with 410 when that
   * is compacted. Resolves once the cache has reached it, at the latest after `timeoutMs`.
   */
  forget(revision: number, timeoutMs: number): Promise<void>;
  /** Ends every subscription without an error once its buffered events are taken. */
  endSubscriptions(): void;
  /** Stops the list-watch. Every subscription ends without an error once its buffered events are taken. */
  close(): void;
}

/** `object` is the last state of a deleted object. */
export type ChangeListener = (object: CachedObject, deleted: boolean) => void;

export interface Snapshot {
  readonly revision: number;
  get(key: string): CachedObject | undefined;
  /** Objects whose key begins with `prefix` and is greater than `after`, in key order, read lazily. */
  range(prefix: string, after?: string): IterableIterator<CachedObject>;
  /** The number of objects in that range. Takes logarithmic time. */
  count(prefix: string, after?: string): number;
}

export interface SubscribeOptions {
  /** Only events after this revision, which may lie in the future. */
  readonly after: number;
  /**
   * Only objects of this namespace, of this name, with this value of a field; an empty namespace or name selects all.
   * Subscribers are indexed by them (by the field when it is one of `indexedFields`).
   */
  readonly namespace?: string;
  readonly name?: string;
  readonly field?: { readonly path: string; readonly value: string };
  /** The rest of the selection, in addition to the above; absent: everything. Never throws. */
  readonly matches?: (object: CachedObject) => boolean;
  /**
   * `matches` takes long. The subscriber looks for its events in its own turns, behind the writes, and only in the event
   * window: it ends with 410 when it is further behind, or begins there.
   */
  readonly costly?: boolean;
  /** The turns in which earlier events are looked for. Absent: those of the server. */
  readonly turns?: Turns;
  /**
   * The interval of bookmarks (ms), rounded up so that each falls on a whole second; none when absent. A bookmark has the
   * revision of the store, also when the last change of the resource was long ago.
   */
  readonly bookmarkMs?: number;
  /**
   * The most bytes of live events that are buffered: the iteration of a slower subscriber ends, and it can subscribe
   * again after its `revision`. The first event, and a commit while `next` is pending, may exceed it.
   */
  readonly bufferBytes: number;
}

/**
 * A watch event. An object that begins to match the selection is ADDED, one that no longer matches is DELETED, with the
 * revision of the change. The event and its `frame` are shared by all watches of a change.
 */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly revision: number;
  /** Undefined for a bookmark. */
  readonly object: CachedObject | undefined;
  /** `{"type":…,"object":…}` and a line feed, encoded on first use; empty for a bookmark, which needs the kind. */
  readonly frame: ByteString;
}

export interface Subscription extends AsyncIterableIterator<WatchEvent[]> {
  /**
   * Every matching event up to this revision has been returned by `next`; at least `after`. A bookmark may have this
   * revision once those events have been written.
   */
  readonly revision: number;
  /**
   * The next events, at least one, in order; those of a commit are not split. Ends after `close`. One call at a time.
   */
  next(): Promise<IteratorResult<WatchEvent[]>>;
  /** Ends the subscription and drops its buffered events. */
  close(): void;
}
