import { failedWatch } from './fan-out.ts';
import {
  type CommitResult,
  type Compare,
  type Entry,
  type GetResult,
  type ListRange,
  type ListResult,
  type Store,
  StoreError,
  type Watch,
  type WatchOptions,
  type WatchSink,
  type Write,
} from './store.ts';

/**
 * The store with `offset` added to its revisions: those up to `offset` belong to another store, from which this one has
 * been copied. They are compacted, and no entry has one of them.
 */
export function offsetRevisions(store: Store, offset: number): Store {
  return new OffsetStore(store, offset);
}

/** A revision that no entry has. */
const never = Number.MAX_SAFE_INTEGER;

class OffsetStore implements Store {
  readonly maxValueBytes: number;
  readonly #store: Store;
  readonly #offset: number;

  constructor(store: Store, offset: number) {
    this.maxValueBytes = store.maxValueBytes;
    this.#store = store;
    this.#offset = offset;
  }

  async revision(): Promise<number> {
    return (await this.#store.revision()) + this.#offset;
  }

  async oldest(): Promise<number> {
    return (await this.#store.oldest()) + this.#offset;
  }

  size(): Promise<number | undefined> {
    return this.#store.size();
  }

  async get(key: string, revision?: number): Promise<GetResult> {
    if (this.#isEarlier(revision)) throw compacted(await this.oldest());
    const inner = revision === undefined ? undefined : revision - this.#offset;
    const found = await this.#outward(this.#store.get(key, inner));
    return { entry: this.#entry(found.entry), revision: found.revision + this.#offset };
  }

  async list(range: ListRange): Promise<ListResult> {
    if (this.#isEarlier(range.revision)) throw compacted(await this.oldest());
    const inner = range.revision === undefined ? range : { ...range, revision: range.revision - this.#offset };
    const found = await this.#outward(this.#store.list(inner));
    const entries = found.entries.map((entry) => ({ ...entry, revision: entry.revision + this.#offset }));
    return { ...found, entries, revision: found.revision + this.#offset };
  }

  async commit(compares: readonly Compare[], writes: readonly Write[]): Promise<CommitResult> {
    const inner = compares.map(({ key, revision, below = false }) => ({
      key,
      below,
      revision: below ? Math.max(0, revision - this.#offset) : this.#compared(revision),
    }));
    const result = await this.#outward(this.#store.commit(inner, writes));
    const revision = result.revision + this.#offset;
    return result.ok
      ? { ok: true, revision }
      : { ok: false, revision, found: result.found.map((entry) => this.#entry(entry)) };
  }

  watch(prefix: string, after: number, sink: WatchSink, options?: WatchOptions): Watch {
    const shifted: WatchSink = {
      batch: (revision, changes) =>
        sink.batch(
          revision + this.#offset,
          changes.map(({ key, entry, previous }) => ({
            key,
            entry: this.#entry(entry),
            previous: this.#entry(previous),
          })),
        ),
      error: (error) => sink.error(this.#error(error)),
    };
    if (this.#isEarlier(after))
      return failedWatch(
        sink,
        this.oldest().then(compacted, (error: StoreError) => error),
      );
    return this.#store.watch(prefix, after - this.#offset, shifted, options);
  }

  async compact(revision: number): Promise<void> {
    await (this.#isEarlier(revision)
      ? this.#store.oldest()
      : this.#outward(this.#store.compact(revision - this.#offset)));
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** Whether it is a revision of the other store. */
  #isEarlier(revision: number | undefined): boolean {
    return revision !== undefined && Number.isSafeInteger(revision) && revision > 0 && revision <= this.#offset;
  }

  #compared(revision: number): number {
    return this.#isEarlier(revision) ? never : revision > this.#offset ? revision - this.#offset : revision;
  }

  #entry(entry: Entry | undefined): Entry | undefined {
    return entry && { ...entry, revision: entry.revision + this.#offset };
  }

  async #outward<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (error) {
      throw error instanceof StoreError ? this.#error(error) : error;
    }
  }

  #error(error: StoreError): StoreError {
    const { code, revision } = error;
    if (revision === undefined) return error;
    return code === 'compacted' ? compacted(revision + this.#offset, error) : future(revision + this.#offset, error);
  }
}

const compacted = (oldest: number, cause?: StoreError) =>
  new StoreError('compacted', `the revision is no longer kept; the first that is kept is ${oldest}`, {
    revision: oldest,
    cause,
  });

const future = (latest: number, cause: StoreError) =>
  new StoreError('future', `the revision has not been reached; the latest is ${latest}`, { revision: latest, cause });
