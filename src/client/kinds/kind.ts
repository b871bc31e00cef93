import type { Json, JsonObject, ObjectMeta } from '../../meta/index.ts';
import type { Place } from './place.ts';

/** The fields of an object that the client reads. Interfaces of kinds are assignable without an index signature. */
export interface TypedObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?:
    | {
        readonly name?: string | undefined;
        readonly generateName?: string | undefined;
        readonly namespace?: string | undefined;
        readonly uid?: string | undefined;
        readonly resourceVersion?: string | undefined;
        readonly labels?: { readonly [key: string]: string } | undefined;
        readonly annotations?: { readonly [key: string]: string } | undefined;
        readonly finalizers?: readonly string[] | undefined;
        readonly ownerReferences?: readonly OwnerLike[] | undefined;
      }
    | undefined;
}

/** An object whose type is unknown. */
export interface UntypedObject {
  [field: string]: Json | undefined;
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta & JsonObject;
}

interface OwnerLike {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: unknown;
}

/** Identifies an object of a kind. The `metadata` of an object is one. */
export interface ObjectKey {
  /** Absent or empty for cluster-scoped objects. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

export interface KindReference {
  /** `v1`, `apps/v1`; `{domain}` stands for the API domain of the client, as in `coordination.{domain}/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
}

/** The resource and scope of a kind. */
export interface KindPlace extends KindReference {
  /** The plural name. */
  readonly resource: string;
  readonly namespaced: boolean;
}

/** A kind whose objects have type `T`. Discovery supplies the resource and the scope where they are absent. */
export interface TypedKind<T extends TypedObject> extends KindReference, Partial<Omit<KindPlace, keyof KindReference>> {
  /** Never set: carries the type of the objects. */
  readonly $object?: T;
}

/** The path of a kind's objects in one namespace; an empty namespace means all. */
export const placeIn = ({ apiVersion, resource }: KindPlace, namespace = ''): Place => ({
  apiVersion,
  resource,
  ...(namespace === '' ? {} : { namespace }),
});

/** The key of an object in caches and queues: `namespace/name`, or just the name of a cluster-scoped object. */
export const keyOf = ({ metadata: { namespace = '', name = '' } = {} }: Pick<TypedObject, 'metadata'>): string =>
  keyIn(namespace, name);

export const keyIn = (namespace: string, name: string): string => (namespace === '' ? name : `${namespace}/${name}`);

/** The inverse of `keyIn`. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
