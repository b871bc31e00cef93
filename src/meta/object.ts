import { getKey, isJsonObject, type Json, type JsonObject } from './json.ts';

/** A decoded API object. */
export interface ApiObject extends JsonObject {
  kind: string;
  apiVersion: string;
  metadata: ObjectMeta & JsonObject;
}

/** `metadata` of an object (resource-api.md, "Common object fields"). Absent fields are absent keys. */
export type ObjectMeta = {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  /** RFC 3339 in UTC with whole seconds. */
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: { [key: string]: string };
  annotations?: { [key: string]: string };
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: Json[];
};

export interface OwnerReference {
  [key: string]: Json;
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
}

/** Returns the value of an annotation; undefined when the object does not have it. */
export const annotationOf = ({ metadata }: { readonly metadata: ObjectMeta }, key: string): string | undefined =>
  metadata.annotations === undefined ? undefined : getKey(metadata.annotations, key);

/** Returns the value of a nested field; undefined when a field on the path is absent or not an object. */
export function at(value: Json | undefined, ...path: string[]): Json | undefined {
  let current = value;
  for (const name of path) {
    if (!isJsonObject(current) || !Object.hasOwn(current, name)) return undefined;
    current = current[name];
  }
  return current;
}
