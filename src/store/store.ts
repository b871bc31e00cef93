/**
 * The contract of the backing store: a flat, ordered key space with many versions, the same one that etcd offers.
 *
 * - Keys are text, ordered by their UTF-8 bytes; values are bytes. A key is at most 16 KiB, a value at most 2 MiB.
 * - A revision is a whole number above 0 that grows by one with every commit that changes something and never comes
 *   back, not even after a restart. An empty store is at revision 1.
 * - A commit is all or nothing, takes one revision, and touches each key at most once. Once it is answered it is as
 *   durable as the driver promises. It has at most 128 guards and 128 writes.
 * - Bytes that are handed in may be changed as soon as the call has returned. Those that are handed out may be shared
 *   with others and must never be changed.
 * - Reads at an earlier revision see exactly what was there, until `compact` gives that revision up.
 * - A watch delivers every change after its start exactly once, in order, one batch for each commit.
 *
 * Every failure is a `StoreError`; nothing else is thrown.
 */
export interface Store {
  /** The latest revision whose commit has been answered. Linearizable: at least that of every commit answered before the call. */
  revision(): Promise<number>;
  /** The value of one key, now or at `revision`. */
  get(key: string, revision?: number): Promise<GetResult>;
  /** The entries of a range in key order, now or at `revision`. */
  list(range: ListRange): Promise<ListResult>;
  /**
   * Writes `writes` if every one of `guards` holds, else writes nothing.
   * A refused commit tells what the guarded keys held instead. One that changes nothing (no write at all, or only
   * deletions of absent keys) takes no revision and answers the present one. It fails while the store cannot be written:
   * from a write that failed for the store's own reasons until one has succeeded, which it tries itself.
   */
  commit(guards: readonly Guard[], writes: readonly Write[]): Promise<CommitResult>;
  /**
   * Delivers to `sink` every change below `prefix` after revision `after`. Calls the sink only after `watch` has
   * returned, never while a call to it is running, and never after `error` or `close`. Whatever is wrong with the
   * arguments reaches the sink as its one call to `error`.
   */
  watch(prefix: string, after: number, sink: WatchSink): Watch;
  /**
   * Gives up all history before `revision`: reads at an earlier one and watches after an earlier one then fail as
   * `compacted`. Does nothing when that has been given up already; fails as `future` when it has not been reached.
   */
  compact(revision: number): Promise<void>;
  /** Ends watches with `closed`, finishes commits under way, releases files. Idempotent; later calls fail as `closed`. */
  close(): Promise<void>;
}

export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  /** The revision of the commit that wrote this value. */
  readonly revision: number;
}

export interface GetResult {
  readonly entry: Entry | undefined;
  /** The revision that the answer shows: the one asked for, or the latest. */
  readonly revision: number;
}

export interface ListRange {
  readonly prefix: string;
  /** Start after this key, which must lie below the prefix. */
  readonly after?: string;
  readonly revision?: number;
  /** At most this many entries, none when 0; unlimited when absent. */
  readonly limit?: number;
  /** Tell how many entries follow, which costs a look at each of them. */
  readonly count?: boolean;
}

export interface ListResult {
  readonly entries: readonly Entry[];
  readonly revision: number;
  /** Whether entries of the range follow the returned ones. */
  readonly more: boolean;
  /** How many; undefined unless that was asked for. */
  readonly remaining: number | undefined;
}

/** Holds when the key was last written at `revision`; 0 means that the key is absent. */
export interface Guard {
  readonly key: string;
  readonly revision: number;
}

export interface Write {
  readonly key: string;
  /** Absent: delete the key. Deleting an absent key changes nothing but is no error. */
  readonly value?: Uint8Array;
  /** Whole seconds above 0 until the key is deleted by a commit of the store's own, unless written again; unlimited when absent. */
  readonly ttl?: number;
}

export type CommitResult =
  | { readonly ok: true; readonly revision: number }
  | {
      readonly ok: false;
      readonly revision: number;
      /** What each guarded key holds now, in the order of the guards. */
      readonly found: readonly (Entry | undefined)[];
    };

export interface Change {
  readonly key: string;
  /** What the key holds after the change; undefined when it was deleted. */
  readonly entry: Entry | undefined;
  /** What it held before; undefined when it was absent. */
  readonly previous: Entry | undefined;
}

/** Neither call may throw. */
export interface WatchSink {
  /** All changes of one commit, or none: then only to say that everything up to `revision` has been delivered. */
  batch(revision: number, changes: readonly Change[]): void;
  /** The watch has ended and delivers nothing more. */
  error(error: StoreError): void;
}

export interface Watch {
  /** Asks for an empty batch as soon as everything up to the store's present revision has been delivered. */
  progress(): void;
  /** Ends the watch without a call to `error`. Idempotent. */
  close(): void;
}

export type StoreErrorCode =
  /** The revision lies before the last compaction. */
  | 'compacted'
  /** The revision has not been reached yet. */
  | 'future'
  /** A key or value is too long, a key is written twice, a limit is not a whole number… */
  | 'invalid'
  /** The store is closed. */
  | 'closed'
  /** The disk is full, the file is read-only, foreign, of another format, or in use by another process; the network fails. */
  | 'unavailable'
  /** What has been stored cannot be read: the file has lost its end, or a page of it is not what was written. */
  | 'damaged'
  /** The outcome of a commit is not known. */
  | 'uncertain';

export class StoreError extends Error {
  readonly code: StoreErrorCode;
  /** For `compacted`: the first revision that is still kept. For `future`: the latest there is. */
  readonly revision: number | undefined;

  constructor(code: StoreErrorCode, message: string, options: { revision?: number; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'StoreError';
    this.code = code;
    this.revision = options.revision;
  }
}
