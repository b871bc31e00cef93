import { atOnce, type Json } from '../meta/index.ts';
import { difference, has, isEmpty, setOf, unionOf } from './field-set.ts';
import { decodeManagedFields, encodeManagedFields, entryKey, type ManagedEntry, withFields } from './managed-fields.ts';
import { fieldPath, type Path } from './path.ts';

const scaleReplicas: Path = fieldPath('spec', 'replicas');

/** The path of the replicas field in a version of the parent; undefined for an unknown version. */
export type ReplicasPath = (apiVersion: string) => Path | undefined;

/** `metadata.managedFields` of the scale subresource: the entries of the parent that own its replicas field. */
export function toScaleManagedFields(
  parent: Json | undefined,
  replicas: ReplicasPath,
  scaleApiVersion: string,
): Json[] | undefined {
  const entries = decodeManagedFields(parent).flatMap((entry) => {
    const path = replicas(entry.apiVersion);
    const owns = path !== undefined && has(entry.fields, path);
    return owns ? [atOnce(withFields(entry, setOf(scaleReplicas), scaleApiVersion))] : [];
  });
  return atOnce(encodeManagedFields(entries, undefined));
}

/**
 * `metadata.managedFields` of the parent, in the version `apiVersion`, after a write to its scale subresource: entries
 * that no longer own the replicas in the scale lose them, and entries that own them there get them, in that version. A
 * new entry has no time.
 */
export function toParentManagedFields(
  parent: Json[] | undefined,
  scale: Json | undefined,
  replicas: ReplicasPath,
  apiVersion: string,
): Json[] | undefined {
  const there = decodeManagedFields(scale).map((entry) => ({ ...entry, apiVersion }));
  const inScale = new Set(there.map(entryKey));
  const entries = new Map<string, ManagedEntry>();
  for (const entry of decodeManagedFields(parent)) {
    const path = replicas(entry.apiVersion);
    if (path === undefined) continue;
    const key = entryKey(entry);
    const holds = has(entry.fields, path);
    const left = holds && !inScale.has(key) ? difference(entry.fields, setOf(path)) : entry.fields;
    if (!isEmpty(left)) entries.set(key, atOnce(withFields(entry, left)));
  }
  const path = replicas(apiVersion);
  for (const { manager, operation, subresource, fields } of there) {
    // It may own the replicas in the status too, which the scale has computed.
    if (path === undefined || !has(fields, scaleReplicas)) continue;
    const own: ManagedEntry = { manager, operation, apiVersion, subresource, time: undefined, fields: setOf(path) };
    const key = entryKey(own);
    const known = entries.get(key);
    if (known === undefined) entries.set(key, own);
    else if (!has(known.fields, path)) entries.set(key, atOnce(withFields(known, unionOf([known.fields, own.fields]))));
  }
  return atOnce(encodeManagedFields([...entries.values()], parent));
}
