import type { Json } from '../meta/index.ts';
import { difference, equalSets, has, isEmpty, setOf } from './field-set.ts';
import { managedFieldsOf, type Owner, sameOwner, storedOwners, withFields } from './owners.ts';
import { fieldPath, type Path } from './path.ts';

const scaleReplicas: Path = fieldPath('spec', 'replicas');

/** Where the number of replicas stands in a version of the scaled type; undefined for a version that is unknown. */
export type ReplicasPath = (apiVersion: string) => Path | undefined;

/** `metadata.managedFields` of the scale of an object: the entries that own its number of replicas. */
export function scaleManagedFields(
  parent: Json | undefined,
  replicas: ReplicasPath,
  scaleApiVersion: string,
): Json[] | undefined {
  const owners = storedOwners(parent).flatMap((owner) => {
    const path = replicas(owner.apiVersion);
    const owns = path !== undefined && has(owner.fields, path);
    return owns ? [withFields(owner, setOf(scaleReplicas), scaleApiVersion)] : [];
  });
  return managedFieldsOf(owners, undefined);
}

/**
 * `metadata.managedFields` of an object, in the version `apiVersion`, after a write through its scale: who no longer
 * owns the replicas there does not here, and who has come to own them does. A new entry has no time of its own.
 */
export function scaledManagedFields(
  parent: Json[] | undefined,
  scale: Json | undefined,
  replicas: ReplicasPath,
  apiVersion: string,
): Json[] | undefined {
  const there = storedOwners(scale);
  const owners: Owner[] = [];
  for (const owner of storedOwners(parent)) {
    const path = replicas(owner.apiVersion);
    if (path === undefined) continue;
    const holds = has(owner.fields, path);
    const still = there.some((other) => sameInScale(owner, other));
    const left = holds && !still ? difference(owner.fields, setOf(path)) : owner.fields;
    if (!isEmpty(left)) owners.push(withFields(owner, left));
  }
  const path = replicas(apiVersion);
  for (const { manager, operation, subresource, fields } of there) {
    if (path === undefined || !equalSets(fields, setOf(scaleReplicas))) continue;
    const owner: Owner = { manager, operation, apiVersion, subresource, time: undefined, fields: setOf(path) };
    if (!owners.some((known) => sameOwner(known, owner))) owners.push(owner);
  }
  return managedFieldsOf(owners, parent);
}

/** The versions of the two differ; everything else tells owners apart. */
const sameInScale = (owner: Owner, other: Owner): boolean =>
  sameOwner(owner, { ...other, apiVersion: owner.apiVersion });
