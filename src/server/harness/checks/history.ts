/*
 * What a run with several clients and servers records. All times are milliseconds of one monotonic clock, that of the recording process; versions and
 * revisions are those of the store.
 */

/**
 * The fields that a write sets. `data.write` is the id of the operation, so that every version of an object names its
 * writer.
 */
export interface Fields {
  readonly tier: string;
  readonly data: { readonly [name: string]: string };
}

/** An object. In a marked history objects are compared whole; these are the fields that rules refer to. */
export interface Item {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: { readonly [name: string]: string };
  };
  readonly data?: { readonly [name: string]: string };
}

/** Objects of one resource: all, or those of a namespace, or with a value of the label `tier`, or that match. */
export interface Selection {
  readonly resource: string;
  readonly namespace?: string;
  readonly tier?: string;
  readonly matches?: (object: Item) => boolean;
}

/** Keys are `<resource>/<namespace>/<name>`, with an empty namespace for cluster-scoped objects. */
export type Request =
  /** `update` replaces the object of the version `base`; `patch` and `apply` merge the fields into what is there. */
  | {
      readonly verb: 'create' | 'update' | 'patch' | 'apply';
      readonly key: string;
      /** In a marked history. */
      readonly fields?: Fields;
      readonly base?: number;
    }
  /** With preconditions, unless absent. */
  | { readonly verb: 'delete'; readonly key: string; readonly uid?: string; readonly base?: number }
  /** Consistent without a version; 0: any version will do; else one that is not older. */
  | { readonly verb: 'get'; readonly key: string; readonly version?: number }
  /** Likewise; `isExact`: the state at that version. `limit`: read in pages, each from any replica. */
  | {
      readonly verb: 'list';
      readonly selection: Selection;
      readonly version?: number;
      readonly isExact?: boolean;
      readonly limit?: number;
    };

export type Outcome =
  /** The object as it was read or written. */
  | { readonly type: 'object'; readonly object: Item }
  | { readonly type: 'deleted'; readonly uid: string }
  | { readonly type: 'list'; readonly version: number; readonly items: readonly Item[] }
  /** A 4xx status. `version`: that of the list whose next page expired. */
  | {
      readonly type: 'refused';
      readonly code: number;
      readonly reason: string;
      readonly message: string;
      readonly version?: number;
    }
  /** An answer that no correct server gives. */
  | { readonly type: 'wrong'; readonly message: string }
  /** No answer, or a 5xx status: a write may have taken place, or may still do so. */
  | { readonly type: 'unknown'; readonly message: string };

export interface Operation {
  readonly id: number;
  readonly client: string;
  /** Of a list in pages: the replica of the first one. */
  readonly replica: string;
  readonly request: Request;
  readonly start: number;
  readonly end: number;
  readonly outcome: Outcome;
}

export interface WatchEvent {
  readonly time: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly version: number;
  /** Undefined for a bookmark. */
  readonly object: Item | undefined;
  /** The bookmark that ends the initial events. */
  readonly endsInitial?: boolean;
}

/** One watch request, from its start to its end. */
export interface WatchSession {
  readonly watcher: string;
  readonly replica: string;
  readonly selection: Selection;
  /** The version after which it begins; undefined: with the state as initial events. */
  readonly after: number | undefined;
  readonly start: number;
  readonly events: readonly WatchEvent[];
  readonly end: number;
  /**
   * `closed`: by the watcher; `expired`: 410, instead of a stream or in it; `wrong`: by another 4xx, or by something that is
   * no event; `broken`: by anything else.
   */
  readonly ending: 'closed' | 'expired' | 'wrong' | 'broken';
}

/** How far a watcher had come at the end of the trial, when all had been given time to catch up. */
export interface Reached {
  readonly watcher: string;
  readonly selection: Selection;
  /** Everything up to this version had been told… */
  readonly position: number;
  /** …and everything up to this one had to be. */
  readonly due: number;
}

/** A version of an object, or its deletion, as the store itself tells it. */
export interface JournalEntry {
  readonly revision: number;
  readonly key: string;
  /** Without `resourceVersion`; undefined: deleted. */
  readonly object: Item | undefined;
}

/** Which revision the store said it had compacted, when asked at `start`. */
export interface Compaction {
  readonly start: number;
  readonly revision: number;
}

export interface History {
  readonly operations: readonly Operation[];
  readonly watches: readonly WatchSession[];
  readonly reached: readonly Reached[];
  /** Every change of every object of the trial, in the order of revisions. */
  readonly journal: readonly JournalEntry[];
  /** In the order of time. */
  readonly compactions: readonly Compaction[];
  /**
   * Set when only some of the writes are recorded: objects are then compared by uid and version alone. Otherwise every write is
   * marked: `data.write` of an object is the id of the operation that wrote it.
   */
  readonly unmarked?: true;
}
