import type { Json } from '../meta/index.ts';
import { difference, equalSets, has, isEmpty, setOf } from './field-set.ts';
import { decodeManagedFields, encodeManagedFields, entryKey, type ManagedEntry, withFields } from './managed-fields.ts';
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
  const entries = decodeManagedFields(parent).flatMap((entry) => {
    const path = replicas(entry.apiVersion);
    const owns = path !== undefined && has(entry.fields, path);
    return owns ? [withFields(entry, setOf(scaleReplicas), scaleApiVersion)] : [];
  });
  return encodeManagedFields(entries, undefined);
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
  const there = decodeManagedFields(scale);
  const inScale = new Set(there.map(keyInScale));
  const entries: ManagedEntry[] = [];
  for (const entry of decodeManagedFields(parent)) {
    const path = replicas(entry.apiVersion);
    if (path === undefined) continue;
    const holds = has(entry.fields, path);
    const left = holds && !inScale.has(keyInScale(entry)) ? difference(entry.fields, setOf(path)) : entry.fields;
    if (!isEmpty(left)) entries.push(withFields(entry, left));
  }
  const path = replicas(apiVersion);
  const known = new Set(entries.map(entryKey));
  for (const { manager, operation, subresource, fields } of there) {
    if (path === undefined || !equalSets(fields, setOf(scaleReplicas))) continue;
    const owner: ManagedEntry = { manager, operation, apiVersion, subresource, time: undefined, fields: setOf(path) };
    const key = entryKey(owner);
    if (!known.has(key)) entries.push(owner);
    known.add(key);
  }
  return encodeManagedFields(entries, parent);
}

/** The version is another one in the scale; everything else tells owners apart. */
const keyInScale = (entry: ManagedEntry): string => entryKey({ ...entry, apiVersion: '' });
