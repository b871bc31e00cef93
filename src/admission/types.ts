import type { ApiObject, GroupVersionKind, JsonObject, Names, Random, ResourcePlace, User } from '../meta/index.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A write on its way through admission. */
export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  readonly kind: GroupVersionKind;
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subresource: string;
  readonly namespace: string;
  /** Empty while plugins may still change an object whose name the server is to make up. */
  readonly name: string;
  /** The object to be stored; mutating plugins change it in place. Undefined for DELETE. */
  readonly object: ApiObject | undefined;
  /** The stored object; undefined for CREATE. Must not be changed. */
  readonly oldObject: ApiObject | undefined;
  readonly user: User;
  readonly dryRun: boolean;
  /** Adds a warning to the answer. */
  readonly warn: (text: string) => void;
  /** Takes what undoes a plugin's own writes: called once when it is certain that this one is not stored after all. */
  readonly onAbandon?: (undo: () => Promise<void>) => void;
}

/** What a plugin may be meant for. */
export interface AdmissionPlace {
  readonly operation: AdmissionOperation;
  /** `pods`, `ingresses.networking.example.org`. */
  readonly resource: string;
  /** Empty: the object itself. */
  readonly subresource: string;
}

/** One admission plugin. A refusal is a thrown StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Asked once for each place; writes elsewhere never reach the plugin. Absent: it sees all. */
  readonly handles?: (place: AdmissionPlace) => boolean;
  readonly mutate?: (request: AdmissionRequest) => void | Promise<void>;
  readonly validate?: (request: AdmissionRequest) => void | Promise<void>;
}

/** One kind of step: a plugin, or with an empty name all of them together. */
export interface StepLabels {
  readonly plugin: string;
  readonly type: 'admit' | 'validate';
  readonly operation: AdmissionOperation;
  readonly rejected: boolean;
}

/** Gives what is told how long each such step took (seconds). Asked once for each kind of step in each place. */
export type StepTimer = (step: StepLabels) => (seconds: number) => void;

export type Awaitable<T> = T | Promise<T>;

/** What is known of a namespace; undefined when there is none. */
export type NamespaceLookup = (name: string) => Awaitable<{ readonly terminating: boolean } | undefined>;

/**
 * Objects as the server has them, in their storage version, with their resourceVersion. They are shared: nobody may
 * change them. A resource is named `pods` or `ingresses.networking.example.org`; one that does not exist has none.
 */
export interface ObjectLookup {
  /** Undefined: there is none, not in the store either. @throws StatusError 504 when the cache does not catch up with it */
  readonly get: (resource: string, namespace: string, name: string) => Awaitable<ApiObject | undefined>;
  /**
   * Ordered by name; with an empty namespace all. `latest`: with every write that was answered before the call; @throws StatusError 504
   * when that takes too long, 500 when an object of them cannot be read.
   */
  readonly list: (resource: string, namespace: string, latest?: boolean) => Awaitable<readonly ApiObject[]>;
}

/** What someone wants to do, as authorizers see it. */
export interface ResourceAttributes extends ResourcePlace {
  readonly verb: string;
}

/** Asks the server's authorizers whether a user may do something to a resource. */
export type ResourceAuthorizer = (
  user: User,
  attributes: ResourceAttributes,
) => Awaitable<{ readonly allowed: boolean; readonly reason: string }>;

/** A resource that serves a kind. */
export interface KindPlace {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespaced: boolean;
}

/** What plugins are handed by the server that they are in. */
export interface PluginInitializer {
  readonly names: Names;
  readonly random: Random;
  readonly namespace: NamespaceLookup;
  readonly objects: ObjectLookup;
  readonly authorize: ResourceAuthorizer;
  /** Undefined when no resource serves the kind. */
  readonly findKind: (apiVersion: string, kind: string) => KindPlace | undefined;
  /**
   * Replaces `status.used` of a quota if it is still as given (by its resourceVersion): the quota as it is then,
   * undefined when another writer was first or there is none any more.
   */
  readonly chargeQuota: (quota: ApiObject, used: JsonObject) => Promise<ApiObject | undefined>;
  /** Creates a namespace. @throws StatusError 409 when it is there already */
  readonly createNamespace: (name: string) => Promise<void>;
  /** How long pods stay on a node that has become unready or out of reach when they do not say so themselves. */
  readonly tolerationSeconds: { readonly notReady: number; readonly unreachable: number };
  /** The organizations of the subject of a certificate request (PEM); undefined when it cannot be read. */
  readonly organizationsOf: (request: string) => readonly string[] | undefined;
}
