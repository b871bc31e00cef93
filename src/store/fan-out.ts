import type { ByteString } from '../meta/index.ts';
import type { Change, StoreError, Watch, WatchSink } from './store.ts';

/**
 * A change together with the bytes of its key. It has the previous entry where a watch wants it; watches without
 * `previous` do not get it.
 */
export interface KeyedChange extends Change {
  readonly bytes: ByteString;
}
export interface CommitChanges {
  readonly revision: number;
  readonly changes: readonly KeyedChange[];
}
/** A watch that is handed every commit. */
export interface Follower {
  readonly prefix: ByteString;
  readonly sink: WatchSink;
  /** The last commit delivered to it, or up to which it needs none. */
  position: number;
  open: boolean;
}

/** Followers by the first segment of their prefixes, so that a commit looks at few of them. */
export class FanOut<F extends Follower> {
  readonly #groups = new Map<string, Set<F>>();

  add(follower: F): void {
    const segment = firstSegment(follower.prefix);
    const group = this.#groups.get(segment) ?? new Set();
    this.#groups.set(segment, group.add(follower));
  }

  delete(follower: F): void {
    const segment = firstSegment(follower.prefix);
    const group = this.#groups.get(segment);
    group?.delete(follower);
    if (group?.size === 0) this.#groups.delete(segment);
  }

  /** The followers that may cover one of the keys; each is in one group. */
  covering(keys: readonly Pick<KeyedChange, 'bytes'>[]): Iterable<Set<F>> {
    const groups = new Set<Set<F>>();
    for (const segment of ['', ...keys.map(({ bytes }) => firstSegment(bytes))]) {
      const group = this.#groups.get(segment);
      if (group !== undefined) groups.add(group);
    }
    return groups;
  }

  *[Symbol.iterator](): IterableIterator<F> {
    for (const group of this.#groups.values()) yield* group;
  }
}

/** What keys with the same resource begin with; empty for a prefix that does not reach as far. */
export const firstSegment = (key: ByteString): string => key.slice(0, key.indexOf('/', 1) + 1);

/** Delivers a commit to an open follower that has not got it yet. */
export function deliver(follower: Follower, { revision, changes }: CommitChanges): void {
  if (!follower.open || revision <= follower.position) return;
  follower.position = revision;
  const { prefix, sink } = follower;
  const all = changes.every(({ bytes }) => bytes.startsWith(prefix));
  const mine = all ? changes : changes.filter(({ bytes }) => bytes.startsWith(prefix));
  if (mine.length > 0) call(() => sink.batch(revision, mine));
}

/** A watch that ends with an error, of which its sink is told after the call that has begun the watch. */
export function failedWatch(sink: WatchSink, error: StoreError | Promise<StoreError>): Watch {
  let open = true;
  void Promise.resolve(error).then((found) => {
    if (open) call(() => sink.error(found));
  });
  return {
    progress: () => undefined,
    close: () => {
      open = false;
    },
  };
}

/** Calls a sink. What it throws becomes an uncaught error and does not affect other watches. */
export function call(sink: () => void): void {
  try {
    sink();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
