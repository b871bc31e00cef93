/** A copy-on-write B+-tree with ranks, ordered by the UTF-8 bytes of its keys. */
export { BTree, BTreeSnapshot, type Keyed } from './btree.ts';
