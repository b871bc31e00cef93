import { expect } from 'vitest';
import type { Change, Entry, Store, StoreError, Watch, WatchOptions } from '../store.ts';

/** A store under test: empty, at any revision. */
export interface OpenedStore {
  readonly store: Store;
  /** Advances the clock of the store (ms). */
  advance(ms: number): Promise<void>;
  /** Closes the store, if it is open, and removes its files. */
  cleanup(): Promise<void>;
}

export const bytes = (text: string) => new TextEncoder().encode(text);
export const text = (entry: Entry | undefined) => entry && new TextDecoder().decode(entry.value);
export const put = (key: string, value = 'x') => ({ key, value: bytes(value) });
export const absent = (key: string) => ({ key, revision: 0 });
/** A change as key, new value, old value. */
export const shown = ({ key, entry, previous }: Change) => [key, text(entry), text(previous)];

export const byKey = (a: Change, b: Change) => (a.key < b.key ? -1 : 1);

/** Records what a watch delivers. */
export class Recorder {
  readonly batches: { revision: number; changes: readonly Change[] }[] = [];
  readonly errors: StoreError[] = [];
  readonly #waiting = new Set<{ done: () => boolean; resolve: () => void }>();

  batch(revision: number, changes: readonly Change[]): void {
    this.batches.push({ revision, changes });
    this.#wake();
  }
  error(error: StoreError): void {
    this.errors.push(error);
    this.#wake();
  }
  /** Resolves once the condition holds; it is evaluated after every call to the sink. */
  until(done: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add({ done, resolve });
      this.#wake();
    });
  }
  /** Resolves once `revision` has been delivered; it must have a change. */
  reached(revision: number): Promise<void> {
    return this.until(() => (this.batches.at(-1)?.revision ?? 0) >= revision);
  }
  async failed(): Promise<StoreError> {
    await this.until(() => this.errors.length > 0);
    return this.errors[0] as StoreError;
  }
  get changes(): unknown[] {
    return this.batches.flatMap((batch) => batch.changes.map(shown));
  }
  get revisions(): number[] {
    return this.batches.map(({ revision }) => revision);
  }
  #wake(): void {
    for (const waiter of this.#waiting) {
      if (!waiter.done()) continue;
      this.#waiting.delete(waiter);
      waiter.resolve();
    }
  }
}

/** The store of the current case, with helpers. */
export interface Tools {
  readonly store: Store;
  readonly advance: (ms: number) => Promise<void>;
  /** Commits, expects success, and returns the revision. */
  readonly write: (...writes: Parameters<Store['commit']>[1]) => Promise<number>;
  /** The text that a key holds. */
  readonly read: (key: string, revision?: number) => Promise<string | undefined>;
  readonly keys: (prefix: string) => Promise<string[]>;
  /** Watches with previous entries unless told otherwise. */
  readonly watch: (
    prefix: string,
    after: number,
    options?: WatchOptions,
  ) => Recorder & Pick<Watch, 'progress' | 'close'>;
}

/** Tools for the store that `opened` returns at the time of use. */
export function toolsFor(opened: () => OpenedStore): Tools {
  const store: Store = {
    get maxValueBytes() {
      return opened().store.maxValueBytes;
    },
    revision: () => opened().store.revision(),
    oldest: () => opened().store.oldest(),
    get: (key, revision) => opened().store.get(key, revision),
    list: (range) => opened().store.list(range),
    commit: (compares, writes) => opened().store.commit(compares, writes),
    watch: (...given) => opened().store.watch(...given),
    compact: (revision) => opened().store.compact(revision),
    close: () => opened().store.close(),
  };
  return {
    store,
    advance: (ms) => opened().advance(ms),
    async write(...writes) {
      const result = await store.commit([], writes);
      expect(result.ok).toBe(true);
      return result.revision;
    },
    read: async (key, revision) => text((await store.get(key, revision)).entry),
    keys: async (prefix) => (await store.list({ prefix })).entries.map(({ key }) => key),
    watch(prefix, after, options = { previous: true }) {
      const sink = new Recorder();
      const begun = store.watch(prefix, after, sink, options);
      return Object.assign(sink, { progress: () => begun.progress(), close: () => begun.close() });
    },
  };
}
