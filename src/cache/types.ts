import type { ByteString, Clock } from '../meta/index.ts';
import type { Entry, Store } from '../store/index.ts';

/**
 * One object as the cache holds it: its bytes as they go over the wire, and beside them only what filters need.
 * Nothing but its `cells` and `size` changes after it was made, so that snapshots and events may share it.
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
   * What a table has shown of it, and by which columns. They stay here and not in a map beside the objects, since the
   * collector holds everybody up for one with a hundred thousand weak keys.
   */
  cells?: ByteString | undefined;
  cellsOf?: object | undefined;
  /** How long it is in another form (bytes), and in which. */
  size?: number | undefined;
  sizeOf?: object | undefined;
}

export interface CacheOptions {
  readonly store: Store;
  /**
   * All keys of the resource, and no others, begin with it; it ends with a slash. Below it: `<namespace>/<name>` or
   * `<name>`.
   */
  readonly prefix: string;
  readonly clock: Clock;
  /** Makes the cached form of a stored value; never throws, whatever the bytes. */
  readonly describe: (entry: Entry) => CachedObject;
  /** The cached form of an object whose last state was `last` and that was deleted at `revision`: with that version. */
  readonly describeDeleted: (last: CachedObject, revision: number) => CachedObject;
  /** Selectable fields by whose value watchers are found, such as `spec.nodeName`. */
  readonly indexedFields: readonly string[];
  /** How long events are kept in memory at the least (ms), unless they exceed `windowBytes`. */
  readonly windowMs: number;
  /** Bytes of the objects that only kept events hold (they were replaced or deleted), with 128 for each event. */
  readonly windowBytes: number;
}

export interface WatchCache {
  /**
   * Loads the resource and follows the store from then on; the same promise for every caller. Tries again by itself
   * when the store fails. Rejects with a 503 StatusError only when the cache or the store is closed before.
   */
  ready(): Promise<void>;
  /** The same for a request, which waits 34 seconds at the most: then it rejects with a 504 StatusError. */
  loaded(): Promise<void>;
  /** Everything up to this revision is in the cache; 0 before it is ready. */
  readonly revision: number;
  /** The earliest revision after which events are in memory: older ones are read from the store's history. */
  readonly oldest: number;
  /** Resolves to true as soon as the cache has everything up to `revision`, to false after `timeoutMs`. */
  reach(revision: number, timeoutMs: number): Promise<boolean>;
  /** The present state, immutable, the same until the next change; takes constant time. */
  snapshot(): Snapshot;
  /**
   * All matching events after `options.after`, then those to come. The iteration ends with a 410 StatusError when the
   * store has given up history from which it would have to read, and without an error when the subscriber is too slow.
   */
  subscribe(options: SubscribeOptions): Subscription;
  /** Follows the store no more; every subscription ends once what has piled up is taken, without an error. */
  close(): void;
}

export interface Snapshot {
  readonly revision: number;
  get(key: string): CachedObject | undefined;
  /** Objects whose key begins with `prefix`, in key order, after `after` when given. Read as they are asked for. */
  range(prefix: string, after?: string): IterableIterator<CachedObject>;
  /** How many objects `range` would give; takes logarithmic time. */
  count(prefix: string, after?: string): number;
}

export interface SubscribeOptions {
  /** Events with a revision above this one, which may lie in the future. */
  readonly after: number;
  /**
   * Only objects of this namespace / of this name / with this value of a field; an empty namespace or name is the same
   * as none. Subscribers are found by them, so that a change looks only at those it may concern (by the field when it
   * is indexed).
   */
  readonly namespace?: string;
  readonly name?: string;
  readonly field?: { readonly path: string; readonly value: string };
  /** The rest of the selection, on top of the above; absent: everything. Never throws. */
  readonly matches?: (object: CachedObject) => boolean;
  /**
   * Milliseconds between bookmarks, rounded up so that each falls on a whole second; none when absent. A bookmark tells
   * how far the store is, also when the last change of the resource was long ago.
   */
  readonly bookmarkMs?: number;
  /**
   * A subscriber that lets more than this pile up is cut off: its iteration then ends, and it may subscribe again after
   * its `revision`. What comes first, and a commit that comes while it waits, never cut it off.
   */
  readonly bufferBytes: number;
}

/**
 * One thing that a watcher sees. An object that enters the selection is ADDED, one that leaves it DELETED (with the
 * revision of the change). Shared by all watchers of a change: so is `frame`.
 */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly revision: number;
  /** Undefined for a bookmark. */
  readonly object: CachedObject | undefined;
  /** `{"type":…,"object":…}` and a line feed, encoded on first use; empty for a bookmark (the kind writes that). */
  readonly frame: ByteString;
}

export interface Subscription extends AsyncIterableIterator<WatchEvent[]> {
  /**
   * Everything up to it that concerns the subscriber has been given out by `next`; at least `after`. What a bookmark
   * may say once the events given out have been written.
   */
  readonly revision: number;
  /**
   * Waits for the next events, at least one, in order, those of a commit together. Ends after `close`. One call at a
   * time.
   */
  next(): Promise<IteratorResult<WatchEvent[]>>;
  /** Drops what has piled up. */
  close(): void;
}
