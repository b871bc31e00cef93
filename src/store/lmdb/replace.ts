import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreImport, StoreSnapshot } from '../snapshot.ts';
import { sync } from '../sync.ts';
import { type Environment, openEnvironment } from './environment.ts';
import { failure, notEmpty } from './failure.ts';
import { emptyState, importKey } from './format.ts';
import { openLmdbImport } from './import.ts';
import { Reader } from './reader.ts';
import { logFile } from './tail.ts';

export interface Replacement {
  readonly path: string;
  /** Whether an existing store may be replaced. */
  readonly overwrite: boolean;
  /** Fills the new store, which replaces the old one on success. `old` returns the entries of the old one. */
  readonly fill: (to: StoreImport, old: () => StoreSnapshot) => Promise<void>;
}

const mapSize = 1024 ** 3;

/**
 * Replaces the store in a directory, which is created when it is missing, in one step: whenever the process ends, the
 * directory has the whole old store or the whole new one. Nobody can open it meanwhile. Fails as `unavailable` when the
 * directory is in use, or has a store that may not be replaced; as `damaged` when the old store cannot be opened.
 */
export async function replaceLmdbStore({ path, overwrite, fill }: Replacement): Promise<void> {
  const environment = await openEnvironment(path, mapSize);
  const staged = `${path}.new`;
  try {
    if (!overwrite && (environment.state !== emptyState || environment.root.get(importKey) !== undefined))
      throw notEmpty(path);
    await rm(staged, { recursive: true, force: true });
    const to = await openLmdbImport(staged);
    try {
      await fill(to, () => entriesOf(environment));
    } finally {
      await to.close();
    }
    await sync(join(staged, 'data.mdb'));
    await rename(join(staged, 'data.mdb'), join(path, 'data.mdb'));
    await sync(path);
    // It may have values of the old store.
    await rm(join(path, logFile), { force: true });
  } catch (error) {
    throw failure(path, error);
  } finally {
    await environment.close();
    await rm(staged, { recursive: true, force: true });
  }
}

/** The latest entries of files that nobody writes. */
function entriesOf(files: Environment): StoreSnapshot {
  const { oldest, latest } = files.state;
  const reader = new Reader(files, () => ({ oldest, latest }));
  return {
    revision: latest,
    size: files.heads.count() + files.long.count(),
    pages: () => reader.pages(latest),
    close: async () => {},
  };
}
