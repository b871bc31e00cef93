import type { JsonObject, Steps, WaitingSteps } from '../meta/index.ts';
import { type FieldSet, isEmpty, unionOf } from './field-set.ts';
import { differenceInSteps, intersectionInSteps } from './field-set-steps.ts';
import { fieldsOfInSteps } from './fields-of.ts';
import type { ManagedEntry } from './managed-fields.ts';
import { fieldsToRemove, withNamedFields } from './reconcile.ts';
import { remove } from './select.ts';
import type { StructShape } from './shape.ts';
import { inVersion, type ManagedType, shapeIn } from './transition.ts';

/**
 * Prunes a merged object, in the version `apiVersion`: removes the fields and entries that the applier owned in its
 * `last` entry and that none of the `entries`, which include the new entry of the applier, owns. Entries and values
 * without a manager stay.
 */
export function* prune(
  type: ManagedType,
  object: JsonObject,
  apiVersion: string,
  last: ManagedEntry,
  entries: readonly ManagedEntry[],
): WaitingSteps<JsonObject> {
  const shape = shapeIn(type, last.apiVersion);
  const whole = yield* inVersion(type, object, apiVersion, last.apiVersion);
  if (shape === undefined || whole === undefined) return object;
  const owned = managedIn(last.apiVersion, entries);
  const released = yield* differenceInSteps(last.fields, owned);
  if (isEmpty(released)) return object;
  const toRemove = fieldsToRemove(shape, released, owned);
  yield;
  let pruned = remove(shape, whole, toRemove);
  const others = new Set(entries.map((entry) => entry.apiVersion).filter((version) => version !== last.apiVersion));
  for (const version of others) {
    pruned = yield* addBackOwnedItems(type, whole, pruned, last.apiVersion, version, entries);
    yield;
  }
  if (others.size > 0) {
    const removed = yield* removedItems(shape, whole, pruned);
    pruned = remove(shape, whole, yield* intersectionInSteps(removed, withNamedFields(shape, last.fields)));
  }
  return pruned === whole ? object : ((yield* inVersion(type, pruned, last.apiVersion, apiVersion)) ?? object);
}

/** Returns the union of the fields of all entries of one version. */
const managedIn = (apiVersion: string, entries: readonly ManagedEntry[]): FieldSet =>
  unionOf(entries.filter((entry) => entry.apiVersion === apiVersion).map(({ fields }) => fields));

/** Returns the fields of the whole object that the pruned one lacks. */
function* removedItems(shape: StructShape, whole: JsonObject, pruned: JsonObject): Steps<FieldSet> {
  const before = withNamedFields(shape, yield* fieldsOfInSteps(shape, whole));
  yield;
  const after = withNamedFields(shape, yield* fieldsOfInSteps(shape, pruned));
  return yield* differenceInSteps(before, after);
}

/** Returns the pruned object, in the version `from`, with the removed fields that entries of another version own. */
function* addBackOwnedItems(
  type: ManagedType,
  whole: JsonObject,
  pruned: JsonObject,
  from: string,
  version: string,
  entries: readonly ManagedEntry[],
): WaitingSteps<JsonObject> {
  const shape = shapeIn(type, version);
  const wholeInVersion = yield* inVersion(type, whole, from, version);
  const prunedInVersion = yield* inVersion(type, pruned, from, version);
  if (shape === undefined || wholeInVersion === undefined || prunedInVersion === undefined) return pruned;
  const removed = yield* removedItems(shape, wholeInVersion, prunedInVersion);
  const toRemove = yield* differenceInSteps(removed, withNamedFields(shape, managedIn(version, entries)));
  yield;
  return (yield* inVersion(type, remove(shape, wholeInVersion, toRemove), version, from)) ?? pruned;
}
