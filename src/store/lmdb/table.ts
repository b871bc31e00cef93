import type { Transaction as ReadTransaction, RootDatabase } from 'lmdb';
import { failure, notOpen } from './failure.ts';

/**
 * A typed table of the open files. Values read stay valid, except those of `bytes`. Fails as `damaged` or `unavailable`,
 * never with an error of the library.
 */
export class Table<V, K> {
  readonly #path: string;
  readonly #name: string;
  readonly #options: object;
  #opened: Native<V, K> | undefined;
  #reading: Reading | undefined;

  constructor(path: string, name: string, options: object) {
    this.#path = path;
    this.#name = name;
    this.#options = options;
  }

  open(root: RootDatabase<Buffer, Buffer>): void {
    this.#opened = root.openDB(this.#name, this.#options as object & { name: string }) as unknown as Native<V, K>;
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
    try {
      return this.#database.get(key, this.#reading);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Exactly the bytes of the value, valid until the next read of any table. */
  bytes(key: K): Buffer | undefined {
    try {
      const found = this.#database.getBinaryFast(key, this.#reading);
      // The library returns one large buffer for all values and only sets its `length`, which `subarray` ignores.
      return found && Buffer.from(found.buffer, found.byteOffset, found.length);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  range(range: { start: K; end?: K; limit?: number }): readonly { readonly key: K; readonly value: V }[] {
    try {
      return [...this.#database.getRange({ ...range, ...this.#reading })];
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** The number of keys, from the statistics of the file. */
  count(): number {
    return this.#database.getStats().entryCount;
  }

  /** Part of a transaction. */
  put(key: K, value: V): void {
    void this.#database.put(key, value);
  }

  /** Part of a transaction. */
  remove(key: K): void {
    void this.#database.remove(key);
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

interface Reading {
  readonly transaction: ReadTransaction;
}

/** Methods of the library, which declares them only for its own key types. */
interface Native<V, K> {
  get(key: K, reading?: Reading): V | undefined;
  getBinaryFast(key: K, reading?: Reading): Uint8Array<ArrayBuffer> | undefined;
  put(key: K, value: V): unknown;
  remove(key: K): unknown;
  getRange(range: { start: K; end?: K; limit?: number } & Partial<Reading>): Iterable<{ key: K; value: V }>;
  getStats(): { readonly entryCount: number };
  resetReadTxn(): void;
}
