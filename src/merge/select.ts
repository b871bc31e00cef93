import { isJsonObject, type Json, type JsonObject, setKey } from '../meta/index.ts';
import { type FieldSet, includesItself, isEmpty } from './field-set.ts';
import { elementOf } from './fields-of.ts';
import { fieldElement } from './path.ts';
import { type ListShape, memberShape, type ObjectShape, type Shape, type StructShape } from './shape.ts';

/**
 * Removes the fields and entries of a set from an object, and the lists that become empty; a struct or map stays, as
 * others may own it. Returns the object itself when it has none of them.
 */
export const remove = (shape: StructShape, object: JsonObject, set: FieldSet): JsonObject =>
  without(shape, object, set) as JsonObject;

/** `node`: the paths to remove below this value. */
function without(shape: Shape, value: Json, node: FieldSet): Json | undefined {
  if (isEmpty(node) || !granular(shape)) return value;
  return shape.kind === 'list' ? listWithout(shape, value, node) : objectWithout(shape, value, node);
}

const granular = (shape: Shape): shape is ObjectShape | ListShape =>
  shape.kind === 'list'
    ? shape.listType !== 'atomic'
    : shape.kind === 'untyped' || ((shape.kind === 'struct' || shape.kind === 'map') && !shape.atomic);

function objectWithout(shape: ObjectShape, value: Json, node: FieldSet): Json {
  if (!isJsonObject(value)) return value;
  const out: JsonObject = {};
  let changed = false;
  for (const key in value) {
    const before = value[key] as Json;
    const removed = node[fieldElement(key)];
    const inner = memberShape(shape, key);
    let after: Json | undefined = before;
    if (removed !== undefined) after = includesItself(removed) ? undefined : inner && without(inner, before, removed);
    if (after !== before) changed = true;
    if (after !== undefined) setKey(out, key, after);
  }
  return changed ? out : value;
}

function listWithout(shape: ListShape, value: Json, node: FieldSet): Json | undefined {
  if (!Array.isArray(value)) return value;
  const out: Json[] = [];
  let changed = false;
  for (const entry of value) {
    const removed = node[elementOf(shape, entry)];
    let after: Json | undefined = entry;
    if (removed !== undefined) after = includesItself(removed) ? undefined : without(shape.element, entry, removed);
    if (after !== entry) changed = true;
    if (after !== undefined) out.push(after);
  }
  if (!changed) return value;
  return out.length === 0 ? undefined : out;
}

/**
 * Extracts the fields and entries of a set, with the keys of every list entry: the applied configuration of a manager
 * that owns exactly this set.
 */
export function extract(shape: StructShape, object: JsonObject, set: FieldSet): JsonObject {
  return (only(shape, object, set) as JsonObject | undefined) ?? {};
}

function only(shape: Shape, value: Json, node: FieldSet): Json | undefined {
  if (!granular(shape)) return value;
  if (shape.kind === 'list') {
    if (!Array.isArray(value)) return value;
    const out = value.flatMap((entry) => {
      const ownedFields = node[elementOf(shape, entry)];
      return ownedFields === undefined ? [] : [entryOnly(shape, entry, ownedFields)];
    });
    return out.length === 0 ? undefined : out;
  }
  if (!isJsonObject(value)) return value;
  const out: JsonObject = {};
  for (const key in value) {
    const ownedFields = node[fieldElement(key)];
    const inner = memberShape(shape, key);
    const part =
      ownedFields === undefined || inner === undefined ? undefined : only(inner, value[key] as Json, ownedFields);
    if (part !== undefined) setKey(out, key, part);
    else if (ownedFields !== undefined && includesItself(ownedFields))
      setKey(out, key, Array.isArray(value[key]) ? [] : {});
  }
  return isEmpty(out as FieldSet) ? undefined : out;
}

function entryOnly(shape: ListShape, entry: Json, ownedFields: FieldSet): Json {
  const part = only(shape.element, entry, ownedFields);
  if (!isJsonObject(entry)) return part ?? entry;
  const out: JsonObject = isJsonObject(part) ? { ...part } : {};
  for (const { name } of shape.keys) if (Object.hasOwn(entry, name)) out[name] ??= entry[name] as Json;
  return out;
}
