import { type KindPlace, type Place, placeIn } from '../../client/index.ts';
import { type ApiObject, expandNames, type Names, type ObjectMeta } from '../../meta/index.ts';
import type { ObjectOf, StructSchema } from '../../schema/index.ts';

/** The fields that every object has. */
export interface Named {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
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
export const placeOf = (kind: KindPlace, names: Names, namespace = ''): Place =>
  placeIn({ ...kind, apiVersion: apiVersionOf(kind, names) }, namespace);
