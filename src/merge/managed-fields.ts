import { isJsonObject, type Json, type JsonObject, StatusError } from '../meta/index.ts';
import { equalSets, type FieldSet, isEmpty, unionOf } from './field-set.ts';
import { parseFieldSet, toWire } from './wire-form.ts';

/** One entry of `metadata.managedFields`: who owns what, by which operation, in which version of the type. */
export interface ManagedEntry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** RFC 3339; when the manager last changed something of its own. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
  /** The entry that it was read from. */
  readonly wire?: JsonObject;
}

/** Tells the owners of one object apart: an applier is the same one in every version. */
export function entryKey({
  manager,
  operation,
  apiVersion,
  subresource,
}: Omit<ManagedEntry, 'time' | 'fields'>): string {
  return JSON.stringify({
    manager,
    operation,
    ...(operation === 'Apply' ? {} : { apiVersion }),
    ...(subresource === '' ? {} : { subresource }),
  });
}

export const sameManager = (
  a: Omit<ManagedEntry, 'time' | 'fields'>,
  b: Omit<ManagedEntry, 'time' | 'fields'>,
): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  (a.operation === 'Apply' || a.apiVersion === b.apiVersion);

/** The owner with other fields, in another version too; itself when nothing changes. */
export function withFields(entry: ManagedEntry, fields: FieldSet, apiVersion = entry.apiVersion): ManagedEntry {
  if (entry.apiVersion === apiVersion && (entry.fields === fields || equalSets(entry.fields, fields))) return entry;
  return { ...entry, apiVersion, fields };
}

export const withTime = (entry: ManagedEntry, time: string): ManagedEntry => ({ ...entry, time });

/**
 * The owners that an object's own managedFields name, as this server wrote them.
 * @throws StatusError 500 when they cannot have been.
 */
export function decodeManagedFields(entries: Json | undefined): ManagedEntry[] {
  return decodeEntries(entries, (fields) => {
    if (!isJsonObject(fields)) throw undecodable('fieldsV1 is no object');
    return fields as FieldSet;
  });
}

/** The owners that a client named; undefined when it named none, or none that hold. */
export function decodeSentManagedFields(entries: Json | undefined): ManagedEntry[] | undefined {
  try {
    const byKey = new Map<string, ManagedEntry>();
    for (const entry of decodeEntries(entries, parseFieldSet)) byKey.set(entryKey(entry), entry);
    return byKey.size === 0 ? undefined : [...byKey.values()];
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

function decodeEntries(entries: Json | undefined, fieldsOf: (wire: Json | undefined) => FieldSet): ManagedEntry[] {
  if (entries === undefined || entries === null) return [];
  if (!Array.isArray(entries)) throw undecodable('managedFields is no list');
  return entries.map((entry) => {
    if (!isJsonObject(entry)) throw undecodable('an entry is no object');
    const { manager = '', operation, apiVersion, subresource = '', time, fieldsType, fieldsV1 } = entry;
    if (operation !== 'Apply' && operation !== 'Update') throw undecodable('operation must be `Apply` or `Update`');
    if (typeof apiVersion !== 'string' || apiVersion === '') throw undecodable('apiVersion must not be empty');
    if (fieldsType !== 'FieldsV1') throw undecodable('fieldsType must be `FieldsV1`');
    if (typeof manager !== 'string' || typeof subresource !== 'string') throw undecodable('an entry has no manager');
    const at = typeof time === 'string' ? time : undefined;
    return { manager, operation, apiVersion, subresource, time: at, fields: fieldsOf(fieldsV1 ?? {}), wire: entry };
  });
}

const undecodable = (why: string): StatusError =>
  new StatusError(500, '', `failed to decode managed fields: ${why}`, undefined);

/**
 * `metadata.managedFields` for these owners, in the order of the wire; undefined when nobody owns anything. It is the
 * list of before itself when it holds the same entries.
 */
export function encodeManagedFields(owners: readonly ManagedEntry[], before: Json[] | undefined): Json[] | undefined {
  const entries = owners
    .filter(({ fields }) => !isEmpty(fields))
    .sort(byOperationAndTime)
    .map(encodeEntry);
  if (entries.length === before?.length && entries.every((entry, i) => entry === before[i])) return before;
  return entries.length === 0 ? undefined : entries;
}

function encodeEntry(entry: ManagedEntry): JsonObject {
  const { manager, operation, apiVersion, time, fields, subresource, wire } = entry;
  const kept = wire?.['fieldsV1'] === fields;
  if (kept && wire['apiVersion'] === apiVersion && (wire['time'] ?? undefined) === time) return wire;
  return {
    manager,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: kept ? fields : toWire(fields),
    ...(subresource === '' ? {} : { subresource }),
  };
}

function byOperationAndTime(a: ManagedEntry, b: ManagedEntry): number {
  return (
    order(a.operation, b.operation) ||
    order(a.time ?? '', b.time ?? '') ||
    order(a.manager, b.manager) ||
    order(a.apiVersion, b.apiVersion) ||
    order(a.subresource, b.subresource)
  );
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** How many `Update` entries an object keeps before the oldest ones are put together. */
const maxUpdateManagers = 10;
const ancient = 'ancient-changes';

/** The owners with the oldest updates of the same version put together, as many as are too many. */
export function capUpdateManagers(entries: ManagedEntry[]): ManagedEntry[] {
  const oldestFirst = entries.filter(({ operation }) => operation === 'Update').sort(byOperationAndTime);
  let count = oldestFirst.length;
  if (count <= maxUpdateManagers) return entries;
  const buckets = new Map<string, ManagedEntry[]>();
  for (const entry of oldestFirst) if (entry.manager === ancient) buckets.set(entry.apiVersion, [entry]);
  for (const owner of oldestFirst) {
    if (count <= maxUpdateManagers) break;
    const bucket = buckets.get(owner.apiVersion);
    if (bucket === undefined) {
      buckets.set(owner.apiVersion, [owner]);
    } else if (bucket[0] !== owner) {
      bucket.push(owner);
      count--;
    }
  }
  const kept = new Set(entries);
  for (const [apiVersion, bucket] of buckets) {
    if (bucket.length === 1) continue;
    for (const owner of bucket) kept.delete(owner);
    const fields = unionOf(bucket.map((owner) => owner.fields));
    const time = bucket.at(-1)?.time;
    kept.add({ manager: ancient, operation: 'Update', apiVersion, subresource: '', time, fields });
  }
  return [...kept];
}

/** Whether two lists of managedFields say the same but for their times. */
export function sameManagedFields(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  const [before, after] = [decodeManagedFields(a), decodeManagedFields(b)];
  if (before.length !== after.length) return false;
  const byKey = new Map(after.map((entry) => [entryKey(entry), entry]));
  return before.every((owner) => {
    const other = byKey.get(entryKey(owner));
    return other !== undefined && other.apiVersion === owner.apiVersion && equalSets(owner.fields, other.fields);
  });
}
