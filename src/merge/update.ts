import { type ApiObject, isJsonObject, type Json, jsonEqual, StatusError, type Steps } from '../meta/index.ts';
import { difference, isEmpty, union } from './field-set.ts';
import {
  capUpdateManagers,
  decodeManagedFields,
  decodeSentManagedFields,
  encodeManagedFields,
  type ManagedEntry,
  sameManager,
  withFields,
  withTime,
} from './managed-fields.ts';
import {
  Comparisons,
  type FieldChanges,
  type ManagedType,
  reconcileEntries,
  stripChangedFields,
  type Writer,
} from './transition.ts';

/** A write that is no apply: create, replace, any other patch. */
export interface Update {
  readonly type: ManagedType;
  readonly writer: Writer;
  /** The object before; undefined when it is created. */
  readonly before: ApiObject | undefined;
  /** The object to be, decoded and with its defaults. Its `metadata.managedFields` are what the client gave. */
  readonly after: ApiObject;
}

/**
 * `metadata.managedFields` after a write that is no apply; undefined when nobody owns anything. Whatever the write
 * changes becomes the writer's and nobody else's, whatever it removes nobody's. A list of one empty entry in `after`
 * clears what was owned before the write; other entries in it take the place of the old ones, an empty list does not.
 * The very list of `before` comes back when it still holds. Never fails on a conflict. In steps, for the sake of large
 * objects.
 */
export function* updateManagedFields({ type, writer, before, after }: Update): Steps<Json[] | undefined> {
  const { manager, apiVersion, subresource = '', now } = writer;
  const entries = reconcileEntries(type, ownersToStartFrom(before, after, subresource !== ''));
  yield;
  const transition = new Comparisons(type, apiVersion, before, after);
  const changes = transition.in(apiVersion);
  yield;
  const stored = before?.metadata.managedFields;
  if (changes === undefined) return encodeManagedFields(entries, stored);
  const writerId = { manager, operation: 'Update', apiVersion, subresource } as const;
  const mine = entries.find((entry) => sameManager(entry, writerId));
  const others = mine === undefined ? entries : entries.filter((owner) => owner !== mine);
  const left = stripChangedFields(others, transition);
  yield;
  const self = writerAfter(mine ?? { ...writerId, time: undefined, fields: {} }, changes, now);
  yield;
  if (self !== undefined) left.push(self);
  return encodeManagedFields(capUpdateManagers(left), stored);
}

/** The writer's own entry; undefined when it owns nothing. Its time moves when the writer gives something a value. */
function writerAfter(mine: ManagedEntry, { taken, removed }: FieldChanges, now: string): ManagedEntry | undefined {
  const fields = union(difference(mine.fields, removed), taken);
  if (isEmpty(fields)) return undefined;
  return isEmpty(taken) ? withFields(mine, fields) : withTime(withFields(mine, fields), now);
}

function ownersToStartFrom(before: ApiObject | undefined, after: ApiObject, subresource: boolean): ManagedEntry[] {
  const stored = before?.metadata.managedFields;
  const given = after.metadata.managedFields;
  if (!subresource && given !== undefined && !jsonEqual(given, stored)) {
    if (clears(given)) return [];
    const entries = decodeSentManagedFields(given);
    if (entries !== undefined) return entries;
  }
  return storedOrNone(stored);
}

/** Entries that cannot be read own nothing. */
function storedOrNone(stored: Json | undefined): ManagedEntry[] {
  try {
    return decodeManagedFields(stored);
  } catch (error) {
    if (error instanceof StatusError) return [];
    throw error;
  }
}

/** The list with one empty entry. */
function clears(given: readonly Json[]): boolean {
  const [entry] = given;
  return (
    given.length === 1 && isJsonObject(entry) && Object.values(entry).every((value) => value === null || value === '')
  );
}
