import type { Clock } from '../meta/index.ts';
import { type Migration, migrationKey, readMigration } from './migration.ts';
import type { ImportState, LeasedEntry, StoreImport } from './snapshot.ts';
import { type Store, StoreError, type Write } from './store.ts';

/** One of the 128 writes of a commit is the state; others are reserved for the driver. */
const entriesACommit = 100;
/** Half the limit of a request to the store. */
const bytesACommit = 512 * 1024;

export interface CommitImportOptions {
  /** The target, which the import closes. */
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  /** All entries of the store. */
  readonly pages: () => AsyncIterable<readonly LeasedEntry[]>;
}

/**
 * An import by commits, for stores that assign revisions themselves: the entries get new ones, and the store an offset to
 * them. Each commit requires the state that the previous one has written, so that of two concurrent imports one fails.
 * Fails as `unavailable` when the store is not empty.
 */
export async function openCommitImport(options: CommitImportOptions): Promise<StoreImport> {
  const { store } = options;
  const { entry, revision } = await store.get(migrationKey);
  const { state } = readMigration(entry);
  if (state === undefined) {
    const { entries } = await store.list({ prefix: '', limit: 1, revision });
    if (entries.length > 0) {
      throw new StoreError('unavailable', 'the target is not empty: give another prefix, or remove the keys below it');
    }
  }
  return new CommitImport(options, state, entry?.revision ?? 0);
}

class CommitImport implements StoreImport {
  readonly exact = false;
  readonly most = { entries: entriesACommit, bytes: bytesACommit };
  readonly #options: CommitImportOptions;
  #state: ImportState | undefined;
  /** The revision of the key of the migration; 0 when it is absent. */
  #guard: number;

  constructor(options: CommitImportOptions, state: ImportState | undefined, guard: number) {
    this.#options = options;
    this.#state = state;
    this.#guard = guard;
  }

  get state(): ImportState | undefined {
    return this.#state;
  }

  async write(entries: readonly LeasedEntry[], state: ImportState): Promise<void> {
    const writes = entries.map((entry) => this.#writeOf(entry));
    await this.#commit({ state }, writes);
    this.#state = state;
  }

  async *pages(): AsyncGenerator<readonly LeasedEntry[]> {
    for await (const page of this.#options.pages()) yield page.filter(({ key }) => key !== migrationKey);
  }

  finish(revision: number): Promise<void> {
    return this.#commit({ offset: revision }, []);
  }

  async clear(): Promise<void> {
    const { store } = this.#options;
    const left = this.#state === undefined ? {} : { state: this.#state };
    for (;;) {
      const { entries } = await store.list({ prefix: '', limit: entriesACommit });
      const deletes = entries.filter(({ key }) => key !== migrationKey).map(({ key }) => ({ key }));
      if (deletes.length === 0) break;
      await this.#commit(left, deletes);
    }
    this.#state = undefined;
  }

  close(): Promise<void> {
    return this.#options.store.close();
  }

  #writeOf({ key, value, expires }: LeasedEntry): Write {
    const { store, clock } = this.#options;
    const most = store.maxValueBytes;
    if (value.length > most) {
      const size = `the value of ${JSON.stringify(key)} has ${value.length} bytes, and the target takes ${most}`;
      throw new StoreError('invalid', `${size}: make the object smaller at the source, or delete it`);
    }
    if (expires === undefined) return { key, value };
    return { key, value, ttl: Math.max(1, Math.ceil((expires - clock.now()) / 1000)) };
  }

  async #commit(migration: Migration, writes: readonly Write[]): Promise<void> {
    const marker = { key: migrationKey, value: Buffer.from(JSON.stringify(migration)) };
    const guard = { key: migrationKey, revision: this.#guard };
    const result = await this.#options.store.commit([guard], [marker, ...writes]);
    if (!result.ok) throw new StoreError('unavailable', 'another process copies to the same target: wait for it');
    this.#guard = result.revision;
  }
}
