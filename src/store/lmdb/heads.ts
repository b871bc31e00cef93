import { createHash } from 'node:crypto';
import { BTree } from '../../btree/index.ts';
import type { ByteString } from '../../meta/index.ts';
import { afterPrefix, compareKeys } from '../keys.ts';
import type { Change } from './log-format.ts';
import type { Pointer } from './records.ts';
import type { Table } from './table.ts';

/** Maximum length of a key that LMDB stores unchanged (bytes). */
const longestStored = 1024;

export interface Head {
  readonly key: ByteString;
  readonly value: Pointer;
}

/**
 * The latest pointer of every key, in key order. A key that is too long for an LMDB index is stored under its hash, and
 * its order is held in memory: such keys are rare.
 */
export class Heads {
  readonly #short: Table<Pointer, ByteString>;
  readonly #long: Table<Pointer, ByteString>;
  readonly #keyOf: (pointer: Pointer) => ByteString;
  #order = new BTree<Head>();

  /** `keyOf` reads the key of a record. */
  constructor(
    short: Table<Pointer, ByteString>,
    long: Table<Pointer, ByteString>,
    keyOf: (pointer: Pointer) => ByteString,
  ) {
    this.#short = short;
    this.#long = long;
    this.#keyOf = keyOf;
    this.load();
  }

  /** Reads the order of the long keys from the tables. */
  load(): void {
    const order = new BTree<Head>();
    for (const { value } of this.#long.range({ start: '' as ByteString })) {
      order.set({ key: this.#keyOf(value), value });
    }
    this.#order = order;
  }

  get(key: ByteString): Pointer | undefined {
    return key.length > longestStored ? this.#order.get(key)?.value : this.#short.get(key);
  }

  /** The change that sets the pointer of a key, or removes it without one. {@link settle} belongs to it. */
  change(key: ByteString, pointer: Pointer | undefined): Change {
    return key.length > longestStored ? this.#long.change(hash(key), pointer) : this.#short.change(key, pointer);
  }

  /** Must be called once the change of the pointer of this key is durable. */
  settle(key: ByteString, pointer: Pointer | undefined): void {
    if (key.length <= longestStored) return;
    if (pointer === undefined) this.#order.delete(key);
    else this.#order.set({ key, value: pointer });
  }

  /** Returns the first `limit` heads whose key begins with `prefix` and is greater than `after`. */
  range(prefix: ByteString, after: ByteString | undefined, limit: number): Head[] {
    // The least key greater than another is that key and a zero byte.
    const start = after === undefined ? prefix : (`${after}\0` as ByteString);
    const end = afterPrefix(prefix);
    const heads: Head[] = [];
    const from = start.slice(0, longestStored) as ByteString;
    const bounds = end === undefined ? { start: from } : { start: from, end: storable(end) };
    for (const head of this.#short.range(bounds, limit + 1)) {
      if (head.key >= start && heads.length < limit) heads.push(head);
    }
    if (this.#order.size === 0) return heads;
    const last = heads.length === limit ? heads[limit - 1] : undefined;
    for (const head of this.#order.snapshot().range(prefix, after)) {
      if (last !== undefined && head.key > last.key) break;
      heads.push(head);
    }
    return heads.sort((a, b) => compareKeys(a.key, b.key)).slice(0, limit);
  }
}

/** An end that fits in an index and has the same stored keys before it. */
function storable(end: ByteString): ByteString {
  return end.length > longestStored ? (`${end.slice(0, longestStored)}\0` as ByteString) : end;
}

function hash(key: ByteString): ByteString {
  return createHash('sha256').update(key, 'latin1').digest().toString('latin1') as ByteString;
}
