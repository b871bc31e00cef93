import type { JsonObject } from '../meta/index.ts';
import { difference, type FieldSet, intersection, isEmpty, unionOf } from './field-set.ts';
import { fieldsOf } from './fields-of.ts';
import type { ManagedEntry } from './managed-fields.ts';
import { withHeldFields, withoutHolders } from './reconcile.ts';
import { remove } from './select.ts';
import type { StructShape } from './shape.ts';
import { inVersion, type ManagedType, shapeIn } from './transition.ts';

/**
 * An object, in the version `apiVersion`, without what an applier no longer applies: everything that it owned `last`,
 * and that no one of the owners (who hold the applier with what it applies now) owns. Entries and values that nobody
 * owns stay.
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
  const owned = ownedIn(last.apiVersion, entries);
  const rest = difference(last.fields, owned);
  if (isEmpty(rest)) return object;
  let left = remove(shape, whole, withoutHolders(shape, rest, owned));
  const others = new Set(entries.map((entry) => entry.apiVersion).filter((version) => version !== last.apiVersion));
  for (const version of others) left = addBack(type, whole, left, last.apiVersion, version, entries);
  if (others.size > 0) {
    left = remove(shape, whole, intersection(lost(shape, whole, left), withHeldFields(shape, last.fields)));
  }
  return left === whole ? object : (inVersion(type, left, last.apiVersion, apiVersion) ?? object);
}

/** What the owners of one version own together. */
const ownedIn = (apiVersion: string, entries: readonly ManagedEntry[]): FieldSet =>
  unionOf(entries.filter((entry) => entry.apiVersion === apiVersion).map(({ fields }) => fields));

/** What is in the whole object and not in what is left of it. */
function lost(shape: StructShape, whole: JsonObject, left: JsonObject): FieldSet {
  return difference(withHeldFields(shape, fieldsOf(shape, whole)), withHeldFields(shape, fieldsOf(shape, left)));
}

/** What is left, in the version `from`, with what the owners of another version own. */
function addBack(
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
  const gone = difference(lost(shape, wholeThere, leftThere), withHeldFields(shape, ownedIn(version, entries)));
  return inVersion(type, remove(shape, wholeThere, gone), version, from) ?? left;
}
