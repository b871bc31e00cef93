import type { Transaction as ReadTransaction, RootDatabase } from 'lmdb';
import { BTree } from '../../btree/index.ts';
import { failure, notOpen } from './failure.ts';
import type { Change } from './log-format.ts';

/** How keys and values of a table look as bytes. Encoded keys have the order of their bytes. */
export interface Encoding<V, K> {
  readonly keyEncoder: {
    /** Returns the end of the key. */
    writeKey(key: K, target: Buffer, at: number): number;
    readKey(source: Buffer, start: number, end: number): K;
  };
  /** Without it, values are their bytes. */
  readonly encoder?: { encode(value: V): Buffer; decode(bytes: Buffer): V };
}

/** A change of a group that is in the log, and not yet in the tree. */
interface Staged {
  /** The encoded key, a character for each byte. */
  readonly key: string;
  readonly value: Buffer | undefined;
  readonly group: number;
}

/** More than the longest key of a table (bytes). */
const keyScratch = Buffer.alloc(4096);

/**
 * A typed table: the files of the tree, and over them the changes that are staged until a transaction has written them.
 * Values read stay valid, except those of `bytes`. Fails as `damaged` or `unavailable`, never with an error of the library.
 */
export class Table<V, K> {
  readonly #path: string;
  readonly #name: string;
  readonly #number: number;
  readonly #encoding: Encoding<V, K>;
  #staged = new BTree<Staged>();
  #opened: Native<V, K> | undefined;
  #reading: Reading | undefined;

  /** `number` names the table in the log. */
  constructor(path: string, name: string, number: number, encoding: Encoding<V, K>) {
    this.#path = path;
    this.#name = name;
    this.#number = number;
    this.#encoding = encoding;
  }

  open(root: RootDatabase<Buffer, Buffer>): void {
    this.#opened = root.openDB(this.#name, this.#encoding as object as { name: string }) as unknown as Native<V, K>;
  }

  /** Reads are made in this transaction from now on. */
  readIn(transaction: ReadTransaction): void {
    this.#reading = { transaction };
  }

  /** Until it is opened again, everything fails as `unavailable`. */
  close(): void {
    this.#opened = undefined;
  }

  get(key: K): V | undefined {
    const staged = this.#stagedAt(key);
    if (staged !== undefined) return staged.value && this.#decode(staged.value);
    try {
      return this.#database.get(key, this.#reading);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Exactly the bytes of the value, valid until the next read of any table. */
  bytes(key: K): Buffer | undefined {
    const staged = this.#stagedAt(key);
    if (staged !== undefined) return staged.value;
    try {
      const found = this.#database.getBinaryFast(key, this.#reading);
      // The library returns one large buffer for all values and only sets its `length`, which `subarray` ignores.
      return found && Buffer.from(found.buffer, found.byteOffset, found.length);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** The first `limit` items from `start` on and before `end`, in the order of their keys. */
  range(bounds: Bounds<K>, limit = Number.POSITIVE_INFINITY): Item<V, K>[] {
    const items: Item<V, K>[] = [];
    try {
      for (const item of this.#merged(bounds)) {
        if (items.length >= limit) break;
        items.push(item);
      }
    } catch (error) {
      throw this.#failed(error);
    }
    return items;
  }

  /** About the number of keys. */
  count(): number {
    return this.#database.getStats().entryCount + this.#staged.size;
  }

  /** The change that gives a key a value, or removes it without one. */
  change(key: K, value: V | undefined): Change {
    const { encoder } = this.#encoding;
    const bytes = value === undefined || encoder === undefined ? (value as Buffer | undefined) : encoder.encode(value);
    return { table: this.#number, key: Buffer.from(this.#encode(key), 'latin1'), value: bytes };
  }

  /** Part of a transaction. */
  write({ key: bytes, value }: Change): void {
    const key = this.#encoding.keyEncoder.readKey(bytes, 0, bytes.length);
    if (value === undefined) void this.#database.remove(key);
    else void this.#database.put(key, this.#decode(value));
  }

  /** Reads see the change of a group from now on. Later groups have greater numbers. */
  stage({ key, value }: Change, group: number): void {
    this.#staged.set({ key: key.toString('latin1'), value, group });
  }

  /** To be called when a transaction has written the change. A change of the key by a later group stays. */
  unstage({ key }: Change, group: number): void {
    const code = key.toString('latin1');
    if (this.#staged.get(code)?.group === group) this.#staged.delete(code);
  }

  #stagedAt(key: K): Staged | undefined {
    return this.#staged.size === 0 ? undefined : this.#staged.get(this.#encode(key));
  }

  /** The items of the file with the staged changes, read lazily. */
  *#merged(bounds: Bounds<K>): Generator<Item<V, K>> {
    const stored = this.#database.getRange({ ...bounds, ...this.#reading });
    if (this.#staged.size === 0) {
      yield* stored;
      return;
    }
    const staged = this.#stagedIn(bounds);
    let next = staged.next();
    for (const item of stored) {
      const code = this.#encode(item.key);
      for (; !next.done && next.value.key < code; next = staged.next()) yield* this.#itemsOf(next.value);
      if (next.done || next.value.key !== code) {
        yield item;
        continue;
      }
      yield* this.#itemsOf(next.value);
      next = staged.next();
    }
    for (; !next.done; next = staged.next()) yield* this.#itemsOf(next.value);
  }

  *#stagedIn({ start, end }: Bounds<K>): Generator<Staged> {
    const from = this.#encode(start);
    const to = end === undefined ? undefined : this.#encode(end);
    const first = this.#staged.get(from);
    if (first !== undefined && (to === undefined || from < to)) yield first;
    for (const change of this.#staged.range('', from)) {
      if (to !== undefined && change.key >= to) return;
      yield change;
    }
  }

  /** None for a removal. */
  #itemsOf({ key: code, value }: Staged): Item<V, K>[] {
    if (value === undefined) return [];
    const bytes = Buffer.from(code, 'latin1');
    return [{ key: this.#encoding.keyEncoder.readKey(bytes, 0, bytes.length), value: this.#decode(value) }];
  }

  #encode(key: K): string {
    return keyScratch.toString('latin1', 0, this.#encoding.keyEncoder.writeKey(key, keyScratch, 0));
  }

  #decode(bytes: Buffer): V {
    return this.#encoding.encoder?.decode(bytes) ?? (bytes as V);
  }

  get #database(): Native<V, K> {
    if (this.#opened === undefined) throw notOpen(this.#path);
    return this.#opened;
  }

  #failed(error: unknown): Error {
    // A read transaction cannot be used after an error.
    this.#opened?.resetReadTxn();
    return failure(this.#path, error);
  }
}

export interface Item<V, K> {
  readonly key: K;
  readonly value: V;
}
interface Bounds<K> {
  readonly start: K;
  readonly end?: K;
}

interface Reading {
  readonly transaction: ReadTransaction;
}

/** Methods of the library, which declares them only for its own key types. */
interface Native<V, K> {
  get(key: K, reading?: Reading): V | undefined;
  getBinaryFast(key: K, reading?: Reading): Uint8Array<ArrayBuffer> | undefined;
  put(key: K, value: V): unknown;
  remove(key: K): unknown;
  getRange(range: Bounds<K> & Partial<Reading>): Iterable<Item<V, K>>;
  getStats(): { readonly entryCount: number };
  resetReadTxn(): void;
}
