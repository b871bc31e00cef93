/**
 * The contract of the backing store: a flat, ordered key space with multi-version concurrency control, as in etcd.
 *
 * - Keys are text, ordered by their UTF-8 bytes; values are bytes. A key is at most 16 KiB, a value at most
 *   `maxValueBytes`.
 * - A revision is a positive integer. Every commit that changes something increments it. Revisions are never reused, even
 *   after a restart. An empty store has revision 1.
 * - A commit is atomic, takes one revision and writes each key at most once. It resolves once it is as durable as the
 *   driver promises. It has at most 128 compares and 128 writes.
 * - Other processes may use the same store. Revisions, reads and compares are linearizable across all of them.
 * - The caller may change its bytes as soon as a call has returned. Returned bytes may be shared and must not be
 *   changed.
 * - A read at an earlier revision returns exactly the state of that revision until it is compacted.
 * - A watch delivers every change after its start exactly once, in order, one batch per commit. It may lag behind
 *   indefinitely: a commit may resolve long before or long after a watch delivers it.
 *
 * Every failure is a `StoreError`.
 */
export interface Store {
  /** Maximum size of a value (bytes). */
  readonly maxValueBytes: number;
  /** Whether the store encrypts values. Its entries may then be `stale`. */
  readonly encrypts?: boolean;
  /** Returns the latest revision: at least that of every commit that resolved before the call. */
  revision(): Promise<number>;
  /** Returns the first revision that can be read. */
  oldest(): Promise<number>;
  /** Returns the size of the database on disk (bytes), of one member where there are several; undefined in memory. */
  size(): Promise<number | undefined>;
  /** Returns the entry of a key at the latest revision or at `revision`. */
  get(key: string, revision?: number): Promise<GetResult>;
  /** Returns a page of the entries of a range in key order, at the latest revision or at `revision`. */
  list(range: ListRange): Promise<ListResult>;
  /**
   * Applies `writes` if all `compares` hold. Otherwise writes nothing and returns the current entries of the compared keys.
   * A commit that changes nothing (no writes, or only deletions of absent keys) takes no revision and returns the latest
   * one. Fails as `invalid` when the writes exceed the size of one commit of the driver. Every commit, even one without
   * writes, fails while the store is not writable: from a failed write until the store's own next attempt succeeds. A store
   * that is `full` may still carry out deletions.
   */
  commit(compares: readonly Compare[], writes: readonly Write[]): Promise<CommitResult>;
  /**
   * Delivers to `sink` every change below `prefix` after revision `after`. The sink is called only after `watch` has
   * returned, never re-entrantly, and never after `error` or `close`. The watch ends with `error` when an argument is
   * invalid, when `after` exceeds the latest revision (`future`) or when it is below the oldest (`compacted`).
   */
  watch(prefix: string, after: number, sink: WatchSink, options?: WatchOptions): Watch;
  /**
   * Discards the history before `revision`: reads and watches that need it fail as `compacted` from then on. Does nothing
   * when that history is already compacted. Fails as `future` when the store has not reached `revision`.
   */
  compact(revision: number): Promise<void>;
  /** Ends watches as `closed`, completes commits in flight and releases files. Idempotent; later calls fail as `closed`. */
  close(): Promise<void>;
}

export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  /** The revision of the commit that wrote this value. */
  readonly revision: number;
  /** Whether the current configuration would encrypt the value differently: rewriting it changes the stored bytes. */
  readonly stale?: boolean;
}

export interface GetResult {
  readonly entry: Entry | undefined;
  /** The revision of the read: the requested one, or the latest. */
  readonly revision: number;
}

export interface ListRange {
  readonly prefix: string;
  /** Returns only keys after this one, which must begin with the prefix. */
  readonly after?: string;
  readonly revision?: number;
  /** Maximum number of entries of the page, which may end earlier: see {@link ListResult}. */
  readonly limit?: number;
  /** Whether to count the remaining entries, which reads each of them. */
  readonly count?: boolean;
}

/** A page of a list ends when its values reach this size (bytes). */
export const pageBytes = 8 * 1024 * 1024;

export interface ListResult {
  /**
   * Contains at least one entry unless the range is empty or the limit is 0. A page ends at the latest with the entry with
   * which its values reach {@link pageBytes}.
   */
  readonly entries: readonly Entry[];
  readonly revision: number;
  /** Whether the range has more entries after this page. */
  readonly more: boolean;
  /** The number of these entries; undefined without `count`. */
  readonly remaining: number | undefined;
}

/**
 * A precondition of a commit: the key was last written at `revision`, where 0 means that the key is absent. With `below`, the
 * key is a prefix: no key below it has been written after `revision`; deletions do not count.
 */
export interface Compare {
  readonly key: string;
  readonly revision: number;
  readonly below?: boolean;
}

export interface Write {
  readonly key: string;
  /** The new value. Absent: deletes the key; deleting an absent key is neither a change nor an error. */
  readonly value?: Uint8Array;
  /**
   * Lease (whole seconds): the store deletes the key this long after the commit, unless the key is written again. Never
   * early, and at most max(1 s, 5 % of the time to live) late, since drivers may expire several keys in one commit; later
   * only when the driver has a larger minimum for leases.
   */
  readonly ttl?: number;
}

export type CommitResult =
  | { readonly ok: true; readonly revision: number }
  | {
      readonly ok: false;
      readonly revision: number;
      /** The current entries of the compared keys, in the order of the compares; undefined for a prefix. */
      readonly found: readonly (Entry | undefined)[];
    };

export interface Change {
  readonly key: string;
  /** The entry after the change; undefined when the key was deleted. */
  readonly entry: Entry | undefined;
  /** The entry before the change; undefined when the key was absent, and in watches without `previous`. */
  readonly previous: Entry | undefined;
}

export interface WatchOptions {
  /** Whether changes contain the previous entry. */
  readonly previous?: boolean;
}

/** Receives the changes of a watch. Implementations must not throw. */
export interface WatchSink {
  /**
   * All changes of one commit. Without changes a progress notification: every change up to `revision` has been delivered.
   * Notifications may come unrequested, and their revision may be older than one the caller already knows.
   */
  batch(revision: number, changes: readonly Change[]): void;
  /** The watch has ended. No further calls follow. */
  error(error: StoreError): void;
}

export interface Watch {
  /**
   * Requests a progress notification: an empty batch once every change up to the current revision has been delivered. Each
   * request is followed by a notification, which several requests may share, or by the end of the watch.
   */
  progress(): void;
  /** Ends the watch without a call to `error`. Idempotent. */
  close(): void;
}

export type StoreErrorCode =
  /** The revision has been compacted. */
  | 'compacted'
  /** The store has not reached the revision. */
  | 'future'
  /** A key, a value or a commit is too large, a key is written twice, a limit is not a whole number, … */
  | 'invalid'
  /** The store is closed. */
  | 'closed'
  /** No space is left on the disk or below the quota of etcd. The message is also meant for clients. Reads still work. */
  | 'full'
  /** The file is read-only, foreign, of another format or in use by another process, or the network fails. */
  | 'unavailable'
  /** Stored data cannot be read: the file is truncated or a page is corrupt. */
  | 'damaged'
  /** Whether the commit took place is unknown. */
  | 'uncertain';

export class StoreError extends Error {
  readonly code: StoreErrorCode;
  /** For `compacted`: the first revision that can be read. For `future`: the latest revision. */
  readonly revision: number | undefined;

  constructor(code: StoreErrorCode, message: string, options: { revision?: number; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'StoreError';
    this.code = code;
    this.revision = options.revision;
  }
}
