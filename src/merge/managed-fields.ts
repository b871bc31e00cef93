import {
  atOnce,
  equalInSteps,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEqualInSteps,
  Pace,
  StatusError,
  type Steps,
  sortedInSteps,
} from '../meta/index.ts';
import { equalSets, type FieldSet, isEmpty, unionOf } from './field-set.ts';
import { isLargeSet, toFieldsV1InSteps } from './field-set-steps.ts';
import { parseFieldsV1InSteps } from './fields-v1.ts';

/** An entry of `metadata.managedFields`: a field manager, its operation and version, and the fields that it owns. */
export interface ManagedEntry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** RFC 3339: when the entry last changed. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
  /** The JSON that the entry was decoded from. */
  readonly wire?: JsonObject | undefined;
}

/** The identity of an entry within an object. Apply entries of one manager are the same in every version. */
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

/** The entry with other fields, and optionally in another version; the entry itself when nothing changes. */
export function* withFields(entry: ManagedEntry, fields: FieldSet, apiVersion = entry.apiVersion): Steps<ManagedEntry> {
  const same = entry.apiVersion === apiVersion && (entry.fields === fields || (yield* equal(entry.fields, fields)));
  return same ? entry : entryOf(entry, fields, apiVersion);
}

/** The entry with other fields. Spread into an object with other fields, it would get a hidden class of its own in V8. */
const entryOf = (
  entry: Omit<ManagedEntry, 'fields'>,
  fields: FieldSet,
  apiVersion = entry.apiVersion,
  time = entry.time,
): ManagedEntry => {
  const { manager, operation, subresource, wire } = entry;
  return { manager, operation, apiVersion, subresource, time, fields, wire };
};

function* equal(a: FieldSet, b: FieldSet): Steps<boolean> {
  if (!isLargeSet(a) || !isLargeSet(b)) return equalSets(a, b);
  return yield* jsonEqualInSteps(a as JsonObject, b as JsonObject);
}

export const withTime = (entry: ManagedEntry, time: string): ManagedEntry =>
  entryOf(entry, entry.fields, entry.apiVersion, time);

/**
 * Decodes the `metadata.managedFields` of a stored object.
 * @throws StatusError 500 when this server cannot have written them.
 */
export const decodeManagedFields = (entries: Json | undefined): ManagedEntry[] =>
  atOnce(decodeManagedFieldsInSteps(entries));

/** The same in steps: there may be thousands of entries. */
export function* decodeManagedFieldsInSteps(entries: Json | undefined): Steps<ManagedEntry[]> {
  const pace = new Pace();
  const managers: ManagedEntry[] = [];
  for (const entry of entriesOf(entries)) {
    if (pace.over()) yield;
    const decoded = decodeEntry(entry);
    const { fieldsV1 } = decoded;
    if (!isJsonObject(fieldsV1)) throw undecodable('fieldsV1 is not an object');
    managers.push(entryOf(decoded, fieldsV1 as FieldSet));
  }
  return managers;
}

/** Decodes the `metadata.managedFields` of a request; undefined when they are empty or invalid. */
export function* decodeSentManagedFields(entries: Json | undefined): Steps<ManagedEntry[] | undefined> {
  const pace = new Pace();
  try {
    const byKey = new Map<string, ManagedEntry>();
    for (const entry of entriesOf(entries)) {
      if (pace.over(entryVisits)) yield;
      const decoded = decodeEntry(entry);
      byKey.set(entryKey(decoded), entryOf(decoded, yield* parseFieldsV1InSteps(decoded.fieldsV1)));
    }
    return byKey.size === 0 ? undefined : [...byKey.values()];
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

/** The cost of an entry with few fields, in visits of a walk. */
export const entryVisits = 20;

function entriesOf(entries: Json | undefined): Json[] {
  if (entries === undefined || entries === null) return [];
  if (!Array.isArray(entries)) throw undecodable('managedFields is not a list');
  return entries;
}

/** An entry before its fields are decoded. */
function decodeEntry(entry: Json): Omit<ManagedEntry, 'fields'> & { readonly fieldsV1: Json } {
  if (!isJsonObject(entry)) throw undecodable('an entry is not an object');
  const { manager = '', operation, apiVersion, subresource = '', time, fieldsType, fieldsV1 } = entry;
  if (operation !== 'Apply' && operation !== 'Update') throw undecodable('operation must be `Apply` or `Update`');
  if (typeof apiVersion !== 'string' || apiVersion === '') throw undecodable('apiVersion must not be empty');
  if (fieldsType !== 'FieldsV1') throw undecodable('fieldsType must be `FieldsV1`');
  if (typeof manager !== 'string' || typeof subresource !== 'string') throw undecodable('an entry has no manager');
  const at = typeof time === 'string' ? time : undefined;
  return { manager, operation, apiVersion, subresource, time: at, fieldsV1: fieldsV1 ?? {}, wire: entry };
}

const undecodable = (why: string): StatusError =>
  new StatusError(500, '', `failed to decode managed fields: ${why}`, undefined);

/**
 * Encodes entries as `metadata.managedFields`, sorted; undefined when no entry owns a field. Returns the list `before`
 * itself when its entries are the same.
 */
export function* encodeManagedFields(
  managers: readonly ManagedEntry[],
  before: Json[] | undefined,
): Steps<Json[] | undefined> {
  const pace = new Pace();
  const entries: JsonObject[] = [];
  const owners = managers.filter(({ fields }) => !isEmpty(fields));
  for (const entry of yield* sortedInSteps(owners, byOperationAndTime)) {
    if (pace.over(entryVisits)) yield;
    entries.push(yield* encodeEntry(entry));
  }
  if (entries.length === before?.length && entries.every((entry, i) => entry === before[i])) return before;
  return entries.length === 0 ? undefined : entries;
}

function* encodeEntry(entry: ManagedEntry): Steps<JsonObject> {
  const { apiVersion, time, fields, wire } = entry;
  const isUnchanged = wire?.['fieldsV1'] === fields;
  if (isUnchanged && wire['apiVersion'] === apiVersion && (wire['time'] ?? undefined) === time) return wire;
  return entryJson(entry, isUnchanged ? fields : yield* toFieldsV1InSteps(fields));
}

/** The JSON of an entry; `fields`: its fields in their order. */
export function entryJson(
  { manager, operation, apiVersion, time, subresource }: ManagedEntry,
  fields: FieldSet,
): JsonObject {
  const json: JsonObject = { manager, operation, apiVersion };
  if (time !== undefined) json['time'] = time;
  json['fieldsType'] = 'FieldsV1';
  json['fieldsV1'] = fields as JsonObject;
  if (subresource !== '') json['subresource'] = subresource;
  return json;
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

/** How many `Update` entries an object may have before the oldest ones are merged. */
const maxUpdateManagers = 10;
const ancient = 'ancient-changes';

/**
 * The entries with the oldest `Update` entries beyond the limit merged into one `ancient-changes` entry per version.
 */
export function* capUpdateManagers(entries: ManagedEntry[]): Steps<ManagedEntry[]> {
  const updates = entries.filter(({ operation }) => operation === 'Update');
  let count = updates.length;
  if (count <= maxUpdateManagers) return entries;
  const oldestFirst = yield* sortedInSteps(updates, byOperationAndTime);
  const buckets = new Map<string, ManagedEntry[]>();
  for (const entry of oldestFirst) if (entry.manager === ancient) buckets.set(entry.apiVersion, [entry]);
  for (const entry of oldestFirst) {
    if (count <= maxUpdateManagers) break;
    const bucket = buckets.get(entry.apiVersion);
    if (bucket === undefined) {
      buckets.set(entry.apiVersion, [entry]);
    } else if (bucket[0] !== entry) {
      bucket.push(entry);
      count--;
    }
  }
  yield;
  const remaining = new Set(entries);
  for (const [apiVersion, bucket] of buckets) {
    if (bucket.length === 1) continue;
    for (const entry of bucket) remaining.delete(entry);
    const fields = unionOf(bucket.map((entry) => entry.fields));
    const time = bucket.at(-1)?.time;
    remaining.add({ manager: ancient, operation: 'Update', apiVersion, subresource: '', time, fields });
  }
  return [...remaining];
}

/** The managedFields of an object that admission has replaced, in their normal form; undefined when they are invalid. */
export function* admittedManagedFields(
  sent: Json | undefined,
  before: Json[] | undefined,
): Steps<{ readonly entries: Json[] | undefined } | undefined> {
  if (sent === before) return { entries: before };
  if (sent !== undefined && before !== undefined && (yield* equalInSteps(sent, before))) {
    return { entries: before };
  }
  if (sent === undefined || (Array.isArray(sent) && sent.length === 0)) return { entries: undefined };
  const managers = yield* decodeSentManagedFields(sent);
  return managers && { entries: yield* encodeManagedFields(managers, undefined) };
}

/** Whether two lists of managedFields are equal except for their times. */
export function* sameManagedFields(a: Json | undefined, b: Json | undefined): Steps<boolean> {
  if (a === b) return true;
  const before = yield* decodeManagedFieldsInSteps(a);
  const after = yield* decodeManagedFieldsInSteps(b);
  if (before.length !== after.length) return false;
  const byKey = new Map(after.map((entry) => [entryKey(entry), entry]));
  const pace = new Pace();
  for (const entry of before) {
    if (pace.over(entryVisits)) yield;
    const other = byKey.get(entryKey(entry));
    if (other === undefined || other.apiVersion !== entry.apiVersion) return false;
    if (!(yield* equal(entry.fields, other.fields))) return false;
  }
  return true;
}
