import { isJsonObject, type Json, type JsonObject, largeWeight, Pace, type Steps, weigh } from '../meta/index.ts';
import { type FieldSet, type FieldSetDraft, isEmpty, itself, leaf, toNode } from './field-set.ts';
import { entryElement, fieldElement, type PathElement, valueElement } from './path.ts';
import { type ListShape, type MapShape, type Shape, type StructShape, type UntypedShape, untyped } from './shape.ts';

/**
 * The field set of an applied configuration: its scalar fields, its atomic values, the entries of its granular maps and
 * associative lists, and its empty maps and structs. Structs, maps and lists with members are not in the set
 * themselves, and an empty associative list is not either. Nodes that equal those of a `known` set are shared with it,
 * up to the set itself; no associative list of the object may then have duplicates.
 */
export function fieldsOf(shape: StructShape, object: JsonObject, known?: FieldSet): FieldSet {
  return nodeOf(shape, object, false, false, known) ?? leaf;
}

/** The field set of a value that is added or removed as a whole: the value and everything in it. */
export function wholeOf(shape: Shape, value: Json): FieldSet | undefined {
  return nodeOf(shape, value, true, true, undefined);
}

type Known = FieldSet | undefined;

/** The same as {@link fieldsOf} in steps, for a large object. */
export function* fieldsOfInSteps(shape: StructShape, object: JsonObject, known?: FieldSet): Steps<FieldSet> {
  return (yield* nodeOfInSteps(shape, object, { self: false, whole: false, known }, new Pace())) ?? leaf;
}

/** The same as {@link wholeOf} in steps, for a large value. */
export const wholeOfInSteps = (shape: Shape, value: Json, pace: Pace): Steps<FieldSet | undefined> =>
  nodeOfInSteps(shape, value, { self: true, whole: true, known: undefined }, pace);

interface NodeOptions {
  readonly self: boolean;
  readonly whole: boolean;
  readonly known: Known;
}

function* nodeOfInSteps(shape: Shape, value: Json, options: NodeOptions, pace: Pace): Steps<FieldSet | undefined> {
  const { self, whole, known } = options;
  const weight = weigh(value);
  if (pace.over(weight)) yield;
  if (weight < largeWeight) return nodeOf(shape, value, self, whole, known);
  if (shape.kind === 'list' && shape.listType !== 'atomic' && Array.isArray(value)) {
    const list = new ListBuilder(shape, value, self, known);
    for (const entry of value) {
      const knownChild = list.next(entry);
      const node = yield* nodeOfInSteps(shape.element, entry, { self: true, whole, known: knownChild }, pace);
      list.put(node, knownChild);
    }
    return list.node();
  }
  const isMap = shape.kind === 'untyped' || (shape.kind === 'map' && !shape.atomic);
  if (!isJsonObject(value) || !(isMap || (shape.kind === 'struct' && !shape.atomic))) {
    return nodeOf(shape, value, self, whole, known);
  }
  const bare = shape.kind === 'struct' && shape.bare;
  const members = new NodeBuilder(self && !bare, known);
  for (const name in value) {
    const place = placeOf(shape, name);
    if (place === undefined) continue;
    const knownChild = known?.[place.element];
    const inner = { self: isMap || whole || !place.declared, whole, known: knownChild };
    const node = yield* nodeOfInSteps(place.shape, value[name] as Json, inner, pace);
    if (node !== undefined || isMap) members.put(place.element, node ?? leaf, knownChild);
  }
  return members.node() ?? (isMap ? leaf : undefined);
}

/** Where a member of an object belongs in a field set; undefined for a field that nobody owns. */
function placeOf(shape: MapShape | UntypedShape | StructShape, name: string) {
  if (shape.kind === 'untyped') return { element: fieldElement(name), shape: untyped, declared: true };
  if (shape.kind === 'map') return { element: fieldElement(name), shape: shape.value, declared: true };
  const field = shape.fields.get(name);
  if (field !== undefined) return { element: field.element, shape: field.shape, declared: true };
  return shape.open ? { element: fieldElement(name), shape: untyped, declared: false } : undefined;
}

/** `self`: the value is in the set; `whole`: so are structs, maps and lists below it. Undefined for an empty node. */
function nodeOf(shape: Shape, value: Json, self: boolean, whole: boolean, known: Known): FieldSet | undefined {
  switch (shape.kind) {
    case 'scalar':
      return leaf;
    case 'unowned':
      return undefined;
    case 'untyped':
      return isJsonObject(value) ? entriesOf(untyped, value, self, whole, known) : leaf;
    case 'list':
      if (shape.listType === 'atomic' || value === null) return leaf;
      return Array.isArray(value) ? listNode(shape, value, self, whole, known) : undefined;
    default:
      if (shape.atomic) return leaf;
      if (!isJsonObject(value)) return value === null ? leaf : undefined;
      return shape.kind === 'map'
        ? entriesOf(shape.value, value, self, whole, known)
        : structNode(shape, value, self, whole, known);
  }
}

function structNode(
  { fields, bare, open }: StructShape,
  value: JsonObject,
  self: boolean,
  whole: boolean,
  known: Known,
): FieldSet | undefined {
  if (isEmpty(value as FieldSet)) return bare ? undefined : leaf;
  const members = new NodeBuilder(self && !bare, known);
  for (const name in value) {
    const field = fields.get(name);
    if (field === undefined && !open) continue;
    const element = field?.element ?? fieldElement(name);
    const knownChild = known?.[element];
    // Undeclared fields are in the set like the entries of a map.
    const node = nodeOf(field?.shape ?? untyped, value[name] as Json, whole || field === undefined, whole, knownChild);
    if (node !== undefined) members.put(element, node, knownChild);
  }
  return members.node();
}

/** Every entry of a map is in the set, and so is a map without entries. */
function entriesOf(shape: MapShape['value'], value: JsonObject, self: boolean, whole: boolean, known: Known): FieldSet {
  const members = new NodeBuilder(self, known);
  for (const key in value) {
    const element = fieldElement(key);
    const knownChild = known?.[element];
    members.put(element, nodeOf(shape, value[key] as Json, true, whole, knownChild) ?? leaf, knownChild);
  }
  return members.node() ?? leaf;
}

/** Every entry of an associative list is in the set; duplicates count as one value. */
function listNode(
  shape: ListShape,
  list: readonly Json[],
  self: boolean,
  whole: boolean,
  known: Known,
): FieldSet | undefined {
  const builder = new ListBuilder(shape, list, self, known);
  for (const entry of list) {
    const knownChild = builder.next(entry);
    builder.put(nodeOf(shape.element, entry, true, whole, knownChild), knownChild);
  }
  return builder.node();
}

/** Collects the entries of an associative list, one after the other. */
class ListBuilder {
  readonly #shape: ListShape;
  readonly #list: readonly Json[];
  readonly #known: Known;
  readonly #members: NodeBuilder;
  readonly #knownElements: ListElements['entries'] | undefined;
  #element: PathElement = '';
  #index = 0;

  constructor(shape: ListShape, list: readonly Json[], self: boolean, known: Known) {
    this.#shape = shape;
    this.#list = list;
    this.#known = known;
    this.#members = new NodeBuilder(self, known);
    this.#knownElements = known && elementsOf(known, shape);
  }

  /** The known node of the next entry. */
  next(entry: Json): Known {
    const knownElement = this.#knownElements?.[this.#index++];
    const again = knownElement !== undefined && knownElement.identity === identityOf(this.#shape, entry);
    this.#element = again ? knownElement.element : elementOf(this.#shape, entry);
    return this.#known?.[this.#element];
  }

  put(node: FieldSet | undefined, knownChild: Known): void {
    this.#members.put(this.#element, node ?? leaf, knownChild);
  }

  node(): FieldSet | undefined {
    const node = this.#members.node();
    const again = node !== undefined && node === this.#known && this.#knownElements === undefined;
    if (again && this.#list.length >= longList) {
      const shape = this.#shape;
      const entries = this.#list.map((entry) => ({
        identity: identityOf(shape, entry),
        element: elementOf(shape, entry),
      }));
      listElements.set(node, { shape, entries });
    }
    return node;
  }
}

/** Path elements of list entries, cached so that applying the same list again does not encode them again. */
interface ListElements {
  readonly shape: ListShape;
  readonly entries: readonly { readonly identity: string; readonly element: PathElement }[];
}

/** Minimum number of entries of a list whose path elements are cached. */
const longList = 50;

/** The path elements of known nodes. */
const listElements = new WeakMap<FieldSet, ListElements>();

function elementsOf(known: FieldSet, shape: ListShape): ListElements['entries'] | undefined {
  const knownElements = listElements.get(known);
  return knownElements?.shape === shape ? knownElements.entries : undefined;
}

/** Collects the members of a node. Builds none as long as they are those of the known node. */
class NodeBuilder {
  readonly #known: FieldSet | undefined;
  readonly #same: PathElement[] = [];
  readonly #self: boolean;
  #out: FieldSetDraft | undefined;
  /** The number of members in `#out`. */
  #count = 0;
  /** No member but `.` so far. */
  #bare = true;

  constructor(self: boolean, known: Known) {
    this.#known = known;
    this.#self = self;
    if (known === undefined) this.#out = {};
    if (self) this.#add(itself, leaf, known?.[itself]);
  }

  /** `there`: the member of the known node. */
  put(element: PathElement, node: FieldSet, knownChild: Known): void {
    this.#bare = false;
    this.#add(element, node, knownChild);
  }

  #add(element: PathElement, node: FieldSet, there: Known): void {
    if (this.#out === undefined) {
      if (there !== undefined && (there === node || (node === leaf && isEmpty(there)))) {
        this.#same.push(element);
        return;
      }
      this.#out = this.#built();
    }
    const again = this.#out[element] !== undefined;
    this.#out[element] = again ? leaf : node;
    if (!again) this.#count++;
  }

  /** Undefined when the node is empty and not in the set itself. */
  node(): FieldSet | undefined {
    if (this.#out === undefined && this.#isKnown()) return this.#known;
    if (this.#bare) return this.#self ? leaf : undefined;
    return toNode(this.#out ?? this.#built(), this.#count);
  }

  #isKnown(): boolean {
    let missing = this.#same.length;
    if (missing === 0) return false;
    for (const _ in this.#known) missing--;
    return missing === 0;
  }

  #built(): FieldSetDraft {
    const out: FieldSetDraft = {};
    for (const element of this.#same) out[element] = this.#known?.[element] ?? leaf;
    this.#count = this.#same.length;
    return out;
  }
}

/** The path element of an entry of an associative list. */
export function elementOf(shape: ListShape, entry: Json): PathElement {
  return shape.listType === 'map' ? entryElement(shape.keys, entry) : valueElement(entry);
}

/**
 * A text that is equal for entries with equal path elements, and cheaper: the value of the key itself where entries
 * have a single text key.
 */
export function identityOf(shape: ListShape, entry: Json): string {
  let value: Json | undefined = entry;
  const [key] = shape.keys;
  if (key !== undefined && shape.keys.length === 1 && isJsonObject(entry)) {
    value = Object.hasOwn(entry, key.name) ? entry[key.name] : key.default;
  }
  return typeof value === 'string' ? value : `\0${elementOf(shape, entry)}`;
}
