import { setImmediate as nextTurn } from 'node:timers/promises';
import { BTree } from '../btree/index.ts';
import {
  type Entry,
  pagesOf,
  type Change as StoreChange,
  type StoreError,
  type StoreErrorCode,
  type Watch,
} from '../store/index.ts';
import { unknownLabels } from './selection.ts';
import type { CachedObject, CacheOptions } from './types.ts';

/** Bytes decoded in one turn of the event loop: some milliseconds. */
const sliceBytes = 512 * 1024;
const firstDelayMs = 50;
const longestDelayMs = 5_000;
/** Maximum delay while the store cannot be reached: attempts are cheap, and reads recover soon after it can. */
const longestAwayMs = 500;

/** The errors of a watch after which the store is listed again. */
const relistErrorCodes: ReadonlySet<StoreErrorCode> = new Set(['compacted', 'future', 'damaged']);

/** Returns the backoff (ms) after consecutive failures, the last one with this code. */
export function retryDelay(failures: number, code: StoreErrorCode): number {
  const longest = code === 'unavailable' ? longestAwayMs : longestDelayMs;
  return Math.min(longest, firstDelayMs * 2 ** Math.min(failures, 10));
}

/** The cache as the feeder sees it. */
export interface Feed {
  readonly revision: number;
  /** Returns the cached object with this key. */
  get(key: string): CachedObject | undefined;
  /** Replaces the whole state with that of a revision, which may be earlier than the current one. */
  load(tree: BTree<CachedObject>, revision: number): void;
  /** Applies the next commit; without changes it is a progress notification. */
  apply(revision: number, changes: readonly StoreChange[]): void;
  /** Reports that stored data cannot be read. The feeder retries. */
  damaged(error: StoreError): void;
  /** Reports that a watch of the store has begun. */
  watchBegan(): void;
  /** Reports that the store has been closed. */
  close(): void;
}

/**
 * List-watch: lists all objects at the latest revision and watches the store from there. When the watch fails, it
 * resumes from the last revision, or lists again when the changes since are compacted or damaged, with exponential backoff.
 */
export class Feeder {
  readonly #options: CacheOptions;
  readonly #feed: Feed;
  #watch: Watch | undefined;
  #loaded = false;
  #failures = 0;
  #closed = false;
  #cancelRetry: (() => void) | undefined;

  constructor(options: CacheOptions, feed: Feed) {
    this.#options = options;
    this.#feed = feed;
  }

  async run(): Promise<void> {
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
      this.#feed.watchBegan();
    } catch (error) {
      // The store throws only StoreErrors.
      this.#failed(error as StoreError);
    }
  }

  /** Requests a progress notification; false while the store is not watched. */
  requestProgress(): boolean {
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
      this.#feed.close();
      return;
    }
    if (relistErrorCodes.has(error.code)) this.#loaded = false;
    if (error.code === 'damaged') this.#feed.damaged(error);
    this.#cancelRetry = this.#options.clock.after(retryDelay(this.#failures++, error.code), () => void this.run());
  }

  async #load(): Promise<void> {
    const { store, prefix } = this.#options;
    const tree = new BTree<CachedObject>();
    let at = 0;
    for await (const { entries, revision } of pagesOf(store, { prefix })) {
      await this.#addPage(entries, tree, revision >= this.#feed.revision);
      if (this.#closed) return;
      this.#options.onRead?.(entries.length);
      at = revision;
    }
    this.#feed.load(tree, at);
  }

  /**
   * Adds a page to the tree. Reuses cached objects that are current, if both are of the same history (`same`). An object
   * that could not be decoded is decoded again.
   */
  async #addPage(entries: readonly Entry[], tree: BTree<CachedObject>, same: boolean): Promise<void> {
    let bytes = 0;
    for (const entry of entries) {
      const cached = same ? this.#feed.get(entry.key) : undefined;
      const current = cached?.revision === entry.revision && cached.labels !== unknownLabels;
      tree.set(current ? cached : this.#options.describe(entry));
      bytes += entry.value.length;
      if (bytes < sliceBytes) continue;
      bytes = 0;
      await nextTurn();
      if (this.#closed) return;
    }
  }
}
