import { setImmediate as nextTurn } from 'node:timers/promises';
import { addedEvent, bookmarkEvent, type CachedObject, type Subscription } from '../cache/index.ts';
import { consistentCache, type RegistryContext, toStatusError, waitForRevision } from './context.ts';
import { checkWatchOptions, readFlag, readNumbers, readVersion } from './parameters.ts';
import { inRange } from './read.ts';
import { keyOf, type Selection, select } from './selection.ts';
import { isCorrupt, unreadable } from './stored/read.ts';
import type { StreamEvent, Target, WatchOptions, WatchStream } from './types.ts';

const bookmarkMs = 60_000;
/** No watch is longer (ms): timers cannot be. */
const longestMs = 2 ** 31 - 1;
/** How many objects that were there at the start are handed on at a time. */
const initialBatch = 250;
/** And how many are looked at for them before others get their turn. */
const initialSlice = 1_000;

/**
 * What brings a client up to date, then everything that changes. A version whose history the store has given up is a
 * failure of the first step of the iteration, as it is of any later one. The iteration of a client that is too slow
 * ends as if its time were over.
 */
export async function watch(registry: RegistryContext, target: Target, options: WatchOptions): Promise<WatchStream> {
  const { seconds } = readNumbers(options);
  checkWatchOptions(options, registry);
  const selection = select(target, options);
  const revision = readVersion(options.resourceVersion, 'watch');
  const initial = readFlag(options.sendInitialEvents);
  const bookmarks = readFlag(options.allowWatchBookmarks) === true;
  const exact = revision !== undefined && revision > 0 && initial !== true;
  const { resource } = target;
  const cache = await (exact
    ? waitForRevision(resource, 0)
    : revision === undefined
      ? consistentCache(registry, resource)
      : waitForRevision(resource, revision));
  // From here on nothing is awaited, so that no change falls between the snapshot and the subscription.
  const snapshot = cache.snapshot();
  const begun = exact || initial === false ? [] : inRange(resource, selection, snapshot);
  const stream = new Stream(
    begun[Symbol.iterator](),
    selection.matches,
    initial === true && bookmarks ? snapshot.revision : undefined,
    bookmarks ? () => cache.revision : undefined,
    subscribe(registry, target, selection, exact ? revision : snapshot.revision, bookmarks),
  );
  const length = seconds > 0 ? seconds : registry.watchSeconds + registry.random.integer(registry.watchSeconds);
  const timeoutMs = Math.min(length * 1_000, longestMs);
  const end = () => stream.end();
  // The last bookmark tells how far the store is; when it cannot be asked, how far the cache is.
  const over = bookmarks ? () => void consistentCache(registry, resource).then(end, end) : end;
  stream.endAfter(registry.clock.after(timeoutMs, over));
  return stream;
}

function subscribe(
  registry: RegistryContext,
  { resource }: Target,
  selection: Selection,
  after: number,
  bookmarks: boolean,
): Subscription {
  const { namespace, name, field, matches } = selection;
  const narrow = keyOf(resource, selection) !== undefined || name !== '';
  return resource.cache.subscribe({
    after,
    bufferBytes: registry.watchBufferBytes,
    ...(namespace === '' ? {} : { namespace }),
    ...(narrow ? { name } : {}),
    ...(field === undefined ? {} : { field }),
    ...(matches === undefined ? {} : { matches }),
    ...(bookmarks ? { bookmarkMs } : {}),
  });
}

/** One watch: first the objects that were there, then the closing bookmark when one is due, then the subscription. */
class Stream implements WatchStream, AsyncIterator<readonly StreamEvent[]> {
  readonly #initial: Iterator<CachedObject>;
  readonly #matches: Selection['matches'];
  #closing: number | undefined;
  /** How far the cache is; undefined when the client wants no bookmarks. */
  readonly #progress: (() => number) | undefined;
  readonly #subscription: Subscription;
  #cancel: (() => void) | undefined;
  #begun = false;
  #waiting = false;
  #ended = false;
  /** Told last: everything up to it has been delivered. */
  #last: number | undefined;

  constructor(
    initial: Iterator<CachedObject>,
    matches: Selection['matches'],
    closing: number | undefined,
    progress: (() => number) | undefined,
    subscription: Subscription,
  ) {
    this.#initial = initial;
    this.#matches = matches;
    this.#closing = closing;
    this.#progress = progress;
    this.#subscription = subscription;
  }

  endAfter(cancel: () => void): void {
    this.#cancel = cancel;
  }

  /** The time is over: whoever waits for more is told how much of the history that was, and the iteration ends. */
  end(): void {
    if (this.#waiting && this.#progress !== undefined) {
      const { revision } = this.#subscription;
      // A watch that starts in the future has nothing to tell of what comes before its start.
      if (revision <= this.#progress()) this.#last = revision;
    }
    this.close();
  }

  close(): void {
    this.#ended = true;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#subscription.close();
  }

  async next(): Promise<IteratorResult<readonly StreamEvent[]>> {
    while (!this.#ended && !this.#begun) {
      const events = this.#take();
      if (events.length > 0) return { done: false, value: events };
      // Where little matches, others get their turn all the same.
      if (!this.#begun) await nextTurn();
    }
    if (this.#ended) return this.#finish();
    this.#waiting = true;
    try {
      const result = await this.#subscription.next();
      if (!result.done) {
        checkReadable(result.value);
        return result;
      }
    } catch (error) {
      this.close();
      throw toStatusError(error);
    } finally {
      this.#waiting = false;
    }
    return this.#finish();
  }

  /**
   * The next objects of the state at the start, and behind the last of them the bookmark that closes them. None may be
   * among those that were looked at.
   */
  #take(): StreamEvent[] {
    const events: StreamEvent[] = [];
    for (let seen = 0; seen < initialSlice && events.length < initialBatch; seen++) {
      const { done, value } = this.#initial.next();
      if (done === true) {
        this.#begun = true;
        if (this.#closing !== undefined) events.push({ ...bookmarkEvent(this.#closing), endsInitialEvents: true });
        this.#closing = undefined;
        break;
      }
      if (isCorrupt(value)) {
        this.close();
        throw unreadable(value);
      }
      if (this.#matches?.(value) !== false) events.push(addedEvent(value));
    }
    return events;
  }

  #finish(): IteratorResult<readonly StreamEvent[]> {
    const last = this.#last;
    this.#last = undefined;
    if (last !== undefined) return { done: false, value: [bookmarkEvent(last)] };
    this.close();
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<readonly StreamEvent[]>> {
    this.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly StreamEvent[]> {
    return this;
  }
}

/** @throws StatusError 500 when what one of them put cannot be read */
function checkReadable(events: readonly StreamEvent[]): void {
  for (const { type, object } of events) {
    if (object !== undefined && type !== 'DELETED' && isCorrupt(object)) throw unreadable(object);
  }
}
