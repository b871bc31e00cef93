import type { Json, JsonObject, ObjectMeta } from '../meta/index.ts';

type Given = { readonly [name in keyof ObjectMeta]: Json | undefined };
const nothing: Given = {};

/**
 * Metadata in the order in which it is written, with what is `changed` in place of what was given; what a client has no
 * say in and what is empty stays out.
 */
export function metadataOf(given: Given, changed = nothing): ObjectMeta & JsonObject {
  const out: JsonObject = {};
  for (const name of metaFields) {
    const value = name in changed ? changed[name] : given[name];
    if (value !== undefined && value !== null && value !== '') out[name] = value;
  }
  return out as ObjectMeta & JsonObject;
}

/** Every field of the metadata that is kept, in the order in which it is written. */
export const metaFields = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;
