import { addedEvent, bookmarkEvent, type CachedObject, type Subscription, type WatchEvent } from '../../cache/index.ts';
import { readTimeMs, serverTurns, statusError, type Turns } from '../../meta/index.ts';
import { consistentCache, type RegistryContext, toStatusError, waitForRevision } from '../context.ts';
import type { ObjectFormat } from '../stored/format.ts';
import { isCorrupt, unreadable } from '../stored/read.ts';
import type { Registry, StreamEvent, Target, WatchOptions, WatchStream } from '../types.ts';
import { ConvertedStream } from './converted-stream.ts';
import { checkWatchOptions, readFlag, readNumbers, readVersion } from './parameters.ts';
import { inRange, strideOf } from './read.ts';
import { type Selection, select } from './selection.ts';

const bookmarkMs = 60_000;
/** Maximum duration of a watch (ms): timers accept no more. */
const longestMs = 2 ** 31 - 1;
/** Maximum number of initial events in a batch. */
const initialBatch = 250;
/** Minimum number of requirements from which a watch selects its events in its own turns, not in those of the writes. */
const costlyFrom = 17;

/**
 * See `Registry.watch`. The iteration throws a 410 when the history from the resourceVersion on has been compacted. It ends
 * after its timeout, and when the client is too slow.
 */
export const createWatch =
  (registry: RegistryContext): Registry['watch'] =>
  async (target, options) => {
    try {
      return await openWatch(registry, target, options);
    } catch (error) {
      throw toStatusError(target.resource.id, error);
    }
  };

async function openWatch(registry: RegistryContext, target: Target, options: WatchOptions): Promise<WatchStream> {
  const { seconds } = readNumbers(options);
  checkWatchOptions(options, registry);
  const selection = select(target, options);
  const revision = readVersion(options.resourceVersion, 'watch');
  // A watch without a point to begin at asks for what a streaming list does, bookmark included.
  const fromState = registry.features.WatchList && (revision ?? 0) === 0 ? true : undefined;
  const initial = readFlag(options.sendInitialEvents) ?? fromState;
  const bookmarks = readFlag(options.allowWatchBookmarks) === true;
  const exact = revision !== undefined && revision > 0 && initial !== true;
  const { resource } = target;
  const turns = options.turns ?? serverTurns();
  const minimum = exact ? 0 : (revision ?? (await registry.store.revision()));
  const { cache } = resource.storage;
  try {
    if (cache.revision < Math.max(minimum, 1)) await waitForRevision(resource, minimum);
  } catch (error) {
    // A streaming list reports what keeps it from its first event as an event.
    if (initial === true) return failed(toStatusError(resource.id, error));
    throw error;
  }
  // From here on nothing is awaited, so that no change is lost between snapshot and subscription.
  const initialObjects = exact || initial === false ? [] : inRange(resource, selection, cache.snapshot());
  const { clock } = registry;
  const begun = clock.monotonic();
  const isLate = (bytes: number) => options.isRemote === true && clock.monotonic() - begun > readTimeMs(bytes);
  const stream = new Stream(
    initialObjects[Symbol.iterator](),
    isLate,
    selection,
    turns,
    initial === true && bookmarks ? cache.revision : undefined,
    bookmarks ? () => cache.revision : undefined,
    cache.subscribe({
      after: exact ? revision : cache.revision,
      namespace: selection.namespace,
      name: selection.name,
      field: selection.field,
      matches: selection.matches,
      costly: selection.cost >= costlyFrom,
      bookmarkMs: bookmarks ? bookmarkMs : undefined,
      bufferBytes: registry.watchBufferBytes,
      turns,
    }),
    resource.format,
  );
  // A watch with a negative timeout ends at once.
  const length =
    seconds !== 0 ? Math.max(seconds, 0) : registry.watchSeconds + registry.random.integer(registry.watchSeconds);
  const timeoutMs = Math.min(length * 1_000, longestMs);
  const end = () => stream.end();
  // The last bookmark has the revision of the store, or that of the cache when the store fails.
  const over = bookmarks ? () => void consistentCache(registry, resource).then(end, end) : end;
  stream.stopTimer = clock.after(timeoutMs, over);
  if (resource.format.custom?.webhook === undefined) return stream;
  return new ConvertedStream(stream, resource.format, selection.matchesConverted, turns);
}

/** A watch whose only event is the error. */
const failed = (error: unknown): WatchStream => ({
  close: () => {},
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
});

/** One watch: the initial events, the bookmark that ends them if requested, then the subscription. */
class Stream implements WatchStream, AsyncIterator<readonly StreamEvent[]> {
  /** Stops the timer that ends it. */
  stopTimer: (() => void) | undefined;
  readonly #initial: Iterator<CachedObject>;
  /** Whether the client takes too long for so many bytes of objects. */
  readonly #isLate: (bytes: number) => boolean;
  /** The size of the objects that the initial events were selected from. */
  #initialBytes = 0;
  readonly #selection: Selection;
  readonly #turns: Turns;
  #initialEnd: number | undefined;
  /** The revision of the cache; undefined without bookmarks. */
  readonly #progress: (() => number) | undefined;
  readonly #subscription: Subscription;
  readonly #format: ObjectFormat;
  #initialDone = false;
  #waiting = false;
  #ended = false;
  /** The revision of the last bookmark. */
  #last: number | undefined;

  constructor(
    initial: Iterator<CachedObject>,
    isLate: (bytes: number) => boolean,
    selection: Selection,
    turns: Turns,
    initialEnd: number | undefined,
    progress: (() => number) | undefined,
    subscription: Subscription,
    format: ObjectFormat,
  ) {
    this.#initial = initial;
    this.#isLate = isLate;
    this.#selection = selection;
    this.#turns = turns;
    this.#initialEnd = initialEnd;
    this.#progress = progress;
    this.#subscription = subscription;
    this.#format = format;
  }

  /** Ends the iteration after the timeout, with a last bookmark for a client that has all events. */
  end(): void {
    if (this.#waiting && this.#progress !== undefined) {
      const { revision } = this.#subscription;
      // No bookmark for a watch from a future resourceVersion that is not reached.
      if (revision <= this.#progress()) this.#last = revision;
    }
    this.close();
  }

  close(): void {
    this.#ended = true;
    this.stopTimer?.();
    this.stopTimer = undefined;
    this.#subscription.close();
  }

  next(): Promise<IteratorResult<readonly StreamEvent[]>> {
    if (!this.#initialDone) return this.#nextInitial();
    if (this.#ended) return Promise.resolve(this.#finish());
    this.#waiting = true;
    return this.#subscription.next().then(this.#received, this.#failed);
  }

  async #nextInitial(): Promise<IteratorResult<readonly StreamEvent[]>> {
    while (!this.#ended && !this.#initialDone) {
      if (this.#turns.over) await this.#turns.next();
      const events = this.#take();
      if (events.length > 0) return { done: false, value: events };
    }
    return this.#ended ? this.#finish() : this.next();
  }

  readonly #received = (result: IteratorResult<WatchEvent[]>): IteratorResult<readonly StreamEvent[]> => {
    this.#waiting = false;
    if (result.done === true) return this.#finish();
    const corrupt = this.#format.corrupt.size > 0 ? findCorrupt(result.value) : undefined;
    if (corrupt === undefined) return result;
    this.close();
    throw unreadable(corrupt);
  };

  readonly #failed = (error: unknown): never => {
    this.#waiting = false;
    this.close();
    throw error;
  };

  /** The next initial events, with the bookmark after the last one. Empty when no object of the turn matches. */
  #take(): StreamEvent[] {
    if (this.#isLate(this.#initialBytes)) {
      this.close();
      throw statusError.expired('the client takes too long to read the initial events');
    }
    const events: StreamEvent[] = [];
    const { matches } = this.#selection;
    const every = strideOf(this.#selection);
    for (let seen = 1; events.length < initialBatch; seen++) {
      if (seen % every === 0 && this.#turns.over) break;
      const { done, value } = this.#initial.next();
      if (done === true) {
        this.#initialDone = true;
        if (this.#initialEnd !== undefined)
          events.push({ ...bookmarkEvent(this.#initialEnd), endsInitialEvents: true });
        this.#initialEnd = undefined;
        break;
      }
      if (isCorrupt(value)) {
        this.close();
        throw unreadable(value);
      }
      this.#initialBytes += value.bytes.length;
      if (matches?.(value) !== false) events.push(addedEvent(value));
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

/** The first object that was added or modified and is corrupt. */
function findCorrupt(events: readonly StreamEvent[]): CachedObject | undefined {
  for (const { type, object } of events) {
    if (object !== undefined && type !== 'DELETED' && isCorrupt(object)) return object;
  }
  return undefined;
}
