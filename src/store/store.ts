/**
 * The contract of the backing store: a flat, ordered key space with multi-version concurrency control, as in etcd.
 *
 * - Keys are text, ordered by their UTF-8 bytes; values are bytes. A key is at most 16 KiB, a value at most
 *   `maxValueBytes`.
 * - A revision is a positive integer. Every commit that changes something increments it, and it is never reused, also
 *   after a restart. An empty store is at revision 1.
 * - A commit is atomic, takes one revision, and writes each key at most once. It is answered once it is as durable as the
 *   driver promises. It has at most 128 compares and 128 writes.
 * - Other processes may use the same store. Revision, reads and compares are linearizable over all of them.
 * - The caller may change bytes passed in as soon as the call has returned. Bytes passed out may be shared and must not
 *   be changed.
 * - Reads at an earlier revision see exactly its state, until that revision is compacted.
 * - A watch delivers every change after its start exactly once, in order, one batch per commit. It may lag behind by any
 *   time: a commit may be answered long before a watch delivers it, or long after.
 *
 * Every failure is a `StoreError`; nothing else is thrown.
 */
export interface Store {
  /** The largest value that a commit can write (bytes). */
  readonly maxValueBytes: number;
  /** Whether it encrypts values, so that entries may be stale. */
  readonly encrypts?: boolean;
  /** The latest revision: at least that of every commit answered before the call. */
  revision(): Promise<number>;
  /** The first revision that can be read. */
  oldest(): Promise<number>;
  /** The bytes that the database takes on disk, of one member where there are several; undefined in memory. */
  size(): Promise<number | undefined>;
  /** The value of one key, at the latest revision or at `revision`. */
  get(key: string, revision?: number): Promise<GetResult>;
  /** A page of the entries of a range in key order, at the latest revision or at `revision`. */
  list(range: ListRange): Promise<ListResult>;
  /**
   * Writes `writes` if every one of `compares` holds, else nothing: the result then has the current entries of the
   * compared keys. A commit that changes nothing (no writes, or only deletions of absent keys) takes no revision and
   * returns the latest one. Fails as `invalid` also when the writes together are larger than the driver can commit at
   * once. Every commit, also one without writes, fails while the store is not writable: from a failed write until a later
   * one, which the store tries itself, has succeeded. A store that is `full` may still carry out deletions.
   */
  commit(compares: readonly Compare[], writes: readonly Write[]): Promise<CommitResult>;
  /**
   * Delivers to `sink` every change below `prefix` after revision `after`. The sink is called only after `watch` has
   * returned, never re-entrantly, and never after `error` or `close`. Invalid arguments end the watch with `error`, as
   * do `after` beyond the latest revision (`future`) and one before the oldest (`compacted`).
   */
  watch(prefix: string, after: number, sink: WatchSink, options?: WatchOptions): Watch;
  /**
   * Discards the history before `revision`: reads at an earlier revision and watches after an earlier one then fail as
   * `compacted`. Does nothing when that is compacted already; fails as `future` when `revision` has not been reached.
   */
  compact(revision: number): Promise<void>;
  /** Ends watches as `closed`, finishes the commits in flight, releases files. Idempotent; later calls fail as `closed`. */
  close(): Promise<void>;
}

export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  /** The revision of the commit that wrote this value. */
  readonly revision: number;
  /** Whether the value would be encrypted otherwise now: writing it again changes what is stored. */
  readonly stale?: boolean;
}

export interface GetResult {
  readonly entry: Entry | undefined;
  /** The revision that was read: the requested one, or the latest. */
  readonly revision: number;
}

export interface ListRange {
  readonly prefix: string;
  /** Only keys greater than this one, which must begin with the prefix. */
  readonly after?: string;
  readonly revision?: number;
  /** The most entries of the page, which may end earlier: see {@link ListResult}. */
  readonly limit?: number;
  /** Whether to count the entries that follow, which reads each of them. */
  readonly count?: boolean;
}

/** The size of the values (bytes) at which a page of a list ends. */
export const pageBytes = 8 * 1024 * 1024;

export interface ListResult {
  /**
   * At least one entry when there is any and the limit is not 0. A page ends at the latest with the entry with which its
   * values reach {@link pageBytes}.
   */
  readonly entries: readonly Entry[];
  readonly revision: number;
  /** Whether more entries of the range follow the returned ones. */
  readonly more: boolean;
  /** How many; undefined without `count`. */
  readonly remaining: number | undefined;
}

/**
 * A precondition of a commit: the key was last written at `revision`; 0 means that it is absent. With `below`, the key is a
 * prefix: no key that begins with it has been written after `revision`, deletions aside.
 */
export interface Compare {
  readonly key: string;
  readonly revision: number;
  readonly below?: boolean;
}

export interface Write {
  readonly key: string;
  /** Absent: delete the key. Deleting an absent key is no change and no error. */
  readonly value?: Uint8Array;
  /**
   * Lease: the store deletes the key, unless it is written again, no earlier than this many whole seconds after the
   * commit. Drivers may group expiries, several keys in one commit: not later than by max(1 s, 5 % of the time to live),
   * unless the leases of the driver have a larger minimum.
   */
  readonly ttl?: number;
}

export type CommitResult =
  | { readonly ok: true; readonly revision: number }
  | {
      readonly ok: false;
      readonly revision: number;
      /** The current entry of each compared key, in the order of the compares; undefined for a prefix. */
      readonly found: readonly (Entry | undefined)[];
    };

export interface Change {
  readonly key: string;
  /** After the change; undefined when the key was deleted. */
  readonly entry: Entry | undefined;
  /** Before the change; undefined when the key was absent, and in watches without `previous`. */
  readonly previous: Entry | undefined;
}

export interface WatchOptions {
  /** Whether changes carry the entry before them. */
  readonly previous?: boolean;
}

/** Neither call may throw. */
export interface WatchSink {
  /**
   * All changes of one commit, or none: a progress notification that every change up to `revision` was delivered. It may
   * come without a request, and its revision may be earlier than one that the caller knows from elsewhere.
   */
  batch(revision: number, changes: readonly Change[]): void;
  /** The watch has ended and delivers nothing more. */
  error(error: StoreError): void;
}

export interface Watch {
  /**
   * Requests a progress notification: an empty batch once every change up to the current revision was delivered. Every
   * request is followed by one such notification, which several may share, or by the end of the watch.
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
  /** A key, a value or a commit is too large, a key is written twice, a limit is not a whole number… */
  | 'invalid'
  /** The store is closed. */
  | 'closed'
  /** No space is left, on the disk or below the quota of etcd. The message is for clients too. Reads go on. */
  | 'full'
  /** The file is read-only, foreign, of another format, or in use by another process; the network fails. */
  | 'unavailable'
  /** Stored data cannot be read: the file is truncated, or one of its pages is corrupt. */
  | 'damaged'
  /** It is unknown whether the commit took place. */
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
