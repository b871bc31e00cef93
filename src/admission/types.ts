import type { AccessAttributes, AccessDecision } from '../cel/index.ts';
import type {
  Annotate,
  ApiObject,
  ByteString,
  Clock,
  Features,
  GroupVersionKind,
  JsonObject,
  LabelSelector,
  Names,
  ObjectMeta,
  Random,
  ResourcePlace,
  Stages,
  Steps,
  Turns,
  User,
} from '../meta/index.ts';
import type { ResourceList } from '../rules/index.ts';
import type { CompiledType, ObjectOf, StructSchema } from '../schema/index.ts';
import type { ResourceQuota } from '../types/core-v1.ts';
import type { PluginConfigurations } from './configuration/formats.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** The attributes of a request in admission. `T` is the type of its objects: see `typedRequest`. */
export interface AdmissionRequest<T extends WithMetadata = ApiObject> {
  readonly operation: AdmissionOperation;
  readonly kind: GroupVersionKind;
  readonly resource: ServedResource;
  readonly subresource: string;
  readonly namespace: string;
  /** Empty in the mutating phase of a create with `generateName`. */
  readonly name: string;
  /**
   * The object to be stored, in the storage version of its resource, decoded against the schema of that version; the
   * posted object or the options of a subresource with a kind of its own. Mutating plugins change it in place. Undefined
   * for DELETE.
   */
  readonly object: T | undefined;
  /** The stored object, in the same form; undefined for CREATE. Read-only. */
  readonly oldObject: T | undefined;
  readonly user: User;
  readonly dryRun: boolean;
  /** When the server began with the request, in milliseconds since 1970. */
  readonly began: number;
  /**
   * CreateOptions, UpdateOptions or DeleteOptions with apiVersion and kind, as webhooks get them: a patch has those of
   * the create or update that it becomes. Undefined for CONNECT. Each call returns a new object.
   */
  readonly options: () => JsonObject | undefined;
  /** The objects of this request in the versions in which its resource is served. */
  readonly versions: RequestVersions;
  /** Set by a plugin that mutates by what is configured in the cluster; both phases see the same request. */
  reinvocation?: Reinvocation;
  /** Adds a Warning header to the response. */
  readonly warn: (text: string) => void;
  /** Absent: the request is not audited. */
  readonly annotate?: Annotate | undefined;
  /** Those of the request of which this is a part. Absent: the server itself makes it. */
  readonly stages?: Pick<Stages, 'trace' | 'waitFor'> | undefined;
  /** Those of long work for the request. Absent: the server itself makes it. */
  readonly turns?: Turns | undefined;
  /** Registers the undo of a plugin's own writes: called once when the request will definitely not be stored. */
  readonly onAbandon?: (undo: () => Promise<void>) => void;
  /** The object is stored only if its namespace is still at this revision; otherwise the request is attempted again. */
  readonly guardNamespace?: (revision: number) => void;
  /**
   * The object is stored only if no object of this resource has been written in its namespace after the revision; otherwise
   * the request is attempted again.
   */
  readonly guardList?: (resource: ResourceKey, revision: number) => void;
}

/** The second run of the mutating phase: later mutations may concern plugins that ran before. */
export interface Reinvocation {
  /** The phase runs again, with all plugins. */
  needed: boolean;
  /** This is the second run. */
  again: boolean;
}

/** A resource or subresource in a version in which it is served, and the kind of the objects in its requests. */
export interface ServedKind {
  readonly kind: GroupVersionKind;
  readonly resource: ServedResource;
}

export interface RequestVersions {
  /** The same resource (or subresource) in every group and version in which it is served, the request's own first. */
  readonly equivalents: readonly ServedKind[];
  /**
   * The object or oldObject in that version, with apiVersion and kind, as it is now: reads after a mutation see it.
   * Read-only. While mutating admission creates an object, it has no generated name, uid, creationTimestamp and
   * generation. @throws StatusError when a webhook does not convert it
   */
  readonly read: (part: 'object' | 'oldObject', as: ServedKind) => Awaitable<JsonObject | undefined>;
  /**
   * Replaces the object by its mutated form in that version: decoded, defaulted, converted; `request.object` changes in
   * place. @throws StatusError 400 for a value of the wrong type, and if `strict` for fields that are not declared, except
   * in custom resources
   */
  readonly write: (as: ServedKind, value: JsonObject, strict?: boolean) => Awaitable<void>;
  /** The type of the object in that version. */
  readonly type: (as: ServedKind) => CompiledType;
}

export interface WithMetadata {
  readonly metadata: ObjectMeta;
}

/** An operation on a resource or subresource, for `handles`. */
export interface AdmissionPlace {
  readonly operation: AdmissionOperation;
  /** `pods`, `ingresses.networking.example.org`. */
  readonly resource: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
}

/** An admission plugin. It rejects a request by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Called once for each operation and resource; others never reach the plugin. Absent: handles all. */
  readonly handles?: (place: AdmissionPlace) => boolean;
  readonly mutate?: (request: AdmissionRequest) => void | Promise<void>;
  /** It replaces objects through `versions.write`, which sets defaults, and never changes them in place. */
  readonly replaces?: boolean;
  readonly validate?: (request: AdmissionRequest) => void | Promise<void>;
}

/** Labels of a latency metric: of one plugin, or with an empty name of a whole phase. */
export interface StepLabels {
  readonly plugin: string;
  readonly type: 'admit' | 'validate';
  readonly operation: AdmissionOperation;
  readonly rejected: boolean;
}

/** Returns the observer of a latency (seconds). Called once for each set of labels of each resource. */
export type StepTimer = (step: StepLabels) => (seconds: number) => void;

export type AdmissionClock = Pick<Clock, 'now' | 'monotonic'>;

/** The result of a ValidatingAdmissionPolicy, for metrics. */
export interface PolicyCheck {
  readonly policy: string;
  readonly binding: string;
  readonly error: 'compile_error' | 'out_of_budget' | 'invalid_error';
  readonly action: 'allow' | 'deny' | 'audit' | 'warn';
}

/** Receives the checks of policies that do not simply allow a request, and how long each took. */
export type PolicyObserver = (check: PolicyCheck, seconds: number) => void;
/** Where a webhook is that an object of the API registers, and how it is trusted. */
export interface RegisteredWebhook {
  readonly url?: string | null;
  readonly service?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly path?: string | null;
    readonly port?: number | null;
  } | null;
  /** CA bundle: PEM in base64. Empty: the authorities that Node trusts. */
  readonly caBundle?: string;
}

/**
 * Posts JSON to a webhook, within a time (ms), and returns the body of its response. Rejects with an Error whose message
 * says why there is none. `traceparent`: the header that tells the webhook of the trace.
 */
export type CallWebhook = (body: ByteString, timeoutMs: number, traceparent?: string) => Promise<Uint8Array>;

/** A webhook has answered with another status than success. */
export class WebhookFailure extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface HookLabels {
  readonly name: string;
  readonly type: 'admit' | 'validating';
}

/** Receives what becomes of calls of webhooks, for metrics. */
export interface WebhookObserver {
  /** `code`: the HTTP status of the outcome, 0 for an internal error. */
  readonly called: (
    call: HookLabels & { readonly operation: AdmissionOperation; readonly code: number; readonly rejected: boolean },
    seconds: number,
  ) => void;
  readonly rejected: (
    call: HookLabels & {
      readonly operation: AdmissionOperation;
      readonly code: number;
      readonly cause: 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error';
    },
  ) => void;
  /** A webhook failed whose failures are ignored. */
  readonly failedOpen: (call: HookLabels) => void;
  /** The match conditions of a webhook have been evaluated. */
  readonly conditions: (
    of: { readonly name: string; readonly type: 'admit' | 'validate'; readonly operation: AdmissionOperation },
    result: 'match' | 'no match' | 'error',
    seconds: number,
  ) => void;
}

/** A webhook that has not been called, has not answered, or whose answer cannot be used. */
export interface FailedCall {
  readonly configuration: string;
  readonly webhook: string;
  readonly why: string;
  /** The request is carried out all the same. */
  readonly ignored: boolean;
}

/** The result of a mutation of a MutatingAdmissionPolicy, for metrics. */
export interface MutationCheck {
  readonly policy: string;
  readonly binding: string;
  readonly error: PolicyCheck['error'] | 'no_error';
}

/** Receives every mutation that was tried, and how long it took. */
export type MutationObserver = (check: MutationCheck, seconds: number) => void;

export type Awaitable<T> = T | Promise<T>;

export interface NamespaceState {
  readonly terminating: boolean;
  /** The revision of the commit that wrote the namespace. */
  readonly revision: number;
}

/**
 * The state of a namespace; undefined: it does not exist, in the store either. `latest`: a consistent read instead of the
 * cache as it is. @throws StatusError 504 when the cache does not catch up
 */
export type NamespaceLookup = (name: string, latest?: boolean) => Awaitable<NamespaceState | undefined>;

/**
 * A resource of the server: the schema of its storage version or, where the resource is known at run time only, its
 * name, such as `pods` or `ingresses.networking.example.org`.
 */
export type ResourceKey = StructSchema | string;

/** The objects of a resource: typed by the schema if that is the key. */
export type Stored<R extends ResourceKey> = R extends StructSchema ? ObjectOf<R> : ApiObject;

/** A resource in one of the versions in which it is served. */
export interface ServedResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/**
 * Stored objects in a served version, from the watch cache. They are shared and must not be modified. A resource that is
 * not served in the version has no objects. Both fail with a StatusError 500 for an object that cannot be read, and when
 * a webhook does not convert it.
 */
export interface VersionedLookup {
  /** Undefined: it does not exist, in the store either. @throws StatusError 504 when the cache does not catch up with it */
  readonly getAs: (as: ServedResource, namespace: string, name: string) => Awaitable<ApiObject | undefined>;
  /**
   * Those whose labels match, as they are stored, sorted by name; an empty namespace selects all. Labels are compared in
   * these turns, and again only when an object of the resource has changed.
   */
  readonly selectAs: (
    as: ServedResource,
    namespace: string,
    selector: LabelSelector,
    turns: Turns,
  ) => Promise<SelectedObjects>;
}

/** Objects that a selector has found, decoded when they are read. */
export interface SelectedObjects {
  readonly length: number;
  /** The object at an index below `length`. */
  readonly read: (index: number) => Awaitable<ApiObject>;
}

/**
 * Stored objects in their storage version, with their resourceVersion. They are shared and must not be modified. A
 * resource that does not exist has no objects.
 */
export interface ObjectLookup extends VersionedLookup {
  /** Undefined: it does not exist, in the store either. @throws StatusError 504 when the cache does not catch up with it */
  readonly get: <R extends ResourceKey>(
    resource: R,
    namespace: string,
    name: string,
  ) => Awaitable<Stored<R> | undefined>;
  /**
   * Sorted by name; an empty namespace selects all. `latest`: a consistent read instead of the cache as it is;
   * @throws StatusError 504 when the cache does not catch up, 500 when an object cannot be read.
   */
  readonly list: <R extends ResourceKey>(
    resource: R,
    namespace: string,
    latest?: boolean,
  ) => Awaitable<readonly Stored<R>[]>;
  /**
   * The objects of a namespace as the cache has them, sorted by name, and the revision that it has reached.
   * @throws StatusError 504 when the cache does not load, 500 when an object cannot be read.
   */
  readonly cached: <R extends ResourceKey>(resource: R, namespace: string) => Awaitable<CachedList<Stored<R>>>;
  /**
   * A value derived from all objects of a resource that is declared as followed, without those that are corrupt. It is
   * derived again, in turns of the server, when one has changed. Includes the writes that this server has answered.
   */
  readonly derived: <R extends ResourceKey, T, V>(
    resource: R,
    derivation: Derivation<Stored<R>, T, V>,
  ) => () => Awaitable<V>;
}

/** How a value is derived from objects. Neither function may throw. */
export interface Derivation<O, T, V> {
  /** Called once for each state of an object. */
  readonly compile: (object: O) => Steps<T>;
  /** Called with the results for all objects, in the order of their names. */
  readonly join: (compiled: readonly T[]) => V;
}

export interface CachedList<T> {
  readonly objects: readonly T[];
  readonly revision: number;
}

/** A request for a resource, for the authorizer. */
export interface ResourceAttributes extends ResourcePlace {
  readonly verb: string;
}

/** Asks the server's authorizers whether a user may do something to a resource. */
export type ResourceAuthorizer = (
  user: User,
  attributes: ResourceAttributes,
) => Awaitable<{ readonly allowed: boolean; readonly reason: string }>;

/** Asks the server's authorizers what an expression asks. */
export type AccessAuthorizer = (attributes: AccessAttributes) => Awaitable<AccessDecision>;

/** The resource of a kind (a REST mapping). */
export interface KindPlace extends ServedResource {
  readonly namespaced: boolean;
}

type Quota = ObjectOf<typeof ResourceQuota>;

/** A plugin that calls the webhooks of the API. */
export type CallingPlugin = 'MutatingAdmissionWebhook' | 'ValidatingAdmissionWebhook';

/** The dependencies of plugins, provided by the server. */
export interface PluginInitializer {
  readonly names: Names;
  readonly random: Random;
  readonly features: Features;
  /** The configurations of enabled plugins. */
  readonly configurations: PluginConfigurations;
  readonly namespace: NamespaceLookup;
  readonly objects: ObjectLookup;
  readonly clock: AdmissionClock;
  readonly policyChecked: PolicyObserver;
  readonly mutationChecked: MutationObserver;
  /** `plugin`: the one that calls, whose credentials are used. */
  readonly webhook: (registered: RegisteredWebhook, plugin: CallingPlugin) => CallWebhook;
  readonly webhookObserver: WebhookObserver;
  /** Receives failures of webhooks, for the log. */
  readonly webhookFailed: (call: FailedCall) => void;
  /** Posts an ImageReview to the webhook of ImagePolicyWebhook, and returns the body of its response. */
  readonly reviewImages: (review: ByteString) => Promise<Uint8Array>;
  readonly authorize: ResourceAuthorizer;
  readonly authorizeAccess: AccessAuthorizer;
  /** Undefined when the kind is not served. */
  readonly findKind: (apiVersion: string, kind: string) => KindPlace | undefined;
  /**
   * Replaces `status.used` of a quota at the given resourceVersion, and returns the updated quota; undefined on a
   * conflict, and when the quota has been deleted.
   */
  readonly updateQuotaStatus: (quota: Quota, used: ResourceList) => Promise<Quota | undefined>;
  /** Creates a namespace. @throws StatusError 409 when it exists */
  readonly createNamespace: (name: string) => Promise<void>;
  /** Default toleration seconds of pods for the not-ready and unreachable taints. */
  readonly tolerationSeconds: { readonly notReady: number; readonly unreachable: number };
  /** The subject of a certificate signing request (PEM); undefined when it cannot be parsed. */
  readonly requestedSubject: (
    request: string,
  ) => { readonly commonName: string; readonly organizations: readonly string[] } | undefined;
}
