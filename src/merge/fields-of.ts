import { isJsonObject, type Json, type JsonObject } from '../meta/index.ts';
import { type FieldSet, type FieldSetDraft, finished, isEmpty, itself, leaf } from './field-set.ts';
import { type Element, entryElement, fieldElement, valueElement } from './path.ts';
import { free, type ListShape, type MapShape, type Shape, type StructShape } from './shape.ts';

/**
 * What an applier of this object owns: its scalar fields, what is atomic, the entries of its maps and lists, and maps
 * and structs that are empty. Structs, maps and lists that hold something are not owned themselves, and an empty list
 * of entries is not owned at all.
 */
export function fieldsOf(shape: StructShape, object: JsonObject): FieldSet {
  return nodeOf(shape, object, false, false) ?? leaf;
}

/** A value with everything in it, itself included: what appears or disappears with it. */
export function wholeOf(shape: Shape, value: Json): FieldSet | undefined {
  return nodeOf(shape, value, true, true);
}

/** `self`: the value counts itself; `whole`: so do structs, maps and lists in it. Undefined when nothing counts. */
function nodeOf(shape: Shape, value: Json, self: boolean, whole: boolean): FieldSet | undefined {
  switch (shape.kind) {
    case 'scalar':
      return leaf;
    case 'unowned':
      return undefined;
    case 'free':
      return isJsonObject(value) ? entriesOf(free, value, self, whole) : leaf;
    case 'list':
      if (shape.listType === 'atomic' || value === null) return leaf;
      return Array.isArray(value) ? listNode(shape, value, self, whole) : undefined;
    default:
      if (shape.atomic) return leaf;
      if (!isJsonObject(value)) return value === null ? leaf : undefined;
      return shape.kind === 'map' ? entriesOf(shape.value, value, self, whole) : structNode(shape, value, self, whole);
  }
}

const start = (self: boolean): FieldSetDraft => (self ? { [itself]: leaf } : {});

function structNode(shape: StructShape, value: JsonObject, self: boolean, whole: boolean): FieldSet | undefined {
  const { fields, bare } = shape;
  if (isEmpty(value as FieldSet)) return bare ? undefined : leaf;
  const out = start(self && !bare);
  for (const name in value) {
    const field = fields.get(name);
    if (field === undefined) continue;
    const node = nodeOf(field.shape, value[name] as Json, whole, whole);
    if (node !== undefined) out[field.element] = node;
  }
  return finished(out);
}

/** The entries of a map each count themselves, and so does a map without any. */
function entriesOf(shape: MapShape['value'], value: JsonObject, self: boolean, whole: boolean): FieldSet {
  const out = start(self);
  for (const key in value) out[fieldElement(key)] = nodeOf(shape, value[key] as Json, true, whole) ?? leaf;
  return finished(out) ?? leaf;
}

/** The entries of a list each count themselves; one that is there several times counts as one value. */
function listNode(shape: ListShape, list: readonly Json[], self: boolean, whole: boolean): FieldSet | undefined {
  const out = start(self);
  for (const entry of list) {
    const element = elementOf(shape, entry);
    out[element] = out[element] === undefined ? (nodeOf(shape.element, entry, true, whole) ?? leaf) : leaf;
  }
  return finished(out);
}

/** The element that tells an entry of a list that is not atomic from the others. */
export function elementOf(shape: ListShape, entry: Json): Element {
  return shape.listType === 'map' ? entryElement(shape.keys, entry) : valueElement(entry);
}

/**
 * Tells the entries of a list apart as their elements do, and costs less: the text itself where entries are told apart
 * by one text.
 */
export function identityOf(shape: ListShape, entry: Json): string {
  let value: Json | undefined = entry;
  const [key] = shape.keys;
  if (key !== undefined && shape.keys.length === 1 && isJsonObject(entry)) {
    value = Object.hasOwn(entry, key.name) ? entry[key.name] : key.default;
  }
  return typeof value === 'string' ? value : `\0${elementOf(shape, entry)}`;
}
