/** Maximum number of items of a leaf and of children of an inner node. */
const maxWidth = 64;

/** An item of a tree, identified and ordered by its key, which must not change. */
export interface Keyed {
  readonly key: string;
}

/** A node is modified in place only by writes with its `edit` number; other writes copy it first. */
class Leaf<T extends Keyed> {
  readonly edit: number;
  readonly items: T[];

  constructor(edit: number, items: T[]) {
    this.edit = edit;
    this.items = items;
  }
}

class Inner<T extends Keyed> {
  readonly edit: number;
  readonly children: Node<T>[];
  /** Separators: `keys[i]` is greater than all keys of child i - 1 and at most the least of child i; `keys[0]` is unused. */
  readonly keys: string[];
  /** The number of items below the node. */
  size: number;

  constructor(edit: number, children: Node<T>[], keys: string[], size: number) {
    this.edit = edit;
    this.children = children;
    this.keys = keys;
    this.size = size;
  }
}

type Node<T extends Keyed> = Leaf<T> | Inner<T>;

/** Reads of a tree, or of a snapshot. Every method takes logarithmic time, as does the first item of a range. */
abstract class TreeReader<T extends Keyed> {
  protected root: Node<T>;
  protected before: Before;

  constructor(root: Node<T>, before: Before) {
    this.root = root;
    this.before = before;
  }

  get(key: string): T | undefined {
    let node = this.root;
    while (node instanceof Inner) node = node.children[childIndex(node, key, this.before)]!;
    const item = node.items[itemIndex(node, key, this.before)];
    return item?.key === key ? item : undefined;
  }

  /** Returns the items whose key begins with `prefix` and is greater than `after`, in key order, read lazily. */
  range(prefix: string, after?: string): IterableIterator<T> {
    const [start, end] = this.#bounds(prefix, after);
    return new Range(this.root, start, end);
  }

  /** Returns the number of items in that range, computed from ranks. */
  count(prefix: string, after?: string): number {
    const [start, end] = this.#bounds(prefix, after);
    return end - start;
  }

  #bounds(prefix: string, after: string | undefined): [number, number] {
    const { root, before } = this;
    const end = rank(root, (key) => before(key, prefix) || key.startsWith(prefix));
    const start = rank(root, (key) => before(key, prefix) || (after !== undefined && !before(after, key)));
    return [Math.min(start, end), end];
  }
}

/** An immutable state of a {@link BTree}. */
export class BTreeSnapshot<T extends Keyed> extends TreeReader<T> {}

/**
 * A B+-tree of items in the order of the UTF-8 bytes of their keys. Copy-on-write: a snapshot takes constant time and
 * shares its nodes with the tree. Reads and writes take logarithmic time. A range of the tree itself, without a snapshot,
 * holds as long as the tree does not change.
 */
export class BTree<T extends Keyed> extends TreeReader<T> {
  #edit = 1;

  constructor() {
    super(new Leaf(1, []), plainBefore);
  }

  get size(): number {
    return sizeOf(this.root);
  }

  /** Returns the current state, which later writes do not change. */
  snapshot(): BTreeSnapshot<T> {
    this.#edit++;
    return new BTreeSnapshot(this.root, this.before);
  }

  /** Inserts an item, or replaces the one with its key. Returns the replaced item. */
  set(item: T): T | undefined {
    if (this.before === plainBefore && needsUtf8Order(item.key)) this.before = utf8Before;
    const root = this.#own(this.root);
    const previous = this.#put(root, item);
    this.root = root;
    if (width(root) > maxWidth) {
      const right = split(root, item);
      this.root = new Inner(this.#edit, [root, right], ['', firstKey(right)], sizeOf(root) + sizeOf(right));
    }
    return previous;
  }

  /** Removes the item with this key and returns it. */
  delete(key: string): T | undefined {
    const previous = this.get(key);
    if (previous === undefined) return undefined;
    let root = this.#own(this.root);
    this.#remove(root, key);
    while (root instanceof Inner && root.children.length < 2) root = root.children[0] ?? new Leaf(this.#edit, []);
    this.root = root;
    return previous;
  }

  /** Returns the node itself when the current edit may modify it, otherwise a copy. */
  #own<N extends Node<T>>(node: N): N;
  #own(node: Node<T>): Node<T> {
    if (node.edit === this.#edit) return node;
    if (node instanceof Leaf) return new Leaf(this.#edit, node.items.slice());
    return new Inner(this.#edit, node.children.slice(), node.keys.slice(), node.size);
  }

  #ownChild(node: Inner<T>, index: number): Node<T> {
    const child = this.#own(node.children[index]!);
    node.children[index] = child;
    return child;
  }

  #put(node: Node<T>, item: T): T | undefined {
    if (node instanceof Leaf) {
      const i = itemIndex(node, item.key, this.before);
      const found = node.items[i];
      if (found?.key === item.key) {
        node.items[i] = item;
        return found;
      }
      node.items.splice(i, 0, item);
      return undefined;
    }
    const i = childIndex(node, item.key, this.before);
    const child = this.#ownChild(node, i);
    const previous = this.#put(child, item);
    if (previous !== undefined) return previous;
    node.size++;
    if (width(child) > maxWidth) {
      const right = split(child, item);
      node.children.splice(i + 1, 0, right);
      node.keys.splice(i + 1, 0, firstKey(right));
    }
    return undefined;
  }

  #remove(node: Node<T>, key: string): void {
    if (node instanceof Leaf) {
      node.items.splice(itemIndex(node, key, this.before), 1);
      return;
    }
    const i = childIndex(node, key, this.before);
    const child = this.#ownChild(node, i);
    this.#remove(child, key);
    node.size--;
    if (width(child) === 0) {
      node.children.splice(i, 1);
      node.keys.splice(i, 1);
    } else if (width(child) < maxWidth / 4) {
      if (i + 1 < node.children.length) this.#merge(node, i);
      else if (i > 0) this.#merge(node, i - 1);
    }
  }

  /** Merges a child with its next sibling when both together fill at most half a node. */
  #merge(node: Inner<T>, index: number): void {
    const next = node.children[index + 1]!;
    if (width(node.children[index]!) + width(next) > maxWidth / 2) return;
    const child = this.#ownChild(node, index);
    if (child instanceof Leaf && next instanceof Leaf) for (const item of next.items) child.items.push(item);
    if (child instanceof Inner && next instanceof Inner) {
      for (const [i, inner] of next.children.entries()) {
        child.children.push(inner);
        child.keys.push(i === 0 ? node.keys[index + 1]! : next.keys[i]!);
      }
      child.size += next.size;
    }
    node.children.splice(index + 1, 1);
    node.keys.splice(index + 1, 1);
  }
}

class Range<T extends Keyed> implements IterableIterator<T> {
  readonly #root: Node<T>;
  readonly #end: number;
  #rank: number;
  #items: readonly T[] = [];
  #index = 0;

  constructor(root: Node<T>, start: number, end: number) {
    this.#root = root;
    this.#rank = start;
    this.#end = end;
  }

  next(): IteratorResult<T> {
    if (this.#rank >= this.#end) return { value: undefined, done: true };
    if (this.#index >= this.#items.length) this.#enter();
    this.#rank++;
    return { value: this.#items[this.#index++]!, done: false };
  }

  [Symbol.iterator](): this {
    return this;
  }

  #enter(): void {
    let node = this.#root;
    let left = this.#rank;
    while (node instanceof Inner) {
      let i = 0;
      for (let size = sizeOf(node.children[0]!); left >= size; size = sizeOf(node.children[i]!)) {
        left -= size;
        i++;
      }
      node = node.children[i]!;
    }
    this.#items = node.items;
    this.#index = left;
  }
}

/** Returns the rank of the first item for whose key `before` is false; it must be true for all items before that. */
function rank<T extends Keyed>(root: Node<T>, before: (key: string) => boolean): number {
  let node = root;
  let passed = 0;
  while (node instanceof Inner) {
    const { keys, children } = node;
    const child = firstNot(1, keys.length, (i) => before(keys[i]!)) - 1;
    for (let i = 0; i < child; i++) passed += sizeOf(children[i]!);
    node = children[child]!;
  }
  const { items } = node;
  return passed + firstNot(0, items.length, (i) => before(items[i]!.key));
}

function firstNot(from: number, to: number, holds: (index: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the index of the first item whose key is not less than `key`. */
function itemIndex<T extends Keyed>(leaf: Leaf<T>, key: string, before: Before): number {
  const { items } = leaf;
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(items[middle]!.key, key)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the index of the child whose key range contains `key`. */
function childIndex<T extends Keyed>(node: Inner<T>, key: string, before: Before): number {
  const { keys } = node;
  let low = 1;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(key, keys[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low - 1;
}

/** Moves the upper half of a node into a new one; after an append only the new item, so that sequential inserts leave full leaves. */
function split<T extends Keyed>(node: Node<T>, added: T): Node<T> {
  if (node instanceof Leaf) {
    const appended = node.items.at(-1) === added;
    return new Leaf(node.edit, node.items.splice(appended ? maxWidth : maxWidth / 2));
  }
  const children = node.children.splice(maxWidth / 2);
  const keys = node.keys.splice(maxWidth / 2);
  const size = children.reduce((sum, child) => sum + sizeOf(child), 0);
  node.size -= size;
  return new Inner(node.edit, children, keys, size);
}

function width<T extends Keyed>(node: Node<T>): number {
  return node instanceof Leaf ? node.items.length : node.children.length;
}

function sizeOf<T extends Keyed>(node: Node<T>): number {
  return node instanceof Leaf ? node.items.length : node.size;
}

function firstKey<T extends Keyed>(node: Node<T>): string {
  let first = node;
  while (first instanceof Inner) first = first.children[0]!;
  return first.items[0]!.key;
}

// The order of keys

/**
 * UTF-16 code units whose order differs from that of UTF-8 bytes: surrogates sort below U+E000..U+FFFF, but encode
 * characters above them. Two keys compare alike in both orders unless both contain such units.
 */
const high = /[\uD800-\uFFFF]/;

/** Whether `a` comes before `b`. */
type Before = (a: string, b: string) => boolean;

/** Whether `<` could misplace the key among others that need the UTF-8 order too. */
export function needsUtf8Order(key: string): boolean {
  return high.test(key);
}

/** The order of UTF-8 bytes, unless both keys {@link needsUtf8Order}. */
export function plainBefore(a: string, b: string): boolean {
  return a < b;
}

/** The order of UTF-8 bytes, for any keys. */
export function utf8Before(a: string, b: string): boolean {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? codePointOrder(x) < codePointOrder(y) : x < y;
  }
  return a.length < b.length;
}

/** Maps a code unit from U+D800 on to its place in code point order: surrogates last. */
function codePointOrder(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
