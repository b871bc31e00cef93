import type { JsonObject } from '../meta/index.ts';
import { difference, type FieldSet, intersection, isEmpty, unionOf } from './field-set.ts';
import { fieldsOf } from './fields-of.ts';
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
export function prune(
  type: ManagedType,
  object: JsonObject,
  apiVersion: string,
  last: ManagedEntry,
  entries: readonly ManagedEntry[],
): JsonObject {
  const shape = shapeIn(type, last.apiVersion);
  const whole = inVersion(type, object, apiVersion, last.apiVersion);
  if (shape === undefined || whole === undefined) return object;
  const owned = managedIn(last.apiVersion, entries);
  const rest = difference(last.fields, owned);
  if (isEmpty(rest)) return object;
  let left = remove(shape, whole, fieldsToRemove(shape, rest, owned));
  const others = new Set(entries.map((entry) => entry.apiVersion).filter((version) => version !== last.apiVersion));
  for (const version of others) left = addBackOwnedItems(type, whole, left, last.apiVersion, version, entries);
  if (others.size > 0) {
    left = remove(shape, whole, intersection(removedItems(shape, whole, left), withNamedFields(shape, last.fields)));
  }
  return left === whole ? object : (inVersion(type, left, last.apiVersion, apiVersion) ?? object);
}

/** The union of the fields of all entries of one version. */
const managedIn = (apiVersion: string, entries: readonly ManagedEntry[]): FieldSet =>
  unionOf(entries.filter((entry) => entry.apiVersion === apiVersion).map(({ fields }) => fields));

/** The fields of the whole object that the pruned one no longer has. */
function removedItems(shape: StructShape, whole: JsonObject, left: JsonObject): FieldSet {
  return difference(withNamedFields(shape, fieldsOf(shape, whole)), withNamedFields(shape, fieldsOf(shape, left)));
}

/** The pruned object, in the version `from`, with the removed fields that entries of another version own. */
function addBackOwnedItems(
  type: ManagedType,
  whole: JsonObject,
  left: JsonObject,
  from: string,
  version: string,
  entries: readonly ManagedEntry[],
): JsonObject {
  const shape = shapeIn(type, version);
  const wholeThere = inVersion(type, whole, from, version);
  const leftThere = inVersion(type, left, from, version);
  if (shape === undefined || wholeThere === undefined || leftThere === undefined) return left;
  const toRemove = difference(
    removedItems(shape, wholeThere, leftThere),
    withNamedFields(shape, managedIn(version, entries)),
  );
  return inVersion(type, remove(shape, wholeThere, toRemove), version, from) ?? left;
}
