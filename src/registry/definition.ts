import type { ApiObject, FeatureName, FieldError, JsonObject, Names, Random, User } from '../meta/index.ts';
import type { StructSchema } from '../schema/index.ts';
import type { Guard, Write } from '../store/index.ts';
import type { Column, Completion } from './column.ts';

/** What may be asked of a resource; the names of authorization and discovery. */
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

/**
 * A resource as data: everything that the generic code needs to serve it. Texts may hold the placeholders of
 * `expandNames`; they are expanded once, when the registry is made.
 */
export interface ResourceDefinition {
  /** Empty for the core group. */
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  /** Best first. */
  readonly versions: readonly ResourceVersion[];
  /** The feature without which it is served in no version. */
  readonly gate?: FeatureName;
  /** An operation rather than an object, such as a review: it has no storage, and what is posted is answered, not kept. */
  readonly virtual?: boolean;
  /** What is posted to a virtual resource is done, not answered. */
  readonly onCreate?: CreateHandler;
  /** Defined while the server runs: strategic merge patches know nothing of such types. */
  readonly custom?: boolean;
  /** Where the objects lie and in which version. Two definitions with the same group and resource share their objects. */
  readonly storage: { readonly group: string; readonly resource: string; readonly version: string };
  readonly subresources: readonly Subresource[];
  /** What of the object no write to it comes to own, besides the status that has a subresource of its own. */
  readonly resetFields?: readonly FieldNames[];
  /** Columns of its tables: the whole row, Name included. Empty: Name and Created At. */
  readonly columns: readonly Column[];
  /** What a row of a table says of an object that is done. */
  readonly completion?: (object: ApiObject) => Completion | undefined;
  /** Field selector paths beyond `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: readonly SelectableField[];
  readonly strategy: Strategy;
  /** What its objects do not do in this server yet: whoever writes one is told so. */
  readonly notYet?: string;
}

/** The way to a field, from the object inwards. */
export type FieldNames = readonly string[];

export interface ResourceVersion {
  readonly version: string;
  readonly schema: StructSchema;
  /** From this version to the storage version and back; absent in the storage version itself. Neither changes its argument. */
  readonly toStorage?: (object: ApiObject, names: Names) => ApiObject;
  readonly fromStorage?: (object: ApiObject, names: Names) => ApiObject;
  /** Release that deprecated it, release that removes it, what to use instead. */
  readonly deprecated?: { readonly since: string; readonly removed?: string; readonly replacement?: string };
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

/** What holds for an update that writes a part of the stored object. */
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
  /** Absent: 501. */
  readonly onCreate?: CreateHandler;
}

/** Passes requests on to a node or to what runs on it. */
export interface ConnectSubresource extends SubresourceBase {
  readonly type: 'connect';
  readonly connect: Connection;
}

/**
 * How often the rules of a kind check the metadata of an update once more, after those that hold for any kind: as the
 * metadata of an object, and as a change. Whoever is refused is told of what each check finds.
 */
export type MetadataChecks = readonly [object: number, change: number];

/** An object of the subresource's kind made from the stored one, and back. */
export interface Projection<T = ApiObject> {
  readonly read: (object: T) => ApiObject;
  /** Where the stored object, in all of its versions, has the number of replicas: who writes it in the view owns that. */
  readonly replicas: FieldNames;
  /** Writes into the object, which is fresh, what the view says of it. */
  readonly write: (object: T, view: ApiObject) => void;
  readonly validate: (view: ApiObject, context: StrategyContext) => FieldError[];
  /** Columns of its tables, as those of a resource. */
  readonly columns?: readonly Column[];
}

export interface PartialUpdate<T = ApiObject> {
  /** Takes into the object, a fresh copy of the stored one, the part of what was sent that may be written here. */
  readonly apply: (object: T, sent: T, context: StrategyContext) => void;
  /** Runs in place of the validation of the kind. */
  readonly validate: (object: T, old: T, context: StrategyContext) => FieldError[];
}

/** Does what was posted, which has been checked against its schema and admitted. A refusal is a thrown StatusError. */
export type CreateHandler = (posted: ApiObject, call: CreateCall) => Promise<void>;

export interface CreateCall extends WriteContext {
  readonly namespace: string;
  /** Of the object below which it was posted, or else its own. */
  readonly name: string;
  readonly dryRun: boolean;
  readonly objects: Objects;
}

/** Answers what was posted to a virtual resource in the same way: gives back the whole object as it is answered. */
export type ReviewHandler = (posted: ApiObject, call: CreateCall) => ApiObject | Promise<ApiObject>;

/** The objects of a virtual resource, as they are just now; each has a name and no namespace. */
export type VirtualList = () => Promise<readonly ApiObject[]>;

/**
 * The objects of the server, in their storage version and as new as the store has them. A resource is spelled `pods`,
 * `ingresses.networking.example.org`. Every call fails with a StatusError: 404 for what is not there.
 */
export interface Objects {
  readonly get: (resource: string, namespace: string, name: string) => Promise<ApiObject>;
  readonly list: (resource: string, namespace: string) => Promise<readonly ApiObject[]>;
  /**
   * Changes what is there in place, and anew when another writer was first; neither admission nor validation follow.
   * Gives back the resourceVersion that it has then. With a subresource it is the server that writes there, and it owns
   * what it changes; else nobody comes to own that.
   */
  readonly update: (
    resource: string,
    namespace: string,
    name: string,
    change: (object: ApiObject) => void,
    subresource?: string,
  ) => Promise<string>;
  /** Deletes it by the rules of its kind, without admission. The options have the form of a request's body. */
  readonly delete: (resource: string, namespace: string, name: string, options: JsonObject) => Promise<void>;
}

/** Requests that go on to a node, or to what runs on it. */
export interface Connection {
  /**
   * `text`: what a GET there gives, which is a read; the two others are admitted. `upgrade`: a connection that has gone
   * over to another protocol. `proxy`: whatever the other side makes of the request.
   */
  readonly answers: 'text' | 'upgrade' | 'proxy';
  /** The parameters of a request. */
  readonly options: StructSchema;
  /** Where a request goes on to; undefined: there is nothing to be had yet. A refusal is a thrown StatusError. */
  readonly locate: (call: ConnectCall) => Promise<Endpoint | undefined>;
}

export interface ConnectCall extends StrategyContext {
  readonly namespace: string;
  /** As the request spells it; `https:web:8443` may mean a port of `web`. */
  readonly name: string;
  /** The parameters of the request, in the form of the connection's options. */
  readonly options: JsonObject;
  readonly objects: Objects;
  readonly random: Random;
  /** The types of a node's addresses, by how well they serve to reach its agent. */
  readonly nodeAddresses: readonly string[];
}

export interface Endpoint {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  /** Empty: that of the scheme. */
  readonly port: string;
  /** Path and query there; empty for what is answered by `proxy`: those that the request has below the subresource. */
  readonly path: string;
  /** Who is there: the agent of a node, which can be known by its certificate and is shown one, or anyone at all. */
  readonly peer: 'agent' | 'unverified agent' | 'anyone';
}

export interface SelectableField<T = ApiObject> {
  readonly path: string;
  /** Read in the storage version. A missing value is ''. */
  readonly value: (object: T) => string;
  /** Watchers are found by it: for fields that many watchers select by one value each. */
  readonly indexed?: boolean;
}

export interface StrategyContext {
  readonly names: Names;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Containers may be privileged. Default: they may not. */
  readonly allowPrivileged?: boolean;
}

export interface WriteContext extends StrategyContext {
  readonly requester: User;
  /** Takes advice for the writer. */
  readonly warnings: Set<string>;
}

/**
 * The few things that are special to a kind. Every function gets objects in the storage version; those that prepare
 * change the first argument in place. All are pure otherwise.
 */
export interface Strategy<T = ApiObject> {
  /** Says what is wrong with a name: a list of messages, empty when nothing is. Default: DNS-1123 subdomain. */
  readonly nameRule?: (name: string) => string[];
  /** Default: once each. */
  readonly metadataChecks?: MetadataChecks;
  /** Finalizers may stand without a domain, whatever their name. */
  readonly bareFinalizers?: boolean;
  /** `metadata.generation` counts changes of everything but metadata and status. */
  readonly generation?: boolean;
  /** May be created by PUT to a name that does not exist. */
  readonly createOnUpdate?: boolean;
  /** PUT without a resourceVersion is taken as "the latest". Default true. */
  readonly unconditionalUpdate?: boolean;
  /** A new object may bring the status that its `status` subresource guards: such as a node, which reports itself. */
  readonly createsWithStatus?: boolean;
  /** Who deletes it gets the object back as it was, not a `Success` status. */
  readonly returnsDeleted?: boolean;
  /** It is gone so many seconds after it was last written. */
  readonly ttlSeconds?: number;
  /**
   * Seconds that it gets to end by itself when it is deleted; `asked` is what the request says. Absent: it goes at once,
   * finalizers aside. With 0 it goes too, but watchers see it marked before.
   */
  readonly gracePeriod?: (object: T, asked: number | undefined) => number;
  /**
   * What the garbage collector does with the dependents of an object that is deleted without a propagation policy;
   * `Unsupported`: it ignores the kind, so that no policy keeps an object. Default: it deletes them.
   */
  readonly garbageCollectionPolicy?: 'OrphanDependents' | 'Unsupported';
  /** The `Warning` for a deletion without a propagation policy. */
  readonly noPolicyWarning?: string;
  /** It is deleted in two steps: the first marks it, and nothing removes it as long as it is pending. */
  readonly termination?: Termination<T>;
  /** Defaults that depend on other fields. */
  readonly defaults?: (object: T, context: StrategyContext) => void;
  readonly prepareCreate?: (object: T, context: WriteContext) => void;
  readonly prepareUpdate?: (object: T, old: T, context: StrategyContext) => void;
  /** The same for a write to the `status` subresource, which by itself changes nothing but status and metadata. */
  readonly prepareStatusUpdate?: (object: T, old: T, context: StrategyContext) => void;
  /**
   * Takes what the object needs of what there is once only, completes it with that, and gives back what the old one had;
   * the object is undefined when it goes. It counts once the object is written. Called when the object is prepared; a
   * refusal that is about no field is a thrown StatusError.
   */
  readonly allocate?: (
    object: T | undefined,
    old: T | undefined,
    pools: ReadonlyMap<string, Allocator>,
  ) => Promise<FieldError[]>;
  /** What has its name and namespace in these resources goes with it, in the same commit. */
  readonly cascadeDelete?: readonly string[];
  readonly validate?: (object: T, context: StrategyContext) => FieldError[];
  readonly validateUpdate?: (object: T, old: T, context: StrategyContext) => FieldError[];
  /** Advice for the writer, sent as `Warning` headers. */
  readonly warnings?: (object: T, old: T | undefined, context: StrategyContext) => string[];
  /** The same for a write to the `status` subresource. */
  readonly statusWarnings?: (object: T, context: StrategyContext) => string[];
}

/** Things of which each belongs to one object at the most, such as addresses. */
export interface Allocator {
  /** Says why this one cannot be had; undefined: it is taken. */
  readonly allocate: (value: string) => Promise<string | undefined>;
  /** One that is free, taken; undefined when all are in use. */
  readonly allocateNext: () => Promise<string | undefined>;
  /** Does nothing for one that the object does not have. */
  readonly release: (value: string) => Promise<void>;
}

/** Who takes something out of a pool. */
export interface Holder {
  /** Its plural name and group: `services`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** What one attempt to write an object takes and gives back. It is so once guards and writes are part of its commit. */
export interface Allocations {
  /** By name, the preferred ones first. */
  readonly allocators: ReadonlyMap<string, Allocator>;
  readonly changes: () => { readonly guards: readonly Guard[]; readonly writes: readonly Write[] };
}

/** Opens the pools for one attempt. In a dry run nothing is taken, and what is free is made up. */
export type OpenAllocations = (holder: Holder, dryRun: boolean) => Allocations;

export interface Termination<T = ApiObject> {
  /** Changes the object, just marked, in place. */
  readonly begin: (object: T) => void;
  readonly pending: (object: T) => boolean;
}
