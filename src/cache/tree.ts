import { type Before, needsUtf8Order, plainBefore, utf8Before } from './key-order.ts';
import type { CachedObject } from './types.ts';

/** Objects of a leaf, children of an inner node: at most this many. */
const maxWidth = 64;

/** Only the edit that made a node changes it in place; later edits copy it first. */
class Leaf {
  readonly edit: number;
  readonly items: CachedObject[];

  constructor(edit: number, items: CachedObject[]) {
    this.edit = edit;
    this.items = items;
  }
}

class Inner {
  readonly edit: number;
  readonly children: Node[];
  /** `keys[i]` is above every key of child i - 1 and not above any of child i; `keys[0]` means nothing. */
  readonly keys: string[];
  /** Objects below it. */
  size: number;

  constructor(edit: number, children: Node[], keys: string[], size: number) {
    this.edit = edit;
    this.children = children;
    this.keys = keys;
    this.size = size;
  }
}

type Node = Leaf | Inner;

/** One state of a {@link Tree}, never changing. Every method but iteration takes logarithmic time. */
export class TreeView {
  readonly #root: Node;
  readonly #before: Before;

  constructor(root: Node, before: Before) {
    this.#root = root;
    this.#before = before;
  }

  get(key: string): CachedObject | undefined {
    return find(this.#root, key, this.#before);
  }

  /** Objects whose key begins with `prefix` and comes behind `after`, in order, read as they are asked for. */
  range(prefix: string, after: string | undefined): IterableIterator<CachedObject> {
    const [start, end] = this.#bounds(prefix, after);
    return new Range(this.#root, start, end);
  }

  count(prefix: string, after: string | undefined): number {
    const [start, end] = this.#bounds(prefix, after);
    return end - start;
  }

  #bounds(prefix: string, after: string | undefined): [number, number] {
    const before = this.#before;
    const end = rank(this.#root, (key) => before(key, prefix) || key.startsWith(prefix));
    const start = rank(this.#root, (key) => before(key, prefix) || (after !== undefined && !before(after, key)));
    return [Math.min(start, end), end];
  }
}

/** Objects in the order of their keys' UTF-8 bytes. Writes take logarithmic time, a view constant time. */
export class Tree {
  #edit = 1;
  #root: Node = new Leaf(1, []);
  #before: Before = plainBefore;

  get size(): number {
    return sizeOf(this.#root);
  }

  /** The present state; later writes leave it alone. */
  view(): TreeView {
    this.#edit++;
    return new TreeView(this.#root, this.#before);
  }

  get(key: string): CachedObject | undefined {
    return find(this.#root, key, this.#before);
  }

  /** Puts an object under its key; the result is what was there. */
  set(object: CachedObject): CachedObject | undefined {
    if (this.#before === plainBefore && needsUtf8Order(object.key)) this.#before = utf8Before;
    const root = this.#own(this.#root);
    const previous = this.#put(root, object);
    this.#root = root;
    if (width(root) > maxWidth) {
      const right = split(root, object);
      this.#root = new Inner(this.#edit, [root, right], ['', firstKey(right)], sizeOf(root) + sizeOf(right));
    }
    return previous;
  }

  /** Removes what is under a key; the result is what was there. */
  delete(key: string): CachedObject | undefined {
    const previous = this.get(key);
    if (previous === undefined) return undefined;
    let root = this.#own(this.#root);
    this.#remove(root, key);
    while (root instanceof Inner && root.children.length < 2) root = root.children[0] ?? new Leaf(this.#edit, []);
    this.#root = root;
    return previous;
  }

  /** The node itself when this edit made it, else a copy that this edit may change. */
  #own<N extends Node>(node: N): N;
  #own(node: Node): Node {
    if (node.edit === this.#edit) return node;
    if (node instanceof Leaf) return new Leaf(this.#edit, node.items.slice());
    return new Inner(this.#edit, node.children.slice(), node.keys.slice(), node.size);
  }

  #ownChild(node: Inner, index: number): Node {
    const child = this.#own(node.children[index]!);
    node.children[index] = child;
    return child;
  }

  #put(node: Node, object: CachedObject): CachedObject | undefined {
    if (node instanceof Leaf) {
      const i = itemIndex(node, object.key, this.#before);
      const found = node.items[i];
      if (found?.key === object.key) {
        node.items[i] = object;
        return found;
      }
      node.items.splice(i, 0, object);
      return undefined;
    }
    const i = childIndex(node, object.key, this.#before);
    const child = this.#ownChild(node, i);
    const previous = this.#put(child, object);
    if (previous !== undefined) return previous;
    node.size++;
    if (width(child) > maxWidth) {
      const right = split(child, object);
      node.children.splice(i + 1, 0, right);
      node.keys.splice(i + 1, 0, firstKey(right));
    }
    return undefined;
  }

  #remove(node: Node, key: string): void {
    if (node instanceof Leaf) {
      node.items.splice(itemIndex(node, key, this.#before), 1);
      return;
    }
    const i = childIndex(node, key, this.#before);
    const child = this.#ownChild(node, i);
    this.#remove(child, key);
    node.size--;
    if (width(child) === 0) {
      node.children.splice(i, 1);
      node.keys.splice(i, 1);
    } else if (width(child) < maxWidth / 4) {
      if (i + 1 < node.children.length) this.#join(node, i);
      else if (i > 0) this.#join(node, i - 1);
    }
  }

  /** Makes one of a child and the next when both together fill at most half a node. */
  #join(node: Inner, index: number): void {
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

class Range implements IterableIterator<CachedObject> {
  readonly #root: Node;
  readonly #end: number;
  #rank: number;
  #items: readonly CachedObject[] = [];
  #index = 0;

  constructor(root: Node, start: number, end: number) {
    this.#root = root;
    this.#rank = start;
    this.#end = end;
  }

  next(): IteratorResult<CachedObject> {
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

function find(root: Node, key: string, before: Before): CachedObject | undefined {
  let node = root;
  while (node instanceof Inner) node = node.children[childIndex(node, key, before)]!;
  const item = node.items[itemIndex(node, key, before)];
  return item?.key === key ? item : undefined;
}

/** How many objects come before the first one for whose key `before` is false; it is true for all earlier ones. */
function rank(root: Node, before: (key: string) => boolean): number {
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

/** Index of the first item that does not come before `key`. */
function itemIndex(leaf: Leaf, key: string, before: Before): number {
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

/** Index of the child in which `key` belongs. */
function childIndex(node: Inner, key: string, before: Before): number {
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

/** Moves the upper part of a node into a new one; after an append the lower part stays full. */
function split(node: Node, added: CachedObject): Node {
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

function width(node: Node): number {
  return node instanceof Leaf ? node.items.length : node.children.length;
}

function sizeOf(node: Node): number {
  return node instanceof Leaf ? node.items.length : node.size;
}

function firstKey(node: Node): string {
  let first = node;
  while (first instanceof Inner) first = first.children[0]!;
  return first.items[0]!.key;
}
