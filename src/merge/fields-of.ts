import { isJsonObject, type Json, type JsonObject } from '../meta/index.ts';
import { emptySet, type FieldSet, type FieldSetDraft, finished, isEmpty, itself, leaf } from './field-set.ts';
import { type Element, entryElement, fieldElement, valueElement } from './path.ts';
import { free, type ListShape, type MapShape, type Shape, type StructShape } from './shape.ts';

/**
 * What an applier of this object owns: its scalar fields, what is atomic, the entries of its maps and lists, and maps
 * and structs that are empty. Structs, maps and lists that hold something are not owned themselves, and an empty list
 * of entries is not owned at all.
 */
export function fieldsOf(shape: StructShape, object: JsonObject): FieldSet {
  return nodeOf(shape, object, false) ?? emptySet;
}

/** A value with everything in it, itself included: what appears or disappears with it. */
export function wholeOf(shape: Shape, value: Json): FieldSet | undefined {
  return nodeOf(shape, value, true);
}

/** `whole`: structs, maps and lists count themselves, too. */
function nodeOf(shape: Shape, value: Json, whole: boolean): FieldSet | undefined {
  switch (shape.kind) {
    case 'scalar':
      return leaf;
    case 'unowned':
      return undefined;
    case 'free':
      return isJsonObject(value) ? entriesOf(free, value, whole) : leaf;
    case 'list':
      if (shape.listType === 'atomic' || value === null) return leaf;
      return Array.isArray(value) ? listNode(shape, value, whole) : undefined;
    default:
      if (shape.atomic) return leaf;
      if (!isJsonObject(value)) return value === null ? leaf : undefined;
      return shape.kind === 'map' ? entriesOf(shape.value, value, whole) : structNode(shape, value, whole);
  }
}

function structNode(shape: StructShape, value: JsonObject, whole: boolean): FieldSet | undefined {
  const { fields, bare } = shape;
  if (isEmpty(value as FieldSet)) return bare ? undefined : leaf;
  const out: FieldSetDraft = whole && !bare ? { [itself]: leaf } : {};
  for (const name in value) {
    const field = fields.get(name);
    if (field === undefined) continue;
    const node = nodeOf(field.shape, value[name] as Json, whole);
    if (node !== undefined) out[field.element] = node;
  }
  return finished(out);
}

/** The entries of a map each count themselves. */
function entriesOf(shape: MapShape['value'], value: JsonObject, whole: boolean): FieldSet {
  const out: FieldSetDraft = whole ? { [itself]: leaf } : {};
  for (const key in value) out[fieldElement(key)] = counted(nodeOf(shape, value[key] as Json, whole));
  return finished(out) ?? leaf;
}

function listNode(shape: ListShape, list: readonly Json[], whole: boolean): FieldSet | undefined {
  const out: FieldSetDraft = whole ? { [itself]: leaf } : {};
  for (const entry of list) {
    const element = elementOf(shape, entry);
    // An entry that is there several times counts as one value.
    out[element] = out[element] === undefined ? counted(nodeOf(shape.element, entry, whole)) : leaf;
  }
  return finished(out);
}

/** A node that is itself in the set. */
function counted(node: FieldSet | undefined): FieldSet {
  if (node === undefined) return leaf;
  return node[itself] !== undefined || isEmpty(node) ? node : { [itself]: leaf, ...node };
}

/** The element that tells an entry of a list that is not atomic from the others. */
export function elementOf(shape: ListShape, entry: Json): Element {
  return shape.listType === 'map' ? entryElement(shape.keys, entry) : valueElement(entry);
}
