import { type StatusError, statusError } from '../meta/index.ts';
import type { Bookmarks } from './bookmarks.ts';
import { bookmarkEvent, type Change, weightOf } from './change.ts';
import type { Directory } from './directory.ts';
import type { HistoryReader, Latecomer } from './history.ts';
import { eventFor, type Selection } from './selection.ts';
import type { SubscribeOptions, Subscription, WatchEvent } from './types.ts';
import type { EventWindow } from './window.ts';

/** A replay gives way to others after looking at this many changes, or finding events of this many bytes. */
const sliceChanges = 1_000;
const sliceBytes = 256 * 1024;
/** So many events, or bytes of events, of the store's history are held for a subscriber until it takes them. */
const historyEvents = 1_024;
const historyBytes = 1024 * 1024;

/** What all subscribers of a cache share. */
export interface Hub {
  /** Everything up to it has been offered to the live subscribers. */
  readonly revision: number;
  readonly window: EventWindow;
  readonly history: HistoryReader;
  readonly directory: Directory;
  readonly bookmarks: Bookmarks;
  /** Everyone who has not ended. */
  readonly open: Set<Subscriber>;
  /** Those who were waiting and have events now; they are flushed when the commit has been offered to all. */
  readonly awake: Subscriber[];
}

interface Waiter {
  resolve(result: IteratorResult<WatchEvent[]>): void;
  reject(error: StatusError): void;
}

/**
 * One subscription. It takes changes from where its position is: from the store's history when that is before the event
 * window, then from the window, slice by slice and only as fast as it is read; when it has seen the end of the window
 * it joins the directory and takes changes as they happen.
 */
export class Subscriber implements Subscription, Latecomer {
  readonly selection: Selection;
  readonly bookmarkMs: number;
  readonly #hub: Hub;
  readonly #bufferBytes: number;
  /** Everything up to it has been taken from the sources before the present one. */
  #position: number;
  #source: 'history' | 'window' | 'live' | 'none' = 'none';
  /** Sequence number of the next change of the window. */
  #cursor = 0;
  #queue: WatchEvent[] = [];
  #queuedBytes = 0;
  #waiter: Waiter | undefined;
  #ended = false;
  /** How the iteration ends once the queue is empty; undefined: without an error. */
  #error: StatusError | undefined;
  /** For `revision` after the end. */
  #last = 0;

  constructor(hub: Hub, options: SubscribeOptions) {
    this.selection = options;
    this.bookmarkMs = options.bookmarkMs ?? 0;
    this.#hub = hub;
    this.#bufferBytes = options.bufferBytes;
    this.#position = options.after;
    hub.open.add(this);
    this.proceed(options.after);
    if (options.bookmarkMs !== undefined) hub.bookmarks.add(this);
  }

  get position(): number {
    return this.#position;
  }

  get revision(): number {
    const first = this.#queue[0];
    if (first === undefined) return this.#reached();
    // Nothing stands before a bookmark, so it holds already.
    return first.type === 'BOOKMARK' ? first.revision : first.revision - 1;
  }

  next(): Promise<IteratorResult<WatchEvent[]>> {
    if (this.#waiter !== undefined) return Promise.reject(statusError.internal('a watch is read twice at a time'));
    if (this.#queue.length > 0) return Promise.resolve(this.#take());
    if (this.#ended) return this.#finish();
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#read();
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
    if (change.revision <= this.#position) return;
    const event = eventFor(this.selection, change);
    if (event === undefined) return;
    // Someone who waits is not slow, however large the commit.
    if (this.#waiter === undefined && !this.#hasRoom(event)) {
      if (this.#source === 'live') this.#cutOff();
      else this.#pause(event.revision - 1);
      return;
    }
    if (this.#waiter !== undefined && this.#queue.length === 0) this.#hub.awake.push(this);
    this.#push(event);
  }

  /** Goes on with what comes after `revision`, up to which it has been given everything. */
  proceed(revision: number): void {
    const { window, directory } = this.#hub;
    this.#position = Math.max(this.#position, revision);
    this.#cursor = window.seek(this.#position);
    if (this.#position < window.oldest) this.#source = 'history';
    else if (this.#cursor < window.end) this.#source = 'window';
    else {
      this.#source = 'live';
      directory.add(this);
    }
    if (this.#waiter !== undefined) this.#read();
  }

  /** What it was to be offered live has not come: that is to be taken from the store's history. */
  catchUp(): void {
    if (this.#source !== 'live') return;
    const reached = this.#reached();
    this.#leave();
    this.proceed(reached);
  }

  bookmark(): void {
    const { revision } = this.#hub;
    if (this.#source !== 'live' || revision < this.#position) return;
    if (this.#queue.at(-1)?.type === 'BOOKMARK') this.#queue.pop();
    this.#queue.push(bookmarkEvent(revision));
    this.flush();
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
    this.#hub.bookmarks.remove(this);
    this.#hub.open.delete(this);
    this.#leave();
    const waiter = this.#waiter;
    if (waiter === undefined) return;
    this.flush();
    if (this.#waiter === undefined) return;
    this.#waiter = undefined;
    this.#error = undefined;
    if (error === undefined) waiter.resolve({ value: undefined, done: true });
    else waiter.reject(error);
  }

  /** Everything up to it is in the queue or has been taken. */
  #reached(): number {
    if (this.#ended) return this.#last;
    switch (this.#source) {
      case 'live':
        return Math.max(this.#position, this.#hub.revision);
      case 'history':
        return this.#hub.history.reached(this);
      default:
        return this.#position;
    }
  }

  /** Takes no more from its source. */
  #leave(): void {
    if (this.#source === 'live') this.#hub.directory.remove(this);
    if (this.#source === 'history') this.#hub.history.remove(this);
    this.#source = 'none';
  }

  /** Sees to it that there will be something for the one who waits. */
  #read(): void {
    if (this.#source === 'history') this.#hub.history.add(this);
    if (this.#source === 'window') setImmediate(() => this.#continue());
  }

  #hasRoom(event: WatchEvent): boolean {
    if (this.#source === 'live') {
      return this.#queuedBytes === 0 || this.#queuedBytes + weightOf(event) <= this.#bufferBytes;
    }
    if (this.#queue.length < historyEvents && this.#queuedBytes < historyBytes) return true;
    // A commit is never split, so that a client may come back with the revision of any event.
    return this.#queue.at(-1)?.revision === event.revision;
  }

  /** It has been offered enough of the history for now, and comes back when that has been taken. */
  #pause(revision: number): void {
    this.#position = revision;
    this.#hub.history.remove(this);
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

  /** It is too slow: the iteration ends, and the client may come back where it was. */
  #cutOff(): void {
    const { revision } = this;
    this.#drop();
    this.end(undefined);
    this.#last = revision;
  }

  /** Looks at the next slice of the window; past its end the subscriber is live. */
  #replay(): void {
    const { window } = this.#hub;
    let cursor = this.#cursor;
    if (cursor < window.first) {
      this.proceed(this.#position);
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
    this.#cursor = cursor;
    this.#position = next === undefined ? this.#hub.revision : next.revision - 1;
    if (next === undefined) this.proceed(this.#position);
  }

  /** Replays until there is something for the one who waits. */
  #continue(): void {
    if (this.#source !== 'window' || this.#waiter === undefined) return;
    this.#replay();
    this.flush();
    if (this.#waiter !== undefined) this.#read();
  }
}
