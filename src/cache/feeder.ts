import { setImmediate as nextTurn } from 'node:timers/promises';
import { BTree } from '../btree/index.ts';
import type { Entry, Change as StoreChange, StoreError, Watch } from '../store/index.ts';
import type { CachedObject, CacheOptions } from './types.ts';

/** Entries asked of the store at a time. */
const pageEntries = 500;
/** Bytes described before others have their turn: some milliseconds. */
const sliceBytes = 512 * 1024;
const firstDelayMs = 50;
const longestDelayMs = 5_000;

/** How long to wait (ms) after so many failures in a row. */
export function retryDelay(failures: number): number {
  return Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures, 10));
}

/** Where the feeder puts what it reads. */
export interface Feed {
  readonly revision: number;
  /** The object held for a key, if any. */
  held(key: string): CachedObject | undefined;
  /** The whole state at a revision, which need not continue from the present one. */
  load(tree: BTree<CachedObject>, revision: number): void;
  /** The next commit, or only the news that nothing happened up to `revision`. */
  apply(revision: number, changes: readonly StoreChange[]): void;
  /** The store has been closed. */
  end(): void;
}

/**
 * Keeps a feed up to date: loads all objects as they are at one revision, the latest, and follows the store from there.
 * When following fails it goes on from where it was, or loads the present state when the store has given that revision
 * up; after growing delays while that fails.
 */
export class Feeder {
  readonly #options: CacheOptions;
  readonly #feed: Feed;
  readonly #started: () => void;
  #watch: Watch | undefined;
  #loaded = false;
  #failures = 0;
  #closed = false;
  #cancelRetry: (() => void) | undefined;

  /** `started` is called whenever following begins. */
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
      this.#watch = this.#options.store.watch(this.#options.prefix, this.#feed.revision, {
        batch: (revision, changes) => {
          this.#failures = 0;
          this.#feed.apply(revision, changes);
        },
        error: (error) => this.#failed(error),
      });
      this.#started();
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

  #failed(error: StoreError): void {
    this.#watch = undefined;
    if (this.#closed) return;
    if (error.code === 'closed') {
      this.#feed.end();
      return;
    }
    if (error.code === 'compacted' || error.code === 'future') this.#loaded = false;
    this.#cancelRetry = this.#options.clock.after(retryDelay(this.#failures++), () => void this.follow());
  }

  async #load(): Promise<void> {
    const { store, prefix } = this.#options;
    const tree = new BTree<CachedObject>();
    let page = await store.list({ prefix, limit: pageEntries });
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

  /** `same`: objects held already are of the same history. */
  async #take(entries: readonly Entry[], tree: BTree<CachedObject>, same: boolean): Promise<void> {
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
