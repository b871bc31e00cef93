import {
  type ApiObject,
  equalInSteps,
  isJsonObject,
  isLarge,
  type Json,
  StatusError,
  type Steps,
  type WaitingSteps,
} from '../meta/index.ts';
import { isEmpty } from './field-set.ts';
import { differenceInSteps, unionInSteps } from './field-set-steps.ts';
import { sorted } from './fields-v1.ts';
import {
  capUpdateManagers,
  decodeManagedFieldsInSteps,
  decodeSentManagedFields,
  encodeManagedFields,
  entryJson,
  type ManagedEntry,
  sameManager,
  withFields,
  withTime,
} from './managed-fields.ts';
import { UnkeyedEntryError } from './path.ts';
import {
  Comparisons,
  type FieldChanges,
  fieldsOfNew,
  type ManagedType,
  reconcileEntries,
  stripChangedFields,
  type Writer,
} from './transition.ts';

/** A write with the operation `Update`: create, replace, and any patch that is not an apply. */
export interface Update {
  readonly type: ManagedType;
  readonly writer: Writer;
  /** The live object; undefined for a create. */
  readonly before: ApiObject | undefined;
  /** The new object, decoded and defaulted. Its `metadata.managedFields` are those of the request. */
  readonly after: ApiObject;
}

/**
 * `metadata.managedFields` after an update; undefined when no manager owns a field. The writer owns the fields that the
 * update changes; all other managers lose these fields and the removed ones. An object without managed fields gets none
 * by an update: the first apply then finds all of its fields without an owner. A list of one empty entry in `after`
 * resets the managed fields of before the write; other entries in it replace them; an empty list does not. Returns the
 * list of `before` itself when it is unchanged. Nobody owns a field of an object with entries that lack their keys.
 * Never conflicts. Runs in steps, because objects may be large.
 */
export function* updateManagedFields(update: Update): WaitingSteps<Json[] | undefined> {
  try {
    return yield* fieldsAfter(update);
  } catch (error) {
    if (error instanceof UnkeyedEntryError) return undefined;
    throw error;
  }
}

function* fieldsAfter(update: Update): WaitingSteps<Json[] | undefined> {
  const { type, writer, before, after } = update;
  if (before === undefined && after.metadata.managedFields === undefined && !isLarge(after)) return firstEntry(update);
  const { manager, apiVersion, subresource = '', now } = writer;
  const initial = yield* initialEntries(before, after, subresource !== '');
  if (initial === undefined) return undefined;
  const entries = yield* reconcileEntries(type, initial);
  yield;
  const transition = new Comparisons(type, apiVersion, before, after);
  const changes = yield* transition.in(apiVersion);
  yield;
  const stored = before?.metadata.managedFields;
  if (changes === undefined) return yield* encodeManagedFields(entries, stored);
  const writerId = { manager, operation: 'Update', apiVersion, subresource } as const;
  const mine = entries.find((entry) => sameManager(entry, writerId));
  const others = mine === undefined ? entries : entries.filter((entry) => entry !== mine);
  const left = yield* stripChangedFields(others, transition);
  yield;
  const added = { manager, operation: 'Update', apiVersion, subresource, time: undefined, fields: {} } as const;
  const self = yield* writerEntry(mine ?? added, changes, now);
  yield;
  if (self !== undefined) left.push(self);
  return yield* encodeManagedFields(yield* capUpdateManagers(left), stored);
}

/** The managed fields of a small new object that names none: its writer owns what it sets. */
function firstEntry({ type, writer, after }: Update): Json[] | undefined {
  const { manager, apiVersion, subresource = '', now } = writer;
  const fields = fieldsOfNew(type, apiVersion, after);
  if (fields === undefined || isEmpty(fields)) return undefined;
  const entry = { manager, operation: 'Update', apiVersion, subresource, time: now, fields } as const;
  return [entryJson(entry, sorted(fields))];
}

/** The writer's entry; undefined when it owns no field. Its time changes when the write assigns a field. */
function* writerEntry(
  mine: ManagedEntry,
  { assigned, removed }: FieldChanges,
  now: string,
): Steps<ManagedEntry | undefined> {
  const fields = yield* unionInSteps(yield* differenceInSteps(mine.fields, removed), assigned);
  if (isEmpty(fields)) return undefined;
  const entry = yield* withFields(mine, fields);
  return isEmpty(assigned) ? entry : withTime(entry, now);
}

/** The entries before the write; undefined for an object without any, whose fields have no owners before an apply. */
function* initialEntries(
  before: ApiObject | undefined,
  after: ApiObject,
  subresource: boolean,
): Steps<ManagedEntry[] | undefined> {
  const stored = before?.metadata.managedFields;
  const sent = after.metadata.managedFields;
  if (!subresource && sent !== undefined && !(yield* equalInSteps(sent, stored))) {
    if (resetsManagedFields(sent)) return [];
    const entries = yield* decodeSentManagedFields(sent);
    if (entries !== undefined) return entries;
  }
  const entries = yield* decodedOrNone(stored);
  return entries.length === 0 && before !== undefined ? undefined : entries;
}

/** No entries when the stored managed fields cannot be decoded. */
function* decodedOrNone(stored: Json | undefined): Steps<ManagedEntry[]> {
  try {
    return yield* decodeManagedFieldsInSteps(stored);
  } catch (error) {
    if (error instanceof StatusError) return [];
    throw error;
  }
}

/** Whether the list holds one empty entry, which resets the managed fields. */
function resetsManagedFields(sent: readonly Json[]): boolean {
  const [entry] = sent;
  return (
    sent.length === 1 && isJsonObject(entry) && Object.values(entry).every((value) => value === null || value === '')
  );
}
