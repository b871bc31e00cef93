import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, RootDatabase } from 'lmdb';
import { openedByOther } from './failure.ts';

const key = Buffer.from('last');
const nothing = Buffer.alloc(0);

// The beginning of LMDB's lock file: its mark (MDB_MAGIC), the format, and the number of the last transaction.
const mark = 0xbeefc0de;
const numberAt = 8;
const headBytes = 16;

// Error codes of LMDB (MDB_PROBLEM, MDB_BAD_TXN) for pages that are newer than the transaction that it takes for the last.
const newerPages: readonly unknown[] = [-30779, -30782];

/** Whether a transaction failed, with nothing written, because LMDB has missed others. */
export const missedOthers = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && newerPages.includes(error.code);

/**
 * Makes transactions follow each other while other processes open the files.
 *
 * LMDB has the number of the last transaction in its lock file. A process that opens the files sets it to the one that it
 * has found in them, even if there has been a commit meanwhile (ITS#9496): reads then miss that commit, and the next one
 * replaces it. So every transaction is conditional on its predecessor, and a number that went back is corrected.
 */
export class Sequence {
  readonly #path: string;
  readonly #head = Buffer.alloc(headBytes);
  #table: Database<Buffer, Buffer> | undefined;
  /** Open as long as the files are: closing it would release LMDB's lock of this process on it. */
  #lockFile: number | undefined;
  /** The count of transactions in the files; null before the first one. */
  #count: number | null = null;
  /** The number of the last transaction, which LMDB has in its lock file. */
  #number = 0n;
  #writing = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Must be called once all other tables are open, which may be transactions. */
  open(root: RootDatabase<Buffer, Buffer>): void {
    this.#table = root.openDB('sequence', { useVersions: true, encoding: 'binary', keyEncoding: 'binary' });
    this.#count = this.#table.getEntry(key)?.version ?? null;
    this.#lockFile ??= openSync(join(this.#path, 'lock.mdb'), 'r+');
    this.#number = this.#storedNumber;
  }

  /** Must be called once the files are closed. */
  close(): void {
    this.#table = undefined;
    if (this.#lockFile !== undefined) closeSync(this.#lockFile);
    this.#lockFile = undefined;
  }

  /**
   * Runs `write` as one transaction. Resolves when it is durable; with false and nothing written when LMDB has missed the
   * last one. Rejects when nothing has been written.
   */
  async batch(write: () => void): Promise<boolean> {
    const table = this.#opened;
    const next = (this.#count ?? 0) + 1;
    this.#writing = true;
    try {
      // Null is the condition that the key is absent, which the types of the library omit.
      const written = await table.ifVersion(key, this.#count as number, () => {
        write();
        void table.put(key, nothing, next);
      });
      if (!written) return false;
      this.#count = next;
      this.#number++;
      return true;
    } finally {
      this.#writing = false;
    }
  }

  /** Whether reads see the last transaction: the number has not gone back. */
  get isCurrent(): boolean {
    return this.#lockFile === undefined || this.#storedNumber >= this.#number;
  }

  /**
   * Corrects the number if it went back, so that reads see the last transaction. Fails as `unavailable` if a transaction is
   * being written, which fails on its condition and is repeated.
   */
  check(): void {
    if (!this.isCurrent) this.correct();
  }

  /** Sets the number in the lock file to that of the last transaction in the files. */
  correct(): void {
    const table = this.#opened;
    if (this.#writing || this.#storedNumber === 0n || this.#lockFile === undefined) throw openedByOther(this.#path);
    const { lastTxnId } = table.getStats() as { lastTxnId: number };
    this.#number = BigInt(lastTxnId);
    this.#head.writeBigUInt64LE(this.#number, numberAt);
    writeSync(this.#lockFile, this.#head, numberAt, 8, numberAt);
    (table as unknown as { resetReadTxn(): void }).resetReadTxn();
  }

  get #opened(): Database<Buffer, Buffer> {
    if (this.#table === undefined) throw new Error('the files are not open');
    return this.#table;
  }

  /** 0 in a lock file of unknown format. */
  get #storedNumber(): bigint {
    if (this.#lockFile === undefined) return 0n;
    readSync(this.#lockFile, this.#head, 0, headBytes, 0);
    return this.#head.readUInt32LE(0) === mark ? this.#head.readBigUInt64LE(numberAt) : 0n;
  }
}
