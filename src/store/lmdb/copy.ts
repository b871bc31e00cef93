import { chmodSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkDataFile } from './data-file.ts';
import { hasFormat, openEnvironment } from './environment.ts';
import { failure, foreignFile, noStore, notCopied } from './failure.ts';

/** The result of a copy. */
export interface StoreCopy {
  /** The latest revision of the copy, which has the history before it too. */
  readonly revision: number;
  /** The size of its file. */
  readonly bytes: number;
}

const mapSize = 1024 ** 3;

/**
 * Copies the store in one directory, which another process may be writing, to a directory that must not exist. The copy
 * is flushed to disk, readable by its owner only, and has been opened once. Fails as `unavailable` or `damaged`.
 */
export async function copyLmdbStore(from: string, to: string): Promise<StoreCopy> {
  try {
    const source = join(from, 'data.mdb');
    if (!existsSync(source)) throw noStore(from);
    checkDataFile(source);
    await copyFiles(from, to);
    const file = join(to, 'data.mdb');
    chmodSync(file, 0o600);
    const copy = await openEnvironment(to, mapSize);
    const { latest } = copy.state;
    await copy.close();
    rmSync(join(to, 'lock.mdb'), { force: true });
    for (const path of [file, to]) await sync(path);
    return { revision: latest, bytes: statSync(file).size };
  } catch (error) {
    throw failure(from, error);
  }
}

async function copyFiles(from: string, to: string): Promise<void> {
  const { open } = await import('lmdb');
  const root = open<Buffer, Buffer>({
    path: from,
    mapSize,
    readOnly: true,
    noSubdir: false,
    encoding: 'binary',
    keyEncoding: 'binary',
  });
  try {
    if (!hasFormat(root, from)) throw foreignFile(from);
    mkdirSync(to, { mode: 0o700 });
    // Pages are copied as they are: compacting would walk every tree and keep deleted pages from reuse meanwhile.
    await root.backup(to, false).catch((error: unknown) => {
      throw notCopied(to, error);
    });
  } finally {
    await root.close();
  }
}

async function sync(path: string): Promise<void> {
  const handle = await openFile(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
