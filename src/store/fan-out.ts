import type { ByteString } from '../meta/index.ts';
import type { Change, StoreError, Watch, WatchSink } from './store.ts';

/**
 * A change with the bytes of its key. Contains the previous entry when a watch needs it; watches without `previous` do not
 * receive it.
 */
export interface KeyedChange extends Change {
  readonly bytes: ByteString;
}
export interface CommitChanges {
  readonly revision: number;
  readonly changes: readonly KeyedChange[];
}
/** A watch that receives every commit. */
export interface Follower {
  readonly prefix: ByteString;
  readonly sink: WatchSink;
  /** The revision up to which the follower needs no more commits. */
  position: number;
  open: boolean;
}

/** Followers by the first segment of their prefixes, so that a commit is matched against few of them. */
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

  /** Returns the followers that may cover one of the keys; each is in one group. */
  covering(keys: readonly Pick<KeyedChange, 'bytes'>[]): Iterable<Set<F>> {
    const groups: Set<F>[] = [];
    const ofAll = this.#groups.get('');
    if (ofAll !== undefined) groups.push(ofAll);
    for (const { bytes } of keys) {
      const group = this.#groups.get(firstSegment(bytes));
      if (group !== undefined && !groups.includes(group)) groups.push(group);
    }
    return groups;
  }

  *[Symbol.iterator](): IterableIterator<F> {
    for (const group of this.#groups.values()) yield* group;
  }
}

/** Returns the common prefix of the keys of one resource; empty for a shorter prefix. */
export const firstSegment = (key: ByteString): string => key.slice(0, key.indexOf('/', 1) + 1);

/** Delivers a commit to an open follower that has not received it. */
export function deliver(follower: Follower, { revision, changes }: CommitChanges): void {
  if (!follower.open || revision <= follower.position) return;
  follower.position = revision;
  const { prefix, sink } = follower;
  const all = changes.every(({ bytes }) => bytes.startsWith(prefix));
  const mine = all ? changes : changes.filter(({ bytes }) => bytes.startsWith(prefix));
  if (mine.length > 0) call(() => sink.batch(revision, mine));
}

/** A watch that has failed: its sink receives the error after the call of `watch` has returned. */
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

/** Calls a sink. An exception becomes an uncaught error and does not affect other watches. */
export function call(sink: () => void): void {
  try {
    sink();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
