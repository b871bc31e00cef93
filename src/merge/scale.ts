import type { Json } from '../meta/index.ts';
import { difference, equalSets, has, isEmpty, setOf } from './field-set.ts';
import { managedFieldsOf, type Owner, ownerKey, storedOwners, withFields } from './owners.ts';
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
  const inScale = new Set(there.map(keyInScale));
  const owners: Owner[] = [];
  for (const owner of storedOwners(parent)) {
    const path = replicas(owner.apiVersion);
    if (path === undefined) continue;
    const holds = has(owner.fields, path);
    const left = holds && !inScale.has(keyInScale(owner)) ? difference(owner.fields, setOf(path)) : owner.fields;
    if (!isEmpty(left)) owners.push(withFields(owner, left));
  }
  const path = replicas(apiVersion);
  const known = new Set(owners.map(ownerKey));
  for (const { manager, operation, subresource, fields } of there) {
    if (path === undefined || !equalSets(fields, setOf(scaleReplicas))) continue;
    const owner: Owner = { manager, operation, apiVersion, subresource, time: undefined, fields: setOf(path) };
    const key = ownerKey(owner);
    if (!known.has(key)) owners.push(owner);
    known.add(key);
  }
  return managedFieldsOf(owners, parent);
}

/** The version is another one in the scale; everything else tells owners apart. */
const keyInScale = (owner: Owner): string => ownerKey({ ...owner, apiVersion: '' });
