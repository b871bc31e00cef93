import type { Entry } from './store.ts';

// Copies of a store need more than its contract offers: leases, and revisions that the caller sets.

export interface LeasedEntry extends Entry {
  /** Milliseconds since 1970 at which the key is deleted; undefined without a lease. */
  readonly expires: number | undefined;
}

/** The entries of a store at one revision, unaffected by other writers. */
export interface StoreSnapshot {
  readonly revision: number;
  /** The approximate number of entries. */
  readonly size: number;
  /** Returns the entries in key order, in pages of a bounded size. Fails as `compacted` when the revision is compacted. */
  pages(): AsyncIterable<readonly LeasedEntry[]>;
  close(): Promise<void>;
}

/** The progress of an import, written in the commit of the entries that it counts. */
export interface ImportState {
  /** The revision of the snapshot. */
  readonly revision: number;
  /** The number of written entries. */
  readonly entries: number;
  /** The key of the last written entry; empty at the beginning. */
  readonly after: string;
  /** The digest of the entries of the snapshot up to that key: see `EntryDigest`. */
  readonly digest: string;
}

/**
 * A store that is being filled with the entries of a snapshot, and cannot be opened as a store before it is finished. A
 * new import resumes an interrupted one.
 */
export interface StoreImport {
  /** Whether entries retain their revisions, and entries with a lease are deleted only after the store is opened. */
  readonly exact: boolean;
  /** The progress of an interrupted import; undefined for an empty store. */
  readonly state: ImportState | undefined;
  /** Maximum number of entries of one write, and of bytes of their keys and values; a single entry may exceed them. */
  readonly most: { readonly entries: number; readonly bytes: number };
  /** Appends entries and updates the progress, in one commit. */
  write(entries: readonly LeasedEntry[], state: ImportState): Promise<void>;
  /** Returns the written entries as the pages of a snapshot. */
  pages(): AsyncIterable<readonly LeasedEntry[]>;
  /** Completes the import. The next revision of the store is after `revision`, and it has no earlier history. */
  finish(revision: number): Promise<void>;
  /** Removes all written entries. */
  clear(): Promise<void>;
  close(): Promise<void>;
}
