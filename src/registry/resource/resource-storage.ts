import { createWatchCache, type WatchCache, type WindowMemory } from '../../cache/index.ts';
import type { Clock, Features, GroupResource, StatusError } from '../../meta/index.ts';
import type { Store } from '../../store/index.ts';
import { ListSnapshots } from '../read/list-snapshots.ts';
import { describeDeleted, toCachedObject } from '../stored/describe.ts';
import type { ObjectFormat } from '../stored/format.ts';

export interface StorageOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly features: Features;
  /** How long changes are kept for watches that start in the past (ms), and their maximum size in bytes. */
  readonly windowMs: number;
  readonly windowBytes: number;
  /** The memory that the windows of all resources share. */
  readonly windowMemory: WindowMemory;
  /** See `Observer.read`. */
  readonly onRead?: ((objects: number) => void) | undefined;
  /** See `Observer.damaged`. */
  readonly onDamage?: ((error: StatusError) => void) | undefined;
}

/** How long requests in flight may still use the cache of a resource that has been removed or replaced (ms). */
const retirementMs = 60_000;

/** How long a cache may take to reach a revision before it forgets up to it (ms). */
const forgetMs = 3_000;

const doNothing = () => {};

/** The shared parts of resources that share their objects. */
export class ResourceStorage {
  /** The encoding of stored objects. */
  readonly format: ObjectFormat;
  /** Recent snapshots for the pages of lists; undefined: older pages are read from the store. */
  readonly listSnapshots: ListSnapshots | undefined;
  readonly #clock: Clock;
  readonly #makeCache: () => WatchCache;
  #cache: WatchCache | undefined;
  #closed = false;
  #cancelClose: () => void = doNothing;

  /** `id`: the resource in messages. */
  constructor(id: GroupResource, format: ObjectFormat, options: StorageOptions) {
    const { store, clock, features, windowMs, windowBytes, windowMemory, onRead, onDamage } = options;
    this.#clock = clock;
    this.format = format;
    this.listSnapshots = features.ListFromCacheSnapshot ? new ListSnapshots(clock) : undefined;
    this.#makeCache = () =>
      createWatchCache({
        store,
        id,
        prefix: format.keyPrefix,
        clock,
        describe: toCachedObject.bind(undefined, format),
        describeDeleted: describeDeleted.bind(undefined, format),
        indexedFields: format.fields.filter(({ indexed }) => indexed === true).map(({ path }) => path),
        windowMs,
        windowBytes,
        windowMemory,
        onRead,
        onDamage,
      });
  }

  /** It is made when it is used: a definition may have many versions that nobody uses. It reads nothing before it is asked to. */
  get cache(): WatchCache {
    if (this.#cache === undefined) {
      this.#cache = this.#makeCache();
      if (this.#closed) this.#cache.close();
    }
    return this.#cache;
  }

  /** Stored data that the cache cannot read. */
  get damage(): StatusError | undefined {
    return this.#cache?.damage;
  }

  /** Forgets the events and the snapshots of lists up to `revision`. */
  async forget(revision: number): Promise<void> {
    this.listSnapshots?.clear();
    await this.#cache?.forget(revision, forgetMs);
  }

  /**
   * Ends the watches. The cache is closed when requests in flight have had the time to finish, and `closed` is called.
   */
  retire(closed: () => void): void {
    this.#cache?.endSubscriptions();
    this.#cancelClose = this.#clock.after(retirementMs, () => {
      this.close();
      closed();
    });
  }

  close(): void {
    this.#cancelClose();
    this.#closed = true;
    this.#cache?.close();
    this.listSnapshots?.clear();
  }
}
