import type { Place } from '../client/index.ts';
import { type ApiObject, expandNames, type Names, type ObjectMeta } from '../meta/index.ts';
import type { ObjectOf, StructSchema } from '../schema/index.ts';

/** What every object has. */
export interface Named {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

/** Where the objects of a kind are. */
export interface KindPlace {
  /** `v1`, `rbac.authorization.{domain}/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** The plural name. */
  readonly resource: string;
  readonly namespaced: boolean;
}

/** A kind whose objects, of type `T`, controllers read and write. */
export interface Kind<T extends Named = ApiObject> extends KindPlace {
  /** Never set: carries the type of the objects. */
  readonly $object?: T;
}

/** A built-in kind, whose name is that of its schema. */
export const kindOf = <S extends StructSchema>(
  schema: S,
  apiVersion: string,
  resource: string,
  scope: 'Namespaced' | 'Cluster' = 'Namespaced',
): Kind<ObjectOf<S>> => ({
  apiVersion,
  kind: schema.name.slice(schema.name.lastIndexOf('.') + 1),
  resource,
  namespaced: scope === 'Namespaced',
});

export const apiVersionOf = ({ apiVersion }: KindPlace, names: Names): string => expandNames(apiVersion, names);

/** The path of a kind's objects: in a namespace, or for an empty one in all. */
export const placeOf = ({ resource, ...kind }: KindPlace, names: Names, namespace = ''): Place => ({
  apiVersion: expandNames(kind.apiVersion, names),
  resource,
  ...(namespace === '' ? {} : { namespace }),
});

/** The key of an object in caches and queues: `namespace/name`, or the name at cluster scope. */
export const keyOf = ({ metadata: { namespace = '', name = '' } }: Pick<Named, 'metadata'>): string =>
  keyIn(namespace, name);

export const keyIn = (namespace: string, name: string): string => (namespace === '' ? name : `${namespace}/${name}`);

/** The inverse of `keyIn`. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
