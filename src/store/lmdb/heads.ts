import { createHash } from 'node:crypto';
import type { ByteString } from '../../meta/index.ts';
import { compareKeys } from '../keys.ts';
import { sortedMap } from '../sorted.ts';
import type { Pointer } from './records.ts';
import type { Table } from './table.ts';

/** Keys up to this length (bytes) are stored as they are. */
const longestStored = 1024;

export interface Head {
  readonly key: ByteString;
  readonly value: Pointer;
}

/**
 * The latest pointer of every key, in key order. An index of the file takes only short keys. A longer one is stored
 * under its hash, and its order is kept in memory: there are hardly ever any.
 */
export class Heads {
  readonly #short: Table<Pointer, ByteString>;
  readonly #long: Table<Pointer, ByteString>;
  readonly #keyOf: (pointer: Pointer) => ByteString;
  #order = sortedMap<ByteString, Pointer>(compareKeys);

  /** `keyOf` finds the key of a record. */
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

  /** Takes what is kept in memory from the tables. */
  load(): void {
    const order = sortedMap<ByteString, Pointer>(compareKeys);
    for (const { value } of this.#long.range({ start: '' as ByteString })) order.set(this.#keyOf(value), value);
    this.#order = order;
  }

  get(key: ByteString): Pointer | undefined {
    return key.length > longestStored ? this.#order.get(key) : this.#short.get(key);
  }

  /** Part of a transaction: a long key keeps its old pointer until {@link settle}. */
  put(key: ByteString, pointer: Pointer): void {
    if (key.length > longestStored) this.#long.put(hash(key), pointer);
    else this.#short.put(key, pointer);
  }

  /** Part of a transaction, as {@link put}. */
  remove(key: ByteString): void {
    if (key.length > longestStored) this.#long.remove(hash(key));
    else this.#short.remove(key);
  }

  /** Tells that the transaction that gave this key a new pointer, or removed it, is durable. */
  settle(key: ByteString, pointer: Pointer | undefined): void {
    if (key.length <= longestStored) return;
    if (pointer === undefined) this.#order.delete(key);
    else this.#order.set(key, pointer);
  }

  /** The first `limit` heads from `start` on and before `end`. */
  range(start: ByteString, end: ByteString | undefined, limit: number): Head[] {
    const heads: Head[] = [];
    const stored = {
      start: start.slice(0, longestStored) as ByteString,
      ...(end === undefined ? {} : { end: storable(end) }),
    };
    for (const head of this.#short.range({ ...stored, limit: limit + 1 })) {
      if (head.key >= start && heads.length < limit) heads.push(head);
    }
    if (this.#order.isEmpty) return heads;
    const before = heads.length === limit ? heads[limit - 1]?.key : end;
    for (const [key, value] of this.#order.entries(start)) {
      if (before !== undefined && key >= before) break;
      heads.push({ key, value });
    }
    return heads.sort((a, b) => compareKeys(a.key, b.key)).slice(0, limit);
  }
}

/** A bound that an index takes and that has the same stored keys before it. */
function storable(end: ByteString): ByteString {
  return end.length > longestStored ? (`${end.slice(0, longestStored)}\0` as ByteString) : end;
}

function hash(key: ByteString): ByteString {
  return createHash('sha256').update(key, 'latin1').digest().toString('latin1') as ByteString;
}
