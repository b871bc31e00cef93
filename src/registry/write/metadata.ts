import type { Json, JsonObject, ObjectMeta } from '../../meta/index.ts';

type Given = { readonly [name in keyof ObjectMeta]: Json | undefined };
const nothing: Given = {};

/**
 * Metadata in the order in which it is encoded, with the `changed` fields replaced; empty fields and those that are not
 * stored are left out.
 */
export function metadataOf(given: Given, changed = nothing): ObjectMeta & JsonObject {
  const out: JsonObject = {};
  for (const name of metaFields) {
    const value = name in changed ? changed[name] : given[name];
    if (value !== undefined && value !== null && value !== '') out[name] = value;
  }
  return out as ObjectMeta & JsonObject;
}

/** The stored fields of the metadata, in the order in which they are encoded. */
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
