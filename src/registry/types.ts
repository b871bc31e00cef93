import type { StepTimer } from '../admission/index.ts';
import type { CachedObject, WatchEvent } from '../cache/index.ts';
import type { ByteString, Features, FieldErrorReason, Json, JsonObject, ResourcePlace, User } from '../meta/index.ts';
import type { Endpoint, ServerObjects } from './definition.ts';
import type { Resource } from './resource.ts';
import type { CorruptReport } from './stored/format.ts';

/** Whom a request is about: a resource in one of its versions, and how much of it. */
export interface Target {
  readonly resource: Resource;
  /** The version in which the client speaks. */
  readonly version: string;
  /** Empty: cluster-scoped, or all namespaces. */
  readonly namespace: string;
  /** Empty: the collection. */
  readonly name: string;
  /** Empty: the object itself. */
  readonly subresource: string;
}

/** Query parameters of get and list, as received; absent when not given. */
export interface ReadOptions {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  readonly limit?: string;
  readonly continue?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly timeoutSeconds?: string;
}

export interface WatchOptions extends ReadOptions {
  readonly allowWatchBookmarks?: string;
  readonly sendInitialEvents?: string;
}

/** A page of a collection. The objects are in the storage version; `view` says how to show them. */
export interface ObjectList {
  /** `metadata.resourceVersion` of the list. */
  readonly revision: number;
  readonly items: Iterable<CachedObject>;
  /** The token for the next page; empty when there is none. */
  readonly continue: () => string;
  /** How many objects follow this page; undefined when no one counted, or none do. */
  readonly remaining: () => number | undefined;
}

/** What is to be done to an object, as data. Bodies are decoded JSON, not yet checked against the schema. */
export type Change =
  | { readonly verb: 'create'; readonly object: ObjectBody }
  | { readonly verb: 'update'; readonly object: ObjectBody }
  | {
      readonly verb: 'patch';
      readonly format: PatchFormat;
      readonly patch: Json;
      readonly findings?: readonly string[];
      /** Why the body could not be read, in which case there is no patch: told once the object is found. */
      readonly malformed?: string;
      /** Of the body, in bytes. */
      readonly size?: number;
    }
  | { readonly verb: 'delete'; readonly options: JsonObject };
export type PatchFormat = 'json' | 'merge' | 'strategic' | 'apply';

/** A body as the codec read it. */
export interface Body {
  readonly value: Json;
  /** Strict findings of the codec, such as `duplicate field "metadata.name"`. */
  readonly findings: readonly string[];
  /** The bytes of a JSON body that has findings: they are told in the order of the text. */
  readonly json?: Uint8Array;
  /** In bytes. */
  readonly size?: number;
}

export interface ObjectBody extends Body {
  readonly value: JsonObject;
}

export interface WriteOptions {
  readonly requester: User;
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Takes what others own; for an apply alone. */
  readonly force: boolean;
  /** Texts for `Warning` headers are put here, whatever becomes of the write. */
  readonly warnings: Set<string>;
  /**
   * What the request is about, for the check that the requester may `create` an object that an update or patch would
   * make. Absent: it is not checked.
   */
  readonly attributes?: ResourcePlace | undefined;
}

/** A request that goes on to somewhere else. */
export interface Connecting {
  readonly requester: User;
  readonly query: Pick<URLSearchParams, 'get' | 'getAll' | 'has'>;
  /** What the path has below the subresource, decoded. */
  readonly rest: string;
  /** As those of a write. */
  readonly warnings: Set<string>;
}

export interface WriteResult {
  readonly created: boolean;
  /**
   * The object after the write, in the storage version, JSON; undefined for a delete that removed it at once, and for
   * what was done instead of kept.
   */
  readonly object: CachedObject | undefined;
  /** For a delete that removed the object at once: what the `Success` status tells of it. */
  readonly deleted: { readonly name: string; readonly uid: string } | undefined;
}

/** Is told what happens inside, to count or log it. */
export interface Observer {
  readonly admission: StepTimer;
  /** The declared rules of a kind and those that it has by hand do not find the same about a field. */
  readonly mismatch: (difference: Mismatch) => void;
  /** A declared rule failed where it should have judged. */
  readonly ruleFailure: (kind: string, error: unknown) => void;
  /** A stored object cannot be read. Told once for each key and revision. */
  readonly corrupt: CorruptReport;
}

/** Holds no values: they may be secret. */
export interface Mismatch {
  readonly group: string;
  readonly kind: string;
  readonly field: string;
  readonly handwritten: readonly FieldErrorReason[];
  readonly declarative: readonly FieldErrorReason[];
}

/** Every verb on every resource. Throws nothing but StatusError. */
export interface Registry {
  readonly resources: readonly Resource[];
  /** The resource under a path's group, version and plural name; undefined when there is none. */
  find(group: string, version: string, plural: string): Resource | undefined;
  get(target: Target, options: ReadOptions): Promise<CachedObject>;
  list(target: Target, options: ReadOptions): Promise<ObjectList>;
  /** Batches of events in order, first those that bring the client up to date; ends when the timeout is over or `close` is called. */
  watch(target: Target, options: WatchOptions): Promise<WatchStream>;
  write(target: Target, change: Change, options: WriteOptions): Promise<WriteResult>;
  /** Deletes what the selectors choose; the answer is the list of what was deleted, as it was. */
  deleteCollection(
    target: Target,
    options: ReadOptions,
    deleteOptions: JsonObject,
    request: WriteOptions,
  ): Promise<ObjectList>;
  /**
   * Where a request to the target goes on to: a subresource that stands for a node, or for what runs on it. Undefined
   * when there is nothing to be had yet. The target's name may hold a scheme and a port: `https:web:8443`.
   */
  connect(target: Target, call: Connecting): Promise<Endpoint | undefined>;
  /**
   * What the store would hold of a new object that the server makes by itself, to be written in a commit with others;
   * neither admission nor validation see it.
   */
  newEntry(resource: Resource, object: JsonObject, fieldManager: string): NewEntry;
  readonly objects: ServerObjects;
  readonly features: Features;
  /** The stored object as the client's version shows it: the stored bytes themselves when that is the storage version. */
  encode(target: Target, object: CachedObject): ByteString;
  /** Ends every watch, cleanly, and stops following the store. */
  close(): void;
}

export interface NewEntry {
  readonly key: string;
  readonly value: Uint8Array;
}

/** What a watch tells. */
export interface StreamEvent extends WatchEvent {
  /** The bookmark that says: everything that was there at the start has been told. */
  readonly endsInitialEvents?: boolean;
}

/**
 * Fails with a StatusError when the changes can no longer be told without a gap (410) or the server goes down. Ends by
 * itself when its time is over or its client is too slow.
 */
export interface WatchStream extends AsyncIterable<readonly StreamEvent[]> {
  /** Ends the watch; an iteration under way ends cleanly. Idempotent. */
  close(): void;
}
