import { createRequire } from 'node:module';
import type sortedBtree from 'sorted-btree';

export type SortedMap<K, V> = sortedBtree.default<K, V>;

// Required, because loaders disagree about the default export of a CommonJS module.
const { default: Tree } = createRequire(import.meta.url)('sorted-btree') as typeof sortedBtree;

/** An empty map whose keys are kept in the order of `compare`. */
export function sortedMap<K, V>(compare: (a: K, b: K) => number): SortedMap<K, V> {
  return new Tree<K, V>(undefined, compare);
}
