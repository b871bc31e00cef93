import { rm } from 'node:fs/promises';
import { checkKey } from '../check.ts';
import type { ImportState, LeasedEntry, StoreImport } from '../snapshot.ts';
import { type Environment, openEnvironment } from './environment.ts';
import { failure, notEmpty, openedByOther } from './failure.ts';
import { emptyState, importKey, stateKey } from './format.ts';
import type { Change } from './log-format.ts';
import { Reader } from './reader.ts';
import { completeRecord, encodeState, makeRecord, Slab } from './records.ts';
import { writeChanges } from './tables.ts';
import { causeOf } from './tree.ts';

const mapSize = 1024 ** 3;

/**
 * Opens an import into a directory, which is created when it is missing. Fails as `unavailable` or `damaged`; as
 * `unavailable` also when the directory has a store.
 */
export async function openLmdbImport(path: string): Promise<StoreImport> {
  const environment = await openEnvironment(path, mapSize);
  try {
    const found = environment.root.get(importKey);
    if (found === undefined && environment.state !== emptyState) throw notEmpty(path);
    return new LmdbImport(environment, found && (JSON.parse(found.toString()) as ImportState));
  } catch (error) {
    await environment.close();
    throw failure(path, error);
  }
}

class LmdbImport implements StoreImport {
  readonly exact = true;
  readonly most = { entries: 1000, bytes: 4 * 1024 * 1024 };
  #environment: Environment;
  #reader: Reader;
  #state: ImportState | undefined;
  readonly #slab = new Slab();

  constructor(environment: Environment, state: ImportState | undefined) {
    this.#environment = environment;
    this.#reader = this.#readerOf(environment);
    this.#state = state;
  }

  get state(): ImportState | undefined {
    return this.#state;
  }

  async write(entries: readonly LeasedEntry[], state: ImportState): Promise<void> {
    const { root, records, leases } = this.#environment;
    const { heads } = this.#reader;
    const changes: Change[] = [];
    const written = entries.map(({ key, value, revision, expires }, i) => {
      const bytes = checkKey(key);
      const record = makeRecord(this.#slab, bytes, value, expires ?? 0);
      // Unique, and not the place in its commit, which matters only to history.
      const ordinal = (this.#state?.entries ?? 0) + i;
      completeRecord(record, { revision, ordinal }, 1, undefined);
      const pointer = { revision, ordinal, deleted: false, leased: expires !== undefined };
      changes.push(records.change(pointer, record), heads.change(bytes, pointer));
      if (expires !== undefined) changes.push(leases.change({ ...pointer, expires }, pointer));
      return { key: bytes, pointer };
    });
    await this.#batch(() => {
      writeChanges(this.#environment, changes);
      void root.put(importKey, Buffer.from(JSON.stringify(state)));
    });
    for (const { key, pointer } of written) heads.settle(key, pointer);
    this.#state = state;
  }

  pages(): AsyncIterable<readonly LeasedEntry[]> {
    return this.#reader.pages(this.#state?.revision ?? 1);
  }

  async finish(revision: number): Promise<void> {
    const { root } = this.#environment;
    await this.#batch(() => {
      const state = { ...emptyState, latest: revision, oldest: revision, swept: revision };
      void root.put(stateKey, encodeState(state));
      void root.remove(importKey);
    });
  }

  async clear(): Promise<void> {
    const { path } = this.#environment;
    await this.#environment.close();
    await rm(path, { recursive: true, force: true });
    this.#environment = await openEnvironment(path, mapSize);
    this.#reader = this.#readerOf(this.#environment);
    this.#state = undefined;
  }

  close(): Promise<void> {
    return this.#environment.close();
  }

  #readerOf(environment: Environment): Reader {
    return new Reader(environment, () => emptyState);
  }

  async #batch(write: () => void): Promise<void> {
    const { path } = this.#environment;
    this.#environment.sequence.check();
    const written = await this.#environment.sequence.batch(write).catch(async (error: unknown) => {
      throw failure(path, await causeOf(error));
    });
    if (!written) throw openedByOther(path);
  }
}
