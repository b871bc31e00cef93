import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreImport } from '../snapshot.ts';
import { sync } from '../sync.ts';
import { emptyState, importKey, openEnvironment } from './environment.ts';
import { failure, notEmpty } from './failure.ts';
import { openLmdbImport } from './import.ts';

export interface Replacement {
  readonly path: string;
  /** Whether a store that is there may be replaced. */
  readonly overwrite: boolean;
  /** Fills the new store, which takes the place of the old one if it succeeds. */
  readonly fill: (to: StoreImport) => Promise<void>;
}

const mapSize = 1024 ** 3;

/**
 * Replaces the store in a directory, which is created when it is missing, in one step: whenever the process ends, the
 * directory has the whole old store or the whole new one. Nobody can open it meanwhile. Fails as `unavailable` when the
 * directory is in use, or has a store that may not be replaced; as `damaged` when the old store cannot be opened.
 */
export async function replaceLmdbStore({ path, overwrite, fill }: Replacement): Promise<void> {
  const held = await openEnvironment(path, mapSize);
  const staged = `${path}.new`;
  try {
    if (!overwrite && (held.state !== emptyState || held.root.get(importKey) !== undefined)) throw notEmpty(path);
    await rm(staged, { recursive: true, force: true });
    const to = await openLmdbImport(staged);
    try {
      await fill(to);
    } finally {
      await to.close();
    }
    await sync(join(staged, 'data.mdb'));
    await rename(join(staged, 'data.mdb'), join(path, 'data.mdb'));
    await sync(path);
  } catch (error) {
    throw failure(path, error);
  } finally {
    await held.close();
    await rm(staged, { recursive: true, force: true });
  }
}
