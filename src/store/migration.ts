import { isJsonObject, type Json } from '../meta/index.ts';
import { offsetRevisions } from './revision-offset.ts';
import type { ImportState } from './snapshot.ts';
import { type Entry, type Store, StoreError } from './store.ts';

/** The key of {@link Migration}; keys of resources have a second slash. */
export const migrationKey = '/migration';

/** The record of a copy in a store that assigns revisions itself. */
export interface Migration {
  /** Whether the import is unfinished. */
  readonly state?: ImportState;
  /** Added to the revisions that the store assigns: see {@link offsetRevisions}. */
  readonly offset?: number;
}

/** Throws `damaged`. */
export function readMigration(entry: Entry | undefined): Migration {
  if (entry === undefined) return {};
  try {
    const found = JSON.parse(Buffer.from(entry.value).toString()) as Json;
    if (isJsonObject(found)) return found as Migration;
  } catch {
    // Not JSON.
  }
  throw new StoreError('damaged', `the store has a damaged value under the key ${migrationKey}`);
}

/** Returns the offset of a copy, 0 for other stores. Throws `unavailable` when the copy is unfinished. */
export function offsetOf({ state, offset = 0 }: Migration): number {
  if (state === undefined) return offset;
  throw new StoreError('unavailable', 'the store is an unfinished copy: finish the migration that began it');
}

/** Applies the revision offset of a migration, if there was one. Closes the store on failure. */
export async function openMigrated(store: Store): Promise<Store> {
  try {
    const { entry } = await store.get(migrationKey);
    const offset = offsetOf(readMigration(entry));
    return offset === 0 ? store : offsetRevisions(store, offset);
  } catch (error) {
    await store.close();
    throw error;
  }
}
