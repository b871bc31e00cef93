import type { Entry } from './store.ts';

// What a copy of a store needs, and the contract of the store does not give: leases, and revisions that are set.

export interface LeasedEntry extends Entry {
  /** Milliseconds since 1970 at which the key is deleted; undefined without a lease. */
  readonly expires: number | undefined;
}

/** The entries of a store at one revision, whatever others write meanwhile. */
export interface StoreSnapshot {
  readonly revision: number;
  /** About how many entries there are. */
  readonly size: number;
  /** The entries in key order, in pages of a bounded size. Fails as `compacted` when the revision is no longer kept. */
  pages(): AsyncIterable<readonly LeasedEntry[]>;
  close(): Promise<void>;
}

/** How far an import has come. It is written in the commit of the entries that it counts. */
export interface ImportState {
  /** The revision of the snapshot. */
  readonly revision: number;
  /** The number of entries that have been written. */
  readonly entries: number;
  /** The key of the last one; empty at the beginning. */
  readonly after: string;
  /** Of the entries of the snapshot up to that key: see `EntryDigest`. */
  readonly digest: string;
}

/**
 * A store that is filled with the entries of a snapshot, and cannot be opened as a store before that is finished. Of an
 * import that was interrupted, the next one goes on.
 */
export interface StoreImport {
  /** Whether entries keep their revisions, and those with a lease stay until the store is opened. */
  readonly exact: boolean;
  /** Undefined: the store is empty. */
  readonly state: ImportState | undefined;
  /** The most entries of one write, and the most bytes of their keys and values, unless it has a single entry. */
  readonly most: { readonly entries: number; readonly bytes: number };
  /** Writes entries that follow those written before, and the state with them, in one commit. */
  write(entries: readonly LeasedEntry[], state: ImportState): Promise<void>;
  /** What has been written, as the pages of a snapshot. */
  pages(): AsyncIterable<readonly LeasedEntry[]>;
  /** Makes it a store, whose next revision is after `revision` and which has no history before that. */
  finish(revision: number): Promise<void>;
  /** Removes what has been written. */
  clear(): Promise<void>;
  close(): Promise<void>;
}
