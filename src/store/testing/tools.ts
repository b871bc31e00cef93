import { expect } from 'vitest';
import type { Change, Entry, Store, StoreError, Watch, WatchOptions, WatchSink } from '../store.ts';

/**
 * A store under test: without keys, at any revision. What it is part of may have other keys, but nobody else writes
 * meanwhile, so that commits take revisions without a gap.
 */
export interface OpenedStore {
  readonly store: Store;
  /** Lets `ms` milliseconds pass for the store, by its clock, or in fact with `realTime`. */
  advance(ms: number): Promise<void>;
  /**
   * Leases run by real time. Their keys are then to be gone within some seconds of their time to live; without it, within
   * the bounds of the contract exactly.
   */
  readonly realTime?: true;
  /** Closes the store, if it is open, and removes its data. */
  cleanup(): Promise<void>;
}

export const bytes = (text: string) => new TextEncoder().encode(text);
export const text = (entry: Entry | undefined) => entry && new TextDecoder().decode(entry.value);
export const put = (key: string, value = 'x') => ({ key, value: bytes(value) });
export const absent = (key: string) => ({ key, revision: 0 });
/** A change as key, new value, old value. */
export const shown = ({ key, entry, previous }: Change) => [key, text(entry), text(previous)];

export const byKey = (a: Change, b: Change) => (a.key < b.key ? -1 : 1);

/** Records what a watch delivers. Promises reject once a delivery has violated the contract. */
export class Recorder implements WatchSink {
  readonly batches: { revision: number; changes: readonly Change[] }[] = [];
  readonly errors: StoreError[] = [];
  readonly #waiting = new Set<{ done: () => boolean; resolve: () => void; reject: (error: Error) => void }>();
  /** Every change up to this revision has been delivered. */
  #complete = 0;
  #violation: Error | undefined;

  batch(revision: number, changes: readonly Change[]): void {
    if (this.errors.length > 0) this.#violate(`revision ${revision} after the end`);
    if (changes.length > 0 && revision <= this.#complete) this.#violate(`${revision} after ${this.#complete}`);
    this.#complete = Math.max(this.#complete, revision);
    this.batches.push({ revision, changes });
    this.#wake();
  }
  error(error: StoreError): void {
    if (this.errors.length > 0) this.#violate('a second end');
    this.errors.push(error);
    this.#wake();
  }
  /** Resolves once the condition holds; it is evaluated after every call to the sink. */
  until(done: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.add({ done, resolve, reject });
      this.#wake();
    });
  }
  /** Resolves once every change up to `revision` has been delivered; without `progress` it must have a change. */
  reached(revision: number): Promise<void> {
    return this.until(() => this.#complete >= revision);
  }
  async failed(): Promise<StoreError> {
    await this.until(() => this.errors.length > 0);
    return this.errors[0] as StoreError;
  }
  /** Batches with changes; the others are progress notifications. */
  get commits() {
    return this.batches.filter(({ changes }) => changes.length > 0);
  }
  get changes(): unknown[] {
    return this.batches.flatMap((batch) => batch.changes.map(shown));
  }
  /** The revisions of commits. */
  get revisions(): number[] {
    return this.commits.map(({ revision }) => revision);
  }
  get notifications(): number[] {
    return this.batches.filter(({ changes }) => changes.length === 0).map(({ revision }) => revision);
  }
  #violate(text: string): void {
    this.#violation ??= new Error(`the watch delivered ${text}`);
  }
  #wake(): void {
    for (const waiter of this.#waiting) {
      if (this.#violation === undefined && !waiter.done()) continue;
      this.#waiting.delete(waiter);
      if (this.#violation === undefined) waiter.resolve();
      else waiter.reject(this.#violation);
    }
  }
}

type Recording = Recorder & Pick<Watch, 'progress' | 'close'>;

const stepMs = 250;

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
  readonly watch: (prefix: string, after: number, options?: WatchOptions) => Recording;
  /** Lets time pass until `done` holds for what the watch has delivered. */
  readonly passUntil: (seen: Recording, done: () => boolean) => Promise<void>;
  /** The time that has passed for the store (ms). */
  readonly elapsed: () => number;
  /** Whether leases run by real time. */
  readonly realTime: () => boolean;
}

/** Tools for the store that `opened` returns at the time of use. */
export function toolsFor(opened: () => OpenedStore): Tools {
  const store: Store = {
    get maxValueBytes() {
      return opened().store.maxValueBytes;
    },
    revision: () => opened().store.revision(),
    oldest: () => opened().store.oldest(),
    size: () => opened().store.size(),
    get: (key, revision) => opened().store.get(key, revision),
    list: (range) => opened().store.list(range),
    commit: (compares, writes) => opened().store.commit(compares, writes),
    watch: (...given) => opened().store.watch(...given),
    compact: (revision) => opened().store.compact(revision),
    close: () => opened().store.close(),
  };
  let advanced = 0;
  const advance = async (ms: number) => {
    await opened().advance(ms);
    advanced += ms;
  };
  const realTime = () => opened().realTime === true;
  return {
    store,
    advance,
    realTime,
    elapsed: () => (realTime() ? performance.now() : advanced),
    async passUntil(seen, done) {
      while (!done()) {
        await advance(stepMs);
        // Commits are answered in order, so this one waits for those of the store itself.
        const { revision } = await store.commit([], [{ key: 'absent' }]);
        seen.progress();
        await seen.reached(revision);
      }
    },
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
