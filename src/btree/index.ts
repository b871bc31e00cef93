/** A copy-on-write B+-tree: items in the order of their keys, their ranks, and snapshots in constant time. */
export { BTree, BTreeSnapshot, type Keyed, utf8Before } from './btree.ts';
