import { openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Where LMDB stores the number of the last transaction in its lock file (bytes). */
const lastTransaction = 8;

/**
 * Makes LMDB miss the last commits, as a process does that begins to open the files before them and ends after them. The
 * lock file stays open in this process: closing it would release LMDB's lock.
 */
export function missCommits(path: string, commits: number): void {
  const file = openSync(join(path, 'lock.mdb'), 'r+');
  const bytes = Buffer.alloc(8);
  readSync(file, bytes, 0, 8, lastTransaction);
  bytes.writeBigUInt64LE(bytes.readBigUInt64LE() - BigInt(commits));
  writeSync(file, bytes, 0, 8, lastTransaction);
}
