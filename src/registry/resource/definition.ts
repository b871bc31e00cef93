import type { NamespaceLookup, ObjectLookup, ResourceKey, Stored } from '../../admission/index.ts';
import type {
  Annotate,
  ApiObject,
  CheckedWrite,
  FeatureName,
  Features,
  FieldError,
  JsonObject,
  Names,
  Random,
  Release,
  Steps,
  User,
} from '../../meta/index.ts';
import type { CompiledType, StructSchema } from '../../schema/index.ts';
import type { Column, Completion } from '../read/column.ts';
import type { Allocator } from '../write/allocator.ts';
import type { CustomStorage } from './custom-storage.ts';
import type { Lifecycle } from './lifecycle.ts';

/** The verbs of resources, as authorization and discovery name them. */
export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';
export const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** The kind of the lists of a resource. */
export const listKindOf = ({ kind, listKind = `${kind}List` }: Pick<ResourceDefinition, 'kind' | 'listKind'>): string =>
  listKind;

/**
 * A resource as data: everything that the generic code needs to serve it. Group names may hold the placeholders of
 * `expandNames`, which are expanded once, when the registry is created.
 */
export interface ResourceDefinition {
  /** Empty for the core group. */
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  /** The kind of its lists. Default: the kind with `List` at its end. */
  readonly listKind?: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  /** The preferred version first. */
  readonly versions: readonly ResourceVersion[];
  /** The feature gate without which no version is served. */
  readonly gate?: FeatureName;
  /** Has no storage: a create is answered by a review handler, a read by a virtual list. */
  readonly virtual?: boolean;
  /** Carries out a create of a virtual resource, which is answered with a `Status`. */
  readonly onCreate?: CreateHandler;
  /** Of a custom resource. `versions` has all of its definition; `storage.version` is the version of the request. */
  readonly custom?: CustomStorage;
  /** Being removed with all of its objects: none can be created. */
  readonly terminating?: boolean;
  /** Where the objects are stored, and in which version. Definitions with the same group and resource share their objects. */
  readonly storage: { readonly group: string; readonly resource: string; readonly version: string };
  readonly subresources: readonly Subresource[];
  /** Fields that no write of the object manages, in addition to a status that has a subresource. */
  readonly resetFields?: readonly FieldNames[];
  /** Makes in steps what writes need and what is otherwise made on first use; undefined where that takes no time. */
  readonly prepare?: () => Steps<void> | undefined;
  /** Whether defaults may make a short object long, so that its writes are long work. */
  readonly defaultsLargely?: () => boolean;
  /** All columns of its tables, Name included. Empty: Name and Created At. */
  readonly columns: readonly Column[];
  /** The `Completed` condition of a table row; undefined for an object that is not done. */
  readonly completion?: (object: ApiObject) => Completion | undefined;
  /** Field selector paths beyond `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: readonly SelectableField[];
  readonly strategy: Strategy;
  /**
   * The server acts on its objects (`Registry.follow`, `ObjectLookup.derived`): a write is answered once this server has it
   * in its cache, or after a second, so that the next request of the writer is decided by it.
   */
  readonly followed?: boolean;
}

/** The path of a field, from the object inwards. */
export type FieldNames = readonly string[];

export interface ResourceVersion {
  readonly version: string;
  readonly schema: StructSchema;
  /** Conversion to and from the storage version, without changing the argument. Absent: none is needed. */
  readonly toStorage?: (object: ApiObject, names: Names) => ApiObject;
  readonly fromStorage?: (object: ApiObject, names: Names) => ApiObject;
  /** The same in steps, which requests use where it is given. */
  readonly toStorageInSteps?: (object: ApiObject, names: Names) => Steps<ApiObject>;
  readonly fromStorageInSteps?: (object: ApiObject, names: Names) => Steps<ApiObject>;
  /** Rules of writes in this version that replace the strategy of the kind, apart from its defaults. */
  readonly strategy?: Strategy;
  /** Decodes objects in place of the decoder of `schema`: of a custom resource. */
  readonly type?: CompiledType;
  /** The schema that OpenAPI publishes in place of `schema`: of a custom resource. `dialect` v2 has no nullable, …. */
  readonly openApi?: (dialect: 'v2' | 'v3') => Steps<JsonObject>;
  /** Of a built-in version. */
  readonly lifecycle?: Lifecycle;
  /** The text of the warning about a deprecated version of a custom resource. */
  readonly deprecationWarning?: string;
}

/** A path below an object, and what is served there. */
export type Subresource<T = ApiObject> =
  | StatusSubresource
  | ProjectionSubresource<T>
  | PartialUpdateSubresource<T>
  | CreateSubresource
  | ConnectSubresource;

interface SubresourceBase {
  readonly name: string;
  readonly verbs: readonly Verb[];
  /** The kind of its bodies. */
  readonly kind: string;
  /** Group and version of that kind, where they are not those of the resource. */
  readonly group?: string;
  readonly version?: string;
  /** Removed versions of that kind that are still accepted: they have the same fields. */
  readonly formerVersions?: readonly string[];
  /** The feature gate without which it is not served. */
  readonly gate?: FeatureName;
  /** The schema of that kind, where it is not the kind of the resource. */
  readonly schema?: StructSchema;
}

/** The rules of an update that writes a part of the stored object. */
interface PartialWriteRules {
  /** Default: one as a change. */
  readonly metadataChecks?: MetadataChecks;
  /** Fields that a write does not manage. Those in the metadata are reset to their stored values. */
  readonly resetFields?: readonly FieldNames[];
}

/** Reads the object, writes its status. */
export interface StatusSubresource extends SubresourceBase, PartialWriteRules {
  readonly type: 'status';
}

/** Reads and writes an object of another kind, made from the stored one. */
export interface ProjectionSubresource<T = ApiObject> extends SubresourceBase {
  readonly type: 'projection';
  readonly projection: Projection<T>;
}

/** Reads the object, writes a part of it. */
export interface PartialUpdateSubresource<T = ApiObject> extends SubresourceBase, PartialWriteRules {
  readonly type: 'partialUpdate';
  readonly partialUpdate: PartialUpdate<T>;
  /** The only fields that a write manages; `*` is any element. The metadata is reset to what is stored. */
  readonly writableFields?: readonly FieldNames[];
}

/** Carries out what is posted, and stores nothing of it. */
export interface CreateSubresource extends SubresourceBase {
  readonly type: 'create';
  /** Answered with a `Status`. Absent: a review handler answers it with the object to return. */
  readonly onCreate?: CreateHandler;
  /** The name of the object whose subresource it is, in what is posted. Default: that of the metadata. */
  readonly nameOf?: (posted: ApiObject) => string;
}

/** Passes requests on to a node or to what runs on it. */
export interface ConnectSubresource extends SubresourceBase {
  readonly type: 'connect';
  readonly connect: Connection;
}

/**
 * How often the validation of a kind repeats the checks of an update's metadata: those of the metadata of an object, and
 * those of their change. Each repetition reports its errors again, as the reference server does. Without any, errors of the
 * metadata of a new object are reported once all else is valid.
 */
export type MetadataChecks = readonly [object: number, change: number];

/** Conversion of the stored object to an object of the subresource's kind, and back. */
export interface Projection<T = ApiObject> {
  readonly read: (object: T) => ApiObject;
  /** Called before a read is answered. @throws StatusError for an object that cannot be read, only written */
  readonly checkRead?: (object: T) => void;
  /** The field of the stored object, in all of its versions, whose managers are those of the projection's `spec.replicas`. */
  readonly replicas: FieldNames;
  /** Writes the projection into a fresh copy of the stored object. */
  readonly write: (object: T, projection: ApiObject) => void;
  readonly validate: (projection: ApiObject, context: StrategyContext) => FieldError[];
  /** Columns of its tables, as for a resource. */
  readonly columns?: readonly Column[];
}

export interface PartialUpdate<T = ApiObject> {
  /** Writes the part of the sent object that may be written here into a fresh copy of the stored one. */
  readonly apply: (object: T, sent: T, context: StrategyContext) => void;
  /** Runs in place of the validation of the kind. */
  readonly validate: (object: T, old: T, context: StrategyContext) => FieldError[];
}

/** Carries out a create. The posted object has been decoded and admitted. @throws StatusError */
export type CreateHandler = (posted: ApiObject, call: CreateCall) => Promise<void>;

export interface CreateCall extends WriteContext {
  readonly namespace: string;
  /** The name of the object whose subresource it is, or else of the posted object. */
  readonly name: string;
  readonly dryRun: boolean;
  readonly objects: ServerObjects;
}

/** The field errors of references that the requester may not make, in an object that is valid otherwise. */
export type ReferenceCheck = (write: CheckedWrite) => Promise<readonly FieldError[]>;

/** The state of the validation before a lengthy one. */
export interface ValidationSoFar {
  /** The errors of all other validation. */
  readonly found: readonly FieldError[];
  /** The part of the object that the request writes. */
  readonly part: 'whole' | 'status';
}

/** Returns the current objects of a virtual resource, each with a name and no namespace. */
export type VirtualList = () => Promise<readonly ApiObject[]>;

/** Reads of shared, decoded objects from the watch caches: without a promise where a cache holds what is looked up. */
export interface CachedReads extends ObjectLookup {
  readonly namespace: NamespaceLookup;
}

/** The server's own access to its objects, in their storage version. Throws nothing but StatusError. */
export interface ServerObjects extends CachedReads {
  /** The stored object, no older than the call; the caller may change it. @throws StatusError 404 */
  readonly read: <R extends ResourceKey>(resource: R, namespace: string, name: string) => Promise<Stored<R>>;
  /** Creates an object through admission and validation. */
  readonly create: <R extends ResourceKey>(resource: R, object: Stored<R>) => Promise<Stored<R>>;
  /** Updates an object or a subresource through admission and validation. @throws StatusError 409 on another resourceVersion */
  readonly update: <R extends ResourceKey>(resource: R, object: Stored<R>, subresource?: string) => Promise<Stored<R>>;
  /**
   * Changes the stored object in place, again after a conflict, without admission and validation; returns its
   * resourceVersion. With a subresource the server becomes field manager of what changed; otherwise nobody does.
   */
  readonly guaranteedUpdate: <R extends ResourceKey>(
    resource: R,
    namespace: string,
    name: string,
    change: (object: Stored<R>) => void,
    subresource?: string,
  ) => Promise<string>;
  /** Deletes it by the rules of its kind, without admission. The options have the form of a request's body. */
  readonly delete: (resource: ResourceKey, namespace: string, name: string, options: JsonObject) => Promise<void>;
}

/** How requests are passed on to a node or to what runs on it. */
export interface Connection {
  /**
   * `text`: the body of a GET, without admission, as for any read. `upgrade`: a connection that is upgraded to another
   * protocol. `proxy`: the response of the backend, whatever it is.
   */
  readonly answers: 'text' | 'upgrade' | 'proxy';
  /** The type of the query parameters. */
  readonly options: StructSchema;
  /** The endpoint that a request is passed on to; undefined: there is no content yet. @throws StatusError */
  readonly locate: (call: ConnectCall) => Promise<Endpoint | undefined>;
}

export interface ConnectCall extends StrategyContext {
  readonly namespace: string;
  /** The name in the path, which may hold a scheme and a port: `https:web:8443`. */
  readonly name: string;
  /** The query parameters, as an object of the connection's options type. */
  readonly options: JsonObject;
  readonly objects: ServerObjects;
  readonly random: Random;
  /** The types of node addresses by which a kubelet is reached, the preferred one first. */
  readonly nodeAddresses: readonly string[];
}

export interface Endpoint {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  /** Empty: the default port of the scheme. */
  readonly port: string;
  /** Path and query. Empty for `proxy`, which takes those that the request has below the subresource. */
  readonly path: string;
  /**
   * `kubelet`: authenticated by its certificate; `unverified kubelet`: its certificate is not verified. Both
   * get the client certificate of the server; `anyone` gets none.
   */
  readonly peer: 'kubelet' | 'unverified kubelet' | 'anyone';
}

export interface SelectableField<T = ApiObject> {
  readonly path: string;
  /** Reads an object in the storage version. A missing value is ''. */
  readonly value: (object: T) => string;
  /** Indexes watches by its value: for fields of which many watches select one value each. */
  readonly indexed?: boolean;
}

export interface StrategyContext {
  readonly names: Names;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Containers may be privileged. Default: they may not. */
  readonly allowPrivileged?: boolean;
  /** The oldest release that must be able to evaluate the expressions that are written. Default: `compatibleRelease`. */
  readonly compatible?: Release;
  /** Default: those that are on without flags. */
  readonly features?: Features;
}

export interface WriteContext extends StrategyContext {
  readonly requester: User;
  /** Adds a `Warning` header with this text to the response. */
  readonly warn: (text: string) => void;
  /** Absent: the request is not audited. */
  readonly annotate?: Annotate | undefined;
}

/**
 * The rules of a kind. Every function gets objects in the storage version; those that default or prepare change the
 * first argument in place. All are pure otherwise.
 */
export interface Strategy<T = ApiObject> {
  /** Returns what is wrong with a name, empty for a valid one. Default: DNS-1123 subdomain. */
  readonly nameRule?: (name: string) => string[];
  /** Default: one of each. */
  readonly metadataChecks?: MetadataChecks;
  /** Finalizers need no domain, whatever their name. */
  readonly bareFinalizers?: boolean;
  /** `metadata.generation` counts changes of everything but metadata and status. */
  readonly generation?: boolean;
  /** May be created by PUT to a name that does not exist. */
  readonly createOnUpdate?: boolean;
  /** A PUT without resourceVersion replaces the latest version. Default true. */
  readonly unconditionalUpdate?: boolean;
  /** A create keeps the status, although it has a subresource: a kubelet registers its node with it. */
  readonly createsWithStatus?: boolean;
  /** A delete returns the last state of the object, not a `Success` status. */
  readonly returnsDeleted?: boolean;
  /** It expires this many seconds after its last write. */
  readonly ttlSeconds?: number;
  /**
   * The grace period of a graceful deletion, in seconds; `asked` is that of the request. Absent: it is deleted at once,
   * unless it has finalizers. 0: likewise, after an update that marks it as deleted.
   */
  readonly gracePeriod?: (object: T, requested: number | undefined) => number;
  /**
   * The propagation policy of a deletion that names none. `Unsupported`: the garbage collector ignores the kind, so that
   * no policy adds a finalizer. Default: Background.
   */
  readonly garbageCollectionPolicy?: 'OrphanDependents' | 'Unsupported';
  /** The text of a `Warning` for a deletion that names no propagation policy. */
  readonly noPolicyWarning?: string;
  /** Its deletion first marks it, and removes it once it is no longer pending, as for a namespace with its content. */
  readonly termination?: Termination<T>;
  /** Sets the defaults that depend on other fields; those that may take long in steps. */
  readonly defaults?: (object: T, context: StrategyContext) => void | Steps<void>;
  readonly prepareCreate?: (object: T, context: WriteContext) => void;
  readonly prepareUpdate?: (object: T, old: T, context: StrategyContext) => void;
  /** The same for a write to the `status` subresource, which writes status and metadata only. */
  readonly prepareStatusUpdate?: (object: T, old: T, context: StrategyContext) => void;
  /**
   * Allocates what the object needs, such as addresses, writes it into the object, and releases what the old one no
   * longer needs; the object is undefined when it is deleted. Takes effect with the commit of the object. Called once
   * the object is prepared. @throws StatusError for an error of no field
   */
  readonly allocate?: (
    object: T | undefined,
    old: T | undefined,
    pools: ReadonlyMap<string, Allocator>,
  ) => Promise<FieldError[]>;
  /** Resources whose object of the same name and namespace is deleted in the same commit. */
  readonly cascadeDelete?: readonly string[];
  readonly validate?: (object: T, context: StrategyContext) => FieldError[];
  readonly validateUpdate?: (object: T, old: T, context: StrategyContext) => FieldError[];
  /** Validation that may take long, after all other: the event loop gets a turn between its steps. */
  readonly validateInSteps?: (
    object: T,
    old: T | undefined,
    context: WriteContext,
    before: ValidationSoFar,
  ) => Steps<readonly FieldError[]> | undefined;
  /** In place of both for a write to the `status` subresource. */
  readonly validateStatusUpdate?: (object: T, old: T, context: StrategyContext) => FieldError[];
  /** Texts of `Warning` headers for a write. */
  readonly warnings?: (object: T, old: T | undefined, context: StrategyContext) => string[];
  /** The same for a write to the `status` subresource. */
  readonly statusWarnings?: (object: T, context: StrategyContext) => string[];
}

export interface Termination<T = ApiObject> {
  /** Changes the object in place, right after it was marked as deleted. */
  readonly begin: (object: T, context: StrategyContext) => void;
  readonly pending: (object: T) => boolean;
  /** Whether its first deletion adds the finalizer of a propagation policy. */
  readonly propagates: boolean;
}
