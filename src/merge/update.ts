import { type ApiObject, isJsonObject, type Json, jsonEqual, StatusError, type Steps } from '../meta/index.ts';
import { difference, isEmpty, union } from './field-set.ts';
import {
  capUpdateOwners,
  givenOwners,
  managedFieldsOf,
  type Owner,
  sameOwner,
  storedOwners,
  withFields,
  withTime,
} from './owners.ts';
import { type Changed, dispossessed, type OwnedType, reconciledOwners, Transition, type Writer } from './transition.ts';

/** A write that is no apply: create, replace, any other patch. */
export interface Update {
  readonly type: OwnedType;
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
export function* trackUpdate({ type, writer, before, after }: Update): Steps<Json[] | undefined> {
  const { manager, apiVersion, subresource = '', now } = writer;
  const owners = reconciledOwners(type, ownersToStartFrom(before, after, subresource !== ''));
  yield;
  const transition = new Transition(type, apiVersion, before, after);
  const changes = transition.in(apiVersion);
  yield;
  const stored = before?.metadata.managedFields;
  if (changes === undefined) return managedFieldsOf(owners, stored);
  const writerId = { manager, operation: 'Update', apiVersion, subresource } as const;
  const mine = owners.find((owner) => sameOwner(owner, writerId));
  const others = mine === undefined ? owners : owners.filter((owner) => owner !== mine);
  const left = dispossessed(others, transition);
  yield;
  const self = writerAfter(mine ?? { ...writerId, time: undefined, fields: {} }, changes, now);
  yield;
  if (self !== undefined) left.push(self);
  return managedFieldsOf(capUpdateOwners(left), stored);
}

/** The writer's own entry; undefined when it owns nothing. Its time moves when the writer gives something a value. */
function writerAfter(mine: Owner, { taken, removed }: Changed, now: string): Owner | undefined {
  const fields = union(difference(mine.fields, removed), taken);
  if (isEmpty(fields)) return undefined;
  return isEmpty(taken) ? withFields(mine, fields) : withTime(withFields(mine, fields), now);
}

function ownersToStartFrom(before: ApiObject | undefined, after: ApiObject, subresource: boolean): Owner[] {
  const stored = before?.metadata.managedFields;
  const given = after.metadata.managedFields;
  if (!subresource && given !== undefined && !jsonEqual(given, stored)) {
    if (clears(given)) return [];
    const owners = givenOwners(given);
    if (owners !== undefined) return owners;
  }
  return storedOrNone(stored);
}

/** Entries that cannot be read own nothing. */
function storedOrNone(stored: Json | undefined): Owner[] {
  try {
    return storedOwners(stored);
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
