import { type Clock, type StatusError, statusError } from '../meta/index.ts';
import { bookmarkEvent, type Change, weightOf } from './change.ts';
import type { Directory, Member } from './directory.ts';
import { eventFor, type Selection } from './selection.ts';
import type { SubscribeOptions, Subscription, WatchEvent } from './types.ts';
import type { EventWindow } from './window.ts';

/** A replay gives way to others after looking at this many changes, or finding events of this many bytes. */
const sliceChanges = 1_000;
const sliceBytes = 256 * 1024;

/** What all subscribers of a cache share. */
export interface Hub {
  /** Everything up to it has been offered to the live subscribers. */
  readonly revision: number;
  readonly clock: Clock;
  readonly window: EventWindow;
  readonly directory: Directory;
  /** Everyone who has not ended. */
  readonly open: Set<Subscriber>;
  /** Those who were waiting and have events now; they are flushed when the commit has been offered to all. */
  readonly awake: Subscriber[];
  /** Asks the store how far it is. */
  progress(): void;
}

interface Waiter {
  resolve(result: IteratorResult<WatchEvent[]>): void;
  reject(error: StatusError): void;
}

/**
 * One subscription. It first replays the window, slice by slice and only as fast as it is read; when it has seen the
 * end of the window it joins the directory and takes changes as they happen.
 */
export class Subscriber implements Subscription, Member {
  readonly selection: Selection;
  readonly #hub: Hub;
  readonly #after: number;
  readonly #bufferBytes: number;
  readonly #bookmarkMs: number | undefined;
  /** Sequence number of the next change to replay; undefined when live. */
  #cursor: number | undefined;
  /** Everything up to it has been replayed. */
  #replayed: number;
  #queue: WatchEvent[] = [];
  #queuedBytes = 0;
  #waiter: Waiter | undefined;
  #ended = false;
  /** How the iteration ends once the queue is empty; undefined: without an error. */
  #error: StatusError | undefined;
  /** For `revision` after the end. */
  #last = 0;
  #cancelBookmark: (() => void) | undefined;

  constructor(hub: Hub, options: SubscribeOptions) {
    this.selection = options;
    this.#hub = hub;
    this.#after = options.after;
    this.#bufferBytes = options.bufferBytes;
    this.#bookmarkMs = options.bookmarkMs;
    this.#replayed = options.after;
    hub.open.add(this);
    const cursor = hub.window.seek(options.after);
    if (cursor < hub.window.end) this.#cursor = cursor;
    else hub.directory.add(this);
    this.#scheduleBookmark();
  }

  get revision(): number {
    const first = this.#queue[0];
    if (first === undefined) return Math.max(this.#after, this.#reached());
    // Nothing stands before a bookmark, so it holds already.
    return Math.max(this.#after, first.type === 'BOOKMARK' ? first.revision : first.revision - 1);
  }

  next(): Promise<IteratorResult<WatchEvent[]>> {
    if (this.#waiter !== undefined) return Promise.reject(statusError.internal('a watch is read twice at a time'));
    if (this.#queue.length > 0) return Promise.resolve(this.#take());
    if (this.#ended) return this.#finish();
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      if (this.#cursor !== undefined) setImmediate(() => this.#continue());
    });
  }

  return(): Promise<IteratorResult<WatchEvent[]>> {
    this.close();
    return Promise.resolve({ value: undefined, done: true });
  }

  close(): void {
    this.#drop();
    this.end(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  offer(change: Change): void {
    if (change.revision <= this.#after) return;
    const event = eventFor(this.selection, change);
    if (event === undefined) return;
    // Someone who waits is not slow, however large the commit.
    if (
      this.#waiter === undefined &&
      this.#queuedBytes > 0 &&
      this.#queuedBytes + weightOf(event) > this.#bufferBytes
    ) {
      this.#cutOff();
      return;
    }
    if (this.#waiter !== undefined && this.#queue.length === 0) this.#hub.awake.push(this);
    this.#push(event);
  }

  /** Hands what has piled up to the one who waits for it. */
  flush(): void {
    const waiter = this.#waiter;
    if (waiter === undefined || this.#queue.length === 0) return;
    this.#waiter = undefined;
    waiter.resolve(this.#take());
  }

  /** Nothing more comes: the iteration ends, with this error if there is one, once the queue has been taken. */
  end(error: StatusError | undefined): void {
    if (this.#ended) return;
    this.#last = this.#reached();
    this.#ended = true;
    this.#error = error;
    this.#cancelBookmark?.();
    this.#hub.open.delete(this);
    if (this.#cursor === undefined) this.#hub.directory.remove(this);
    this.#cursor = undefined;
    const waiter = this.#waiter;
    if (waiter === undefined) return;
    this.flush();
    if (this.#waiter === undefined) return;
    this.#waiter = undefined;
    this.#error = undefined;
    if (error === undefined) waiter.resolve({ value: undefined, done: true });
    else waiter.reject(error);
  }

  /** Whether it needs no change up to `revision` any more. */
  hasReached(revision: number): boolean {
    return Math.max(this.#after, this.#reached()) >= revision;
  }

  #reached(): number {
    if (this.#ended) return this.#last;
    return this.#cursor === undefined ? this.#hub.revision : this.#replayed;
  }

  #push(event: WatchEvent): void {
    this.#queue.push(event);
    this.#queuedBytes += weightOf(event);
  }

  #take(): IteratorResult<WatchEvent[]> {
    const value = this.#queue;
    this.#drop();
    return { value, done: false };
  }

  #drop(): void {
    this.#queue = [];
    this.#queuedBytes = 0;
  }

  #finish(): Promise<IteratorResult<WatchEvent[]>> {
    const error = this.#error;
    this.#error = undefined;
    return error === undefined ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(error);
  }

  #cutOff(): void {
    const { revision } = this;
    this.#drop();
    this.end(statusError.expired(`watch was too slow: more than ${this.#bufferBytes} bytes of events piled up`));
    this.#last = revision;
  }

  /** Looks at the next slice of the window; past its end the subscriber is live. */
  #replay(): void {
    const { window, directory, revision } = this.#hub;
    let cursor = this.#cursor!;
    if (cursor < window.first) {
      this.end(tooOld(this.revision, window.oldest));
      return;
    }
    const stop = Math.min(window.end, cursor + sliceChanges);
    let next = window.at(cursor);
    for (let last = 0; next !== undefined; next = window.at(++cursor)) {
      // A commit is never split, so that a client may come back with the revision of any event.
      if ((cursor >= stop || this.#queuedBytes >= sliceBytes) && next.revision !== last) break;
      const event = eventFor(this.selection, next);
      if (event !== undefined) this.#push(event);
      last = next.revision;
    }
    if (next !== undefined) {
      this.#cursor = cursor;
      this.#replayed = next.revision - 1;
      return;
    }
    this.#cursor = undefined;
    this.#replayed = revision;
    directory.add(this);
  }

  /** Replays until there is something for the one who waits. */
  #continue(): void {
    if (this.#cursor === undefined) return;
    this.#replay();
    this.flush();
    if (this.#waiter !== undefined && this.#cursor !== undefined) setImmediate(() => this.#continue());
  }

  #scheduleBookmark(): void {
    if (this.#bookmarkMs === undefined) return;
    this.#cancelBookmark = this.#hub.clock.after(this.#bookmarkMs, () => {
      this.#bookmark();
      this.#scheduleBookmark();
    });
  }

  #bookmark(): void {
    const { revision } = this.#hub;
    this.#hub.progress();
    if (this.#cursor !== undefined || revision < this.#after) return;
    if (this.#queue.at(-1)?.type === 'BOOKMARK') this.#queue.pop();
    this.#queue.push(bookmarkEvent(revision));
    this.flush();
  }
}

/** `revision`: the one asked for; `oldest`: the first one that would have done. */
export function tooOld(revision: number, oldest: number): StatusError {
  return statusError.expired(`too old resource version: ${revision} (${oldest})`);
}
