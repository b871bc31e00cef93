import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Entry, type Change as StoreChange, StoreError, type Watch } from '../store/index.ts';
import { Tree } from './tree.ts';
import type { CachedObject, CacheOptions } from './types.ts';

/** Entries asked of the store at a time. */
const pageEntries = 500;
/** Bytes described before others have their turn: some milliseconds. */
const sliceBytes = 512 * 1024;
const firstDelayMs = 50;
const longestDelayMs = 5_000;

/** Where the feeder puts what it reads. */
export interface Feed {
  readonly revision: number;
  /** The object held for a key, if any. */
  held(key: string): CachedObject | undefined;
  /** The whole state at a revision, which need not continue from the present one. */
  load(tree: Tree, revision: number): void;
  /** The next commit, or only the news that nothing happened up to `revision`. */
  apply(revision: number, changes: readonly StoreChange[]): void;
  /** The store has been closed. */
  end(): void;
}

/**
 * Keeps a feed up to date: loads all objects as they were at the oldest revision that the store still keeps, then
 * follows the store from there, so that watches may begin anywhere in its history. When following fails it goes on
 * from where it was, or loads the present state when the store has given that revision up; after growing delays while
 * that fails.
 */
export class Feeder {
  readonly #options: CacheOptions;
  readonly #feed: Feed;
  readonly #started: () => void;
  #watch: Watch | undefined;
  #loaded = false;
  #failures = 0;
  #closed = false;
  /** The revision that was the latest when following began; until it is reached, what is held is history. */
  #present = 0;
  #behind = false;
  #cancelRetry: (() => void) | undefined;

  /** `started` is called whenever the store is being followed and its state at that time has been reached. */
  constructor(options: CacheOptions, feed: Feed, started: () => void) {
    this.#options = options;
    this.#feed = feed;
    this.#started = started;
  }

  async follow(): Promise<void> {
    try {
      if (!this.#loaded) await this.#load();
      if (this.#closed) return;
      this.#loaded = true;
      this.#present = await this.#options.store.revision();
      if (this.#closed) return;
      this.#behind = true;
      this.#watch = this.#options.store.watch(this.#options.prefix, this.#feed.revision, {
        batch: (revision, changes) => {
          this.#failures = 0;
          this.#feed.apply(revision, changes);
          this.#caughtUp();
        },
        error: (error) => this.#failed(error),
      });
      this.#caughtUp();
      if (this.#behind) this.#watch.progress();
    } catch (error) {
      // The store throws nothing else.
      this.#failed(error as StoreError);
    }
  }

  /** Asks the store for an empty batch; false when it is not being followed at the moment. */
  progress(): boolean {
    this.#watch?.progress();
    return this.#watch !== undefined;
  }

  close(): void {
    this.#closed = true;
    this.#watch?.close();
    this.#watch = undefined;
    this.#cancelRetry?.();
  }

  #caughtUp(): void {
    if (!this.#behind || this.#feed.revision < this.#present) return;
    this.#behind = false;
    this.#started();
  }

  #failed(error: StoreError): void {
    this.#watch = undefined;
    if (this.#closed) return;
    if (error.code === 'closed') {
      this.#feed.end();
      return;
    }
    if (error.code === 'compacted' || error.code === 'future') this.#loaded = false;
    const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(this.#failures++, 10));
    this.#cancelRetry = this.#options.clock.after(delay, () => void this.follow());
  }

  async #load(): Promise<void> {
    const { store, prefix } = this.#options;
    const tree = new Tree();
    // What has been shown already must not go back in time.
    const start = this.#feed.revision === 0 ? { revision: await this.#oldest() } : {};
    let page = await store.list({ prefix, limit: pageEntries, ...start });
    const { revision } = page;
    for (;;) {
      await this.#take(page.entries, tree, revision >= this.#feed.revision);
      const after = page.entries.at(-1)?.key;
      if (this.#closed) return;
      if (!page.more || after === undefined) break;
      page = await store.list({ prefix, after, revision, limit: pageEntries });
    }
    this.#feed.load(tree, revision);
  }

  /** The first revision that the store still keeps. */
  async #oldest(): Promise<number> {
    try {
      await this.#options.store.list({ prefix: this.#options.prefix, revision: 1, limit: 0 });
    } catch (error) {
      if (error instanceof StoreError && error.code === 'compacted' && error.revision !== undefined)
        return error.revision;
      throw error;
    }
    return 1;
  }

  /** `same`: objects held already are of the same history. */
  async #take(entries: readonly Entry[], tree: Tree, same: boolean): Promise<void> {
    let bytes = 0;
    for (const entry of entries) {
      const held = same ? this.#feed.held(entry.key) : undefined;
      tree.set(held?.revision === entry.revision ? held : this.#options.describe(entry));
      bytes += entry.value.length;
      if (bytes < sliceBytes) continue;
      bytes = 0;
      await nextTurn();
      if (this.#closed) return;
    }
    await nextTurn();
  }
}
