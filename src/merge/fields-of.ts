import { isJsonObject, type Json, type JsonObject } from '../meta/index.ts';
import { type FieldSet, type FieldSetDraft, finished, isEmpty, itself, leaf } from './field-set.ts';
import { type Element, entryElement, fieldElement, valueElement } from './path.ts';
import { free, type ListShape, type MapShape, type Shape, type StructShape } from './shape.ts';

/**
 * What an applier of this object owns: its scalar fields, what is atomic, the entries of its maps and lists, and maps
 * and structs that are empty. Structs, maps and lists that hold something are not owned themselves, and an empty list
 * of entries is not owned at all. With a known set, whatever is the same in it is taken from there, up to the set
 * itself; no list of the object may then have an entry twice.
 */
export function fieldsOf(shape: StructShape, object: JsonObject, known?: FieldSet): FieldSet {
  return nodeOf(shape, object, false, false, known) ?? leaf;
}

/** A value with everything in it, itself included: what appears or disappears with it. */
export function wholeOf(shape: Shape, value: Json): FieldSet | undefined {
  return nodeOf(shape, value, true, true, undefined);
}

type Known = FieldSet | undefined;

/** `self`: the value counts itself; `whole`: so do structs, maps and lists in it. Undefined when nothing counts. */
function nodeOf(shape: Shape, value: Json, self: boolean, whole: boolean, known: Known): FieldSet | undefined {
  switch (shape.kind) {
    case 'scalar':
      return leaf;
    case 'unowned':
      return undefined;
    case 'free':
      return isJsonObject(value) ? entriesOf(free, value, self, whole, known) : leaf;
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
  { fields, bare }: StructShape,
  value: JsonObject,
  self: boolean,
  whole: boolean,
  known: Known,
): FieldSet | undefined {
  if (isEmpty(value as FieldSet)) return bare ? undefined : leaf;
  const members = new Members(self && !bare, known);
  for (const name in value) {
    const field = fields.get(name);
    if (field === undefined) continue;
    const there = known?.[field.element];
    const node = nodeOf(field.shape, value[name] as Json, whole, whole, there);
    if (node !== undefined) members.put(field.element, node, there);
  }
  return members.node();
}

/** The entries of a map each count themselves, and so does a map without any. */
function entriesOf(shape: MapShape['value'], value: JsonObject, self: boolean, whole: boolean, known: Known): FieldSet {
  const members = new Members(self, known);
  for (const key in value) {
    const element = fieldElement(key);
    const there = known?.[element];
    members.put(element, nodeOf(shape, value[key] as Json, true, whole, there) ?? leaf, there);
  }
  return members.node() ?? leaf;
}

/** The entries of a list each count themselves; one that is there several times counts as one value. */
function listNode(
  shape: ListShape,
  list: readonly Json[],
  self: boolean,
  whole: boolean,
  known: Known,
): FieldSet | undefined {
  const members = new Members(self, known);
  const places = known && placesIn(known, shape);
  for (let i = 0; i < list.length; i++) {
    const entry = list[i] as Json;
    const place = places?.[i];
    const again = place !== undefined && place.identity === identityOf(shape, entry);
    const element = again ? place.element : elementOf(shape, entry);
    const there = known?.[element];
    members.put(element, nodeOf(shape.element, entry, true, whole, there) ?? leaf, there);
  }
  const node = members.node();
  if (node !== undefined && node === known && places === undefined && list.length >= longList) {
    const entries = list.map((entry) => ({ identity: identityOf(shape, entry), element: elementOf(shape, entry) }));
    placed.set(node, { shape, entries });
  }
  return node;
}

/** The entries of a list in their order: who applies the same list again need not spell their elements. */
interface Places {
  readonly shape: ListShape;
  readonly entries: readonly { readonly identity: string; readonly element: Element }[];
}

/** From how many entries on their places are worth remembering. */
const longList = 50;

/** How the entries of known nodes were placed. */
const placed = new WeakMap<FieldSet, Places>();

function placesIn(known: FieldSet, shape: ListShape): Places['entries'] | undefined {
  const places = placed.get(known);
  return places?.shape === shape ? places.entries : undefined;
}

/** The members of a node; nothing is built as long as they are those of a known one. */
class Members {
  readonly #known: FieldSet | undefined;
  readonly #same: Element[] = [];
  readonly #self: boolean;
  #out: FieldSetDraft | undefined;
  /** Of what is built. */
  #count = 0;
  /** None but the node itself. */
  #bare = true;

  constructor(self: boolean, known: Known) {
    this.#known = known;
    this.#self = self;
    if (known === undefined) this.#out = {};
    if (self) this.#add(itself, leaf, known?.[itself]);
  }

  /** `there`: what the known node has in this place. */
  put(element: Element, node: FieldSet, there: Known): void {
    this.#bare = false;
    this.#add(element, node, there);
  }

  #add(element: Element, node: FieldSet, there: Known): void {
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

  /** Undefined when there are none. */
  node(): FieldSet | undefined {
    if (this.#out === undefined && this.#isKnown()) return this.#known;
    if (this.#bare) return this.#self ? leaf : undefined;
    return finished(this.#out ?? this.#built(), this.#count);
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
