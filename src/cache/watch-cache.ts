import { BTree, type BTreeSnapshot } from '../btree/index.ts';
import { type LabelRequirement, type StatusError, statusError } from '../meta/index.ts';
import type { Change as StoreChange, StoreError } from '../store/index.ts';
import { Bookmarks } from './bookmarks.ts';
import { Change } from './change.ts';
import { Deliveries } from './deliveries.ts';
import { Directory } from './directory.ts';
import { type Feed, Feeder } from './feeder.ts';
import { HistoryReader } from './history.ts';
import { candidatesOf, type IndexedLabels, LabelIndexes } from './label-indexes.ts';
import { type Hub, Subscriber } from './subscriber.ts';
import type {
  CacheCounts,
  CachedObject,
  CacheOptions,
  ChangeListener,
  Snapshot,
  SubscribeOptions,
  Subscription,
  WatchCache,
} from './types.ts';
import { Waiters } from './waiters.ts';
import { EventWindow, tooOld } from './window.ts';

/** Maximum time that a request waits for a cache to load, as in the reference server. */
const loadTimeoutMs = 34_000;
const notInTime = 'Timeout: request did not complete within requested timeout - context deadline exceeded';

/** Creates a cache, which is empty until `ready` is called. */
export function createWatchCache(options: CacheOptions): WatchCache {
  return new Cache(options);
}

class Cache implements WatchCache, Feed {
  revision = 0;
  readonly #options: CacheOptions;
  readonly #window: EventWindow;
  readonly #waiters: Waiters;
  /** Calls that wait for the cache to load, at any revision. */
  readonly #loading: Waiters;
  readonly #feeder: Feeder;
  readonly #hub: Hub;
  readonly #listeners: ChangeListener[] = [];
  #tree = new BTree<CachedObject>();
  readonly #indexes = new LabelIndexes(
    () => this.#tree,
    () => {
      this.#snapshot = undefined;
    },
  );
  #snapshot: Snapshot | undefined;
  #started = false;
  #loaded = false;
  #damage: StatusError | undefined;
  #closed = false;
  #loads = 0;
  #received = 0;
  /** Whether a progress notification has been requested, and whether another must follow it. */
  #progressPending = false;
  #progressAgain = false;

  constructor(options: CacheOptions) {
    const { clock } = options;
    this.#options = options;
    this.#window = new EventWindow(clock, options.windowMs, options.windowBytes, options.windowMemory);
    this.#waiters = new Waiters(clock);
    this.#loading = new Waiters(clock);
    this.#feeder = new Feeder(options, this);
    this.#hub = {
      revision: () => this.revision,
      window: this.#window,
      history: new HistoryReader(options, this.#window),
      directory: new Directory(options.indexedFields),
      bookmarks: new Bookmarks(clock, () => this.#requestProgress()),
      open: new Set(),
      followers: new Set(),
      deliveries: new Deliveries(clock),
      replayed: 0,
      cutOff: 0,
    };
  }

  get oldest(): number {
    return this.#window.oldest;
  }

  get counts(): CacheCounts {
    const { replayed, cutOff, open, window } = this.#hub;
    const { bytes: windowBytes } = window;
    const windowChanges = window.end - window.first;
    const [loads, received] = [this.#loads, this.#received];
    const { size: labelIndexes, bytes: labelIndexBytes } = this.#indexes;
    return {
      loads,
      received,
      replayed,
      cutOff,
      subscribers: open.size,
      windowChanges,
      windowBytes,
      labelIndexes,
      labelIndexBytes,
    };
  }

  watching(namespace: string, name: string): number {
    return this.#hub.open.size === 0 ? 0 : this.#hub.directory.count(namespace, name);
  }

  get damage(): StatusError | undefined {
    return this.#damage;
  }

  get failure(): StatusError | undefined {
    return this.#closed ? statusError.unavailable('the server is shutting down') : this.#damage;
  }

  ready(): Promise<void> {
    const ready = this.#load();
    // Callers that await the promise see the rejection; it is not unhandled when there are none.
    ready.catch(() => {});
    return ready;
  }

  loaded(): Promise<void> {
    return this.#load(loadTimeoutMs);
  }

  reach(revision: number, timeoutMs: number): Promise<boolean> {
    if (this.revision >= revision) return Promise.resolve(true);
    if (this.failure !== undefined) return Promise.resolve(false);
    this.#requestProgress();
    return this.#waiters.wait(revision, timeoutMs);
  }

  get(key: string): CachedObject | undefined {
    return this.#tree.get(key);
  }

  snapshot(): Snapshot {
    this.#snapshot ??= new CacheSnapshot(this.revision, this.#tree.snapshot(), this.#indexes);
    return this.#snapshot;
  }

  subscribe(options: SubscribeOptions): Subscription {
    const subscriber = new Subscriber(this.#hub, options);
    if (this.#closed) subscriber.end(undefined);
    return subscriber;
  }

  listen(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  async forget(revision: number, timeoutMs: number): Promise<void> {
    // A cache that is not loaded has no events. With one that lags behind, new watches would start in the past.
    if (this.revision === 0 || !(await this.reach(revision, timeoutMs))) return;
    this.#window.reset(this.revision);
  }

  endSubscriptions(): void {
    for (const subscriber of this.#hub.open) subscriber.end(undefined);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#feeder.close();
    this.#window.close();
    this.#waiters.endAll();
    this.#loading.endAll();
    this.endSubscriptions();
  }

  /** Resolves once the cache is loaded. Waits indefinitely without a timeout (ms). */
  async #load(timeoutMs?: number): Promise<void> {
    if (!this.#started && !this.#closed) {
      this.#started = true;
      void this.#feeder.run();
    }
    if (this.#loaded && !this.#closed) return;
    if (this.failure === undefined && (await this.#loading.wait(0, timeoutMs))) return;
    throw this.failure ?? statusError.timeout(notInTime);
  }

  /**
   * See `Feed`. The window lacks the changes since the last state: subscribers before `revision` read them from the store's
   * history. All subscriptions end with 410 when the store has reverted to an earlier revision.
   */
  load(tree: BTree<CachedObject>, revision: number): void {
    this.#loads++;
    const back = revision < this.revision;
    const before = this.#tree;
    this.#tree = tree;
    this.#indexes.clear();
    if (this.#listeners.length > 0) this.#notifyDifference(before, tree);
    this.#window.reset(revision);
    for (const subscriber of [...this.#hub.open]) {
      if (back) subscriber.end(tooOld(subscriber.revision, revision));
      else subscriber.catchUp();
    }
    this.#advance(revision);
  }

  /** See `Feed`. */
  apply(revision: number, changes: readonly StoreChange[]): void {
    const { describe, describeDeleted, clock } = this.#options;
    const time = changes.length === 0 ? 0 : clock.now();
    this.#received += changes.length;
    for (const { key, entry } of changes) {
      const current = entry === undefined ? undefined : describe(entry);
      const previous = current === undefined ? this.#tree.delete(key) : this.#tree.set(current);
      if (current === undefined && previous === undefined) continue;
      if (this.#indexes.size > 0) this.#indexes.change(previous, current);
      const change = new Change(revision, time, current, previous, describeDeleted);
      this.#window.append(change);
      if (this.#hub.open.size > 0) this.#hub.directory.offer(change);
      for (const listener of this.#listeners) listener(change.current ?? change.previous!, current === undefined);
    }
    // A progress notification may be older than the last commit.
    this.#advance(Math.max(revision, this.revision));
    if (changes.length === 0) this.#progressed();
  }

  #notifyDifference(before: BTree<CachedObject>, after: BTree<CachedObject>): void {
    const notify: ChangeListener = (object, deleted) => {
      for (const listener of this.#listeners) listener(object, deleted);
    };
    for (const object of before.snapshot().range('')) if (after.get(object.key) === undefined) notify(object, true);
    for (const object of after.snapshot().range('')) if (before.get(object.key) !== object) notify(object, false);
  }

  #advance(revision: number): void {
    this.revision = revision;
    this.#snapshot = undefined;
    if (this.#hub.followers.size > 0) this.#lead();
    if (this.#waiters.size > 0) this.#waiters.reached(revision);
  }

  /** Lets followers process the new changes at the end of the window; they may become followers again immediately. */
  #lead(): void {
    const { followers } = this.#hub;
    const all = [...followers];
    followers.clear();
    for (const follower of all) follower.follow();
  }

  /**
   * Requests a notification for all pending calls; a request before it arrives causes another one. Returns false while the
   * store is not watched.
   */
  #requestProgress(): boolean {
    if (this.#progressPending) this.#progressAgain = true;
    else this.#progressPending = this.#feeder.requestProgress();
    return this.#progressPending;
  }

  #progressed(): void {
    this.#progressPending = false;
    this.#hub.bookmarks.send();
    const again = this.#progressAgain && this.#waiters.size > 0;
    this.#progressAgain = false;
    if (again) this.#requestProgress();
  }

  /** See `Feed`. */
  watchBegan(): void {
    this.#progressPending = false;
    this.#progressAgain = false;
    if (this.#waiters.size > 0 || this.#hub.bookmarks.waiting) this.#requestProgress();
    this.#damage = undefined;
    this.#loaded = true;
    this.#loading.reached(0);
  }

  /** See `Feed`. Ends all pending calls: retries are pointless until the data can be read. */
  damaged(cause: StoreError): void {
    const { id, onDamage } = this.#options;
    if (this.#damage !== undefined) return;
    this.#damage = statusError.damaged(id, cause);
    onDamage?.(this.#damage);
    this.#waiters.endAll();
    this.#loading.endAll();
  }
}

class CacheSnapshot implements Snapshot {
  readonly revision: number;
  readonly #tree: BTreeSnapshot<CachedObject>;
  readonly #indexes: LabelIndexes;
  readonly #indexed: IndexedLabels;

  constructor(revision: number, tree: BTreeSnapshot<CachedObject>, indexes: LabelIndexes) {
    this.revision = revision;
    this.#tree = tree;
    this.#indexes = indexes;
    this.#indexed = indexes.snapshot();
  }

  get(key: string): CachedObject | undefined {
    return this.#tree.get(key);
  }

  range(prefix: string, after?: string): IterableIterator<CachedObject> {
    return this.#tree.range(prefix, after);
  }

  select(
    requirements: readonly LabelRequirement[],
    prefix: string,
    after?: string,
  ): Iterable<CachedObject> | undefined {
    const found = candidatesOf(this.#indexed, requirements, prefix, after, this.#tree.count(prefix, after));
    if (found === undefined) {
      this.#indexes.searched(requirements);
      return undefined;
    }
    this.#indexes.used(found.label);
    return objectsOf(this.#tree, found.keys);
  }

  count(prefix: string, after?: string): number {
    return this.#tree.count(prefix, after);
  }
}

function* objectsOf(tree: BTreeSnapshot<CachedObject>, keys: Iterable<string>): Generator<CachedObject> {
  for (const key of keys) {
    const object = tree.get(key);
    if (object !== undefined) yield object;
  }
}
