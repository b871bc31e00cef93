import type { StepTimer } from '../admission/index.ts';
import type { CachedObject, WatchEvent } from '../cache/index.ts';
import type {
  Annotate,
  ApiObject,
  Features,
  FieldErrorReason,
  Json,
  JsonObject,
  ResourcePlace,
  Selectors,
  Stages,
  StatusError,
  Turns,
  User,
} from '../meta/index.ts';
import type { CustomVersions } from './resource/catalog.ts';
import type { Endpoint, ServerObjects } from './resource/definition.ts';
import type { Resource } from './resource/resource.ts';
import type { CorruptReport } from './stored/format.ts';

/** The target of a request: a resource in one of its versions, and a namespace, name and subresource. */
export interface Target {
  readonly resource: Resource;
  /** The version of the request. */
  readonly version: string;
  /** Empty: cluster-scoped, or all namespaces. */
  readonly namespace: string;
  /** Empty: the collection. */
  readonly name: string;
  /** Empty: the object itself. */
  readonly subresource: string;
}

/** Query parameters of get and list, as received; absent when not given. */
export interface ReadOptions extends Selectors {
  /** The turns in which long work of the request runs. Absent: those of the server itself. */
  readonly turns?: Turns | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: string | undefined;
  readonly limit?: string | undefined;
  readonly continue?: string | undefined;
  readonly timeoutSeconds?: string | undefined;
}

export interface WatchOptions extends ReadOptions {
  readonly allowWatchBookmarks?: string | undefined;
  readonly sendInitialEvents?: string | undefined;
  /** The client may be slow: initial events for which it takes longer than {@link readTimeMs} end in a 410. */
  readonly isRemote?: boolean | undefined;
}

/** A page of a collection, its objects in the storage version. */
export interface ObjectList {
  /** `metadata.resourceVersion` of the list. */
  readonly revision: number;
  readonly items: Iterable<CachedObject>;
  /** The continue token of the next page; empty on the last one. */
  readonly continue: () => string;
  /** The number of objects after the page; undefined on the last page, and when they were not counted. */
  readonly remaining: () => number | undefined;
}

/** A change of an object, as data. Bodies are parsed JSON, not yet decoded by the schema. */
export type Change =
  | { readonly verb: 'create'; readonly object: ObjectBody }
  | { readonly verb: 'update'; readonly object: ObjectBody }
  | {
      readonly verb: 'patch';
      readonly format: PatchFormat;
      readonly patch: Json;
      readonly findings?: readonly string[];
      /** The bytes of a JSON body that has findings. */
      readonly json?: Uint8Array | undefined;
      /** Why the body could not be parsed, in which case there is no patch: reported once the object is found. */
      readonly malformed?: string;
      /** Size of the body in bytes. */
      readonly size?: number;
    }
  /** `ofCollection`: one of the deletions of a collection. */
  | { readonly verb: 'delete'; readonly options: JsonObject; readonly ofCollection?: boolean };
export type PatchFormat = 'json' | 'merge' | 'strategic' | 'apply';

/** A body as parsed by the codec. */
export interface Body {
  readonly value: Json;
  /** Strict decoding errors of the codec, such as `duplicate field "metadata.name"`. */
  readonly findings: readonly string[];
  /** The bytes of a JSON body: its errors are reported in the order of the text. */
  readonly json?: Uint8Array | undefined;
  /** Size in bytes. */
  readonly size?: number;
}

export interface ObjectBody extends Body {
  readonly value: JsonObject;
}

/** Query parameters of a write, as received. */
export interface SentOptions {
  readonly dryRun?: readonly string[];
  readonly fieldManager?: string;
  readonly fieldValidation?: string;
}

export interface WriteOptions {
  readonly requester: User;
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** The options that admission reviews show. Absent: none were sent. */
  readonly sent?: SentOptions;
  /** Takes over fields of other managers; for apply only. */
  readonly force: boolean;
  /** Adds a `Warning` header with this text to the response, whether or not the write succeeds. */
  readonly warn: (text: string) => void;
  /** Absent: the request is not audited. */
  readonly annotate?: Annotate | undefined;
  /** Receives the stages of the write. Absent: the write does not belong to a request, or is one of several of a request. */
  readonly stages?: Stages | undefined;
  /** As for a read. */
  readonly turns?: Turns | undefined;
  /**
   * The attributes of the request, for the check that the requester may `create` an object that an update or patch would
   * create. Absent: it is not checked.
   */
  readonly attributes?: ResourcePlace | undefined;
}

/** A request that is passed on to a node or to what runs on it. */
export interface Connecting {
  readonly requester: User;
  readonly query: Pick<URLSearchParams, 'get' | 'getAll' | 'has'>;
  /** The path below the subresource, decoded. */
  readonly rest: string;
  /** As for a write. */
  readonly warn: (text: string) => void;
  readonly annotate: Annotate | undefined;
}

export interface WriteResult {
  readonly created: boolean;
  /**
   * The object after the write, in the storage version, JSON; undefined for a delete that removed it at once, and after
   * a create handler.
   */
  readonly object: CachedObject | undefined;
  /** For a delete that removed the object at once: the details of its `Success` status. */
  readonly deleted: { readonly name: string; readonly uid: string } | undefined;
}

/** Receives internal events, for metrics and logs. */
export interface Observer {
  readonly admission: StepTimer;
  /** Declarative and handwritten validation of a kind disagree about a field. */
  readonly mismatch: (difference: ValidationMismatch) => void;
  /** A declarative rule threw an error. */
  readonly ruleFailure: (kind: string, error: unknown) => void;
  /** A stored object is corrupt. Reported once for each key and revision. */
  readonly corrupt: CorruptReport;
  /** Stored data of a resource is damaged. Its cause is that of the store. */
  readonly damaged?: ((error: StatusError) => void) | undefined;
  /** This many more objects have been read into a cache that is being loaded. */
  readonly read?: ((objects: number) => void) | undefined;
}

/** Holds no values, which may be secret. */
export interface ValidationMismatch {
  readonly group: string;
  readonly kind: string;
  readonly field: string;
  readonly handwritten: readonly FieldErrorReason[];
  readonly declarative: readonly FieldErrorReason[];
}

/** Every verb of every resource. The caller checks that the target serves it. @throws only StatusError */
export interface Registry {
  /** All that are served now, built-in ones first. The same array until custom resources are installed or removed. */
  readonly resources: readonly Resource[];
  /** Calls `listener` after each change of `resources`. */
  onChange(listener: () => void): void;
  /** Of each resource that cannot be served because its stored data is damaged, the error of its requests. */
  readonly damages: () => readonly StatusError[];
  /** The size of the table rows that are kept in memory (bytes). */
  readonly rowBytes: () => number;
  /** The resource that is served at the group, version and plural name of a path. */
  find(group: string, version: string, plural: string): Resource | undefined;
  /** The resource named `pods` or `ingresses.networking.example.org`, also one that is not served. */
  resourceOf(id: string): Resource | undefined;
  /**
   * Serves a custom resource from now on, in place of what it was before. Watches of versions whose `custom` is another
   * one than before are ended; requests in flight finish with the resource that they began with. The group must not be
   * one of a built-in resource.
   */
  install(custom: CustomVersions): void;
  /** No longer serves a custom resource, and ends its watches. Its objects remain in the store. */
  remove(group: string, plural: string): void;
  /** The object, at least as new as the requested resourceVersion. @throws StatusError 404 */
  get(target: Target, options: ReadOptions): Promise<CachedObject>;
  list(target: Target, options: ReadOptions): Promise<ObjectList>;
  /** Batches of events in order, the initial ones first; ends after its timeout or when `close` is called. */
  watch(target: Target, options: WatchOptions): Promise<WatchStream>;
  write(target: Target, change: Change, options: WriteOptions): Promise<WriteResult>;
  /** Deletes the objects that match the selectors; returns the list of them as they were. */
  deleteCollection(
    target: Target,
    options: ReadOptions,
    deleteOptions: JsonObject,
    request: WriteOptions,
  ): Promise<ObjectList>;
  /**
   * The endpoint that a request to a connect subresource is passed on to; undefined when there is no content yet. The
   * target's name may hold a scheme and a port: `https:web:8443`.
   */
  connect(target: Target, call: Connecting): Promise<Endpoint | undefined>;
  /**
   * The store entry of a new object of the server itself, to be committed together with others; neither admitted nor
   * validated.
   */
  newEntry(resource: Resource, object: JsonObject, fieldManager: string): NewEntry;
  readonly objects: ServerObjects;
  readonly features: Features;
  /**
   * Calls `follower` with every object of a resource, such as `roles.rbac.example.org`, and from then on with every change
   * as the watch cache applies it: for a write by this server before it is answered, if the resource is declared as
   * followed. A large object is read in turns first, and later changes wait for it, so that the order stays. Resolves
   * after the first call for each object. @throws StatusError when the registry is closed before
   */
  follow(resource: string, follower: ObjectFollower, options?: FollowOptions): Promise<void>;
  /** Forgets the events up to `revision`, which the store may then compact: watches from earlier ones end with 410. */
  forget(revision: number): Promise<void>;
  /** Ends every watch cleanly and stops watching the store. */
  close(): void;
}

export interface FollowOptions {
  /** The call for a write may come after its response: the resource need not be declared as followed. */
  readonly late?: boolean;
}

/** Receives the current object: undefined when it is deleted or corrupt. Must not throw. */
export type ObjectFollower = (namespace: string, name: string, object: ApiObject | undefined) => void;

export interface NewEntry {
  readonly key: string;
  readonly value: Uint8Array;
}

/** An event of a watch. */
export interface StreamEvent extends WatchEvent {
  /** The bookmark behind the initial events. */
  readonly endsInitialEvents?: boolean;
}

/**
 * Fails with a StatusError 410 when events are missing because of a compaction, and when the server shuts down. Ends after
 * its timeout, and when its client is too slow.
 */
export interface WatchStream extends AsyncIterable<readonly StreamEvent[]> {
  /** Ends the watch; an iteration under way ends cleanly. Idempotent. */
  close(): void;
}
