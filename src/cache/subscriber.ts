import { type StatusError, serverTurns, statusError, type Turns } from '../meta/index.ts';
import type { Bookmarks } from './bookmarks.ts';
import { bookmarkEvent, type Change, weightOf } from './change.ts';
import type { Deliveries } from './deliveries.ts';
import type { Directory } from './directory.ts';
import type { HistoryMember, HistoryReader } from './history.ts';
import type { Selection } from './selection.ts';
import type { SubscribeOptions, Subscription, WatchEvent } from './types.ts';
import { type EventWindow, tooOld } from './window.ts';

/** Maximum number and size (bytes) of events that a replay returns at once. */
const batchEvents = 1_000;
const batchBytes = 256 * 1024;
/** The number of changes that a replay examines between two reads of the clock. */
const replayStride = 32;
/** Maximum number and size (bytes) of events of the store's history that are buffered for a subscriber. */
const historyEvents = 1_024;
const historyBytes = 1024 * 1024;

/** The state that all subscribers of a cache share. */
export interface Hub {
  /** The last revision offered to the live subscribers. */
  readonly revision: () => number;
  readonly window: EventWindow;
  readonly history: HistoryReader;
  readonly directory: Directory;
  readonly bookmarks: Bookmarks;
  /** Open subscribers. */
  readonly open: Set<Subscriber>;
  /** Subscribers at the end of the window with a pending `next`; they continue with the next change. */
  readonly followers: Set<Subscriber>;
  readonly deliveries: Deliveries;
  /** Counters of replayed events and of subscribers that were too slow. */
  replayed: number;
  cutOff: number;
}

interface Waiter {
  resolve(result: IteratorResult<WatchEvent[]>): void;
  reject(error: StatusError): void;
}

/**
 * One subscription. Its source depends on its position: the store's history before the event window, then the window,
 * in turns and only as fast as it is read; at the end of the window it joins the directory and is live. An expensive
 * one stays in the window and follows its end.
 */
export class Subscriber implements Subscription, HistoryMember {
  readonly selection: Selection;
  readonly bookmarkMs: number;
  readonly #hub: Hub;
  readonly #bufferBytes: number;
  readonly #costly: boolean;
  readonly #turns: Turns;
  /** The last revision read from earlier sources. */
  #position: number;
  /** `none`: it has ended, or has left the live changes until its buffer is delivered. */
  #source: 'history' | 'window' | 'live' | 'none' = 'none';
  /** Sequence number of the next change in the window. */
  #cursor = 0;
  #queue: WatchEvent[] = [];
  #queuedBytes = 0;
  #waiter: Waiter | undefined;
  #ended = false;
  #replaying = false;
  /** Whether a pending `next` waits for its turn to take the queue. */
  #delivering = false;
  /** The error with which the iteration ends once the queue is empty; undefined for a regular end. */
  #error: StatusError | undefined;
  /** `revision` after the end. */
  #last = 0;

  constructor(hub: Hub, options: SubscribeOptions) {
    this.selection = options;
    this.bookmarkMs = options.bookmarkMs ?? 0;
    this.#hub = hub;
    this.#bufferBytes = options.bufferBytes;
    this.#costly = options.costly === true;
    this.#turns = options.turns ?? serverTurns();
    this.#position = options.after;
    hub.open.add(this);
    this.proceed(options.after);
    if (options.bookmarkMs !== undefined && !this.#ended) hub.bookmarks.add(this);
  }

  get position(): number {
    return this.#position;
  }

  get revision(): number {
    const first = this.#queue[0];
    if (first === undefined) return this.#reached();
    // A bookmark at the head of the queue is already true.
    return first.type === 'BOOKMARK' ? first.revision : first.revision - 1;
  }

  next(): Promise<IteratorResult<WatchEvent[]>> {
    if (this.#waiter !== undefined) return Promise.reject(statusError.internal('a watch is read twice at a time'));
    if (this.#ended) return this.#queue.length > 0 ? Promise.resolve(this.#take()) : this.#finish();
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      if (this.#queue.length > 0) this.#deliver();
      else this.#read();
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

  offer(change: Change, isPlaced: boolean): void {
    if (change.revision <= this.#position) return;
    const event = change.eventFor(this.selection, isPlaced);
    if (event === undefined) return;
    const weight = weightOf(event);
    if (!this.#hasRoom(event, weight)) {
      if (this.#source !== 'live') this.#pause(event.revision - 1);
      else if (this.#waiter === undefined) this.#cutOff();
      else this.#fallBehind(event.revision - 1);
      return;
    }
    this.#push(event, weight);
    this.#deliver();
  }

  /** Continues after `revision`, up to which every change has been offered. */
  proceed(revision: number): void {
    const { window, directory } = this.#hub;
    this.#position = Math.max(this.#position, revision);
    this.#cursor = window.seek(this.#position);
    if (this.#position < window.oldest) {
      if (this.#costly) {
        this.end(tooOld(this.#position, window.oldest));
        return;
      }
      this.#source = 'history';
    } else if (this.#costly || this.#cursor < window.end) this.#source = 'window';
    else {
      this.#source = 'live';
      directory.add(this);
    }
    if (this.#waiter !== undefined) this.#read();
  }

  /** Reads missed live changes from the store's history. */
  catchUp(): void {
    if (this.#source !== 'live') return;
    const reached = this.#reached();
    this.#leave();
    this.proceed(reached);
  }

  /** Continues with a change after the end of the window. */
  follow(): void {
    if (this.#waiter !== undefined) this.#read();
  }

  bookmark(): void {
    const revision = this.#hub.revision();
    if (!this.#isCurrent() || revision < this.#position) return;
    if (this.#queue.at(-1)?.type === 'BOOKMARK') this.#queue.pop();
    this.#queue.push(bookmarkEvent(revision));
    this.#deliver();
  }

  /** Resolves a pending `next` with the queue. */
  flush(): void {
    this.#delivering = false;
    const waiter = this.#waiter;
    if (waiter === undefined || this.#queue.length === 0) return;
    this.#waiter = undefined;
    waiter.resolve(this.#take());
    if (this.#source === 'none' && !this.#ended) this.proceed(this.#position);
  }

  /** Ends the iteration once the queue has been read, with `error` if there is one. */
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

  /** The last revision whose event, if any, is in the queue or has been read. */
  #reached(): number {
    if (this.#ended) return this.#last;
    if (this.#isCurrent()) return Math.max(this.#position, this.#hub.revision());
    return this.#source === 'history' ? this.#hub.history.reached(this) : this.#position;
  }

  /** Whether it has seen every change of the cache. */
  #isCurrent(): boolean {
    return this.#source === 'live' || (this.#source === 'window' && this.#cursor >= this.#hub.window.end);
  }

  /** Detaches from the source. */
  #leave(): void {
    if (this.#source === 'live') this.#hub.directory.remove(this);
    if (this.#source === 'history') this.#hub.history.remove(this);
    this.#hub.followers.delete(this);
    this.#source = 'none';
  }

  /** Starts to read from the source for a pending `next`. */
  #read(): void {
    if (this.#source === 'history') this.#hub.history.add(this);
    if (this.#source !== 'window') return;
    if (this.#cursor < this.#hub.window.end) void this.#continue();
    else this.#hub.followers.add(this);
  }

  /** Resolves a pending `next` in a turn of the owner: writing the events to the client is its work. */
  #deliver(): void {
    if (this.#waiter === undefined || this.#delivering) return;
    this.#delivering = true;
    this.#hub.deliveries.add(this, this.#turns.owner);
  }

  #hasRoom(event: WatchEvent, weight: number): boolean {
    const isLive = this.#source === 'live';
    const hasRoom = isLive
      ? this.#queuedBytes === 0 || this.#queuedBytes + weight <= this.#bufferBytes
      : this.#queue.length < historyEvents && this.#queuedBytes < historyBytes;
    // A slow live subscriber is ended within a commit.
    if (hasRoom || (isLive && this.#waiter === undefined)) return hasRoom;
    // A commit is never split, so that a client can resume from the revision of any event.
    return this.#queue.at(-1)?.revision === event.revision;
  }

  /**
   * Leaves the live changes, because the buffer is full before the turn of its delivery has come. This is not the fault of
   * the client: once the buffer is delivered, the subscriber reads the changes after `revision` from the window.
   */
  #fallBehind(revision: number): void {
    this.#leave();
    this.#position = revision;
  }

  /** Leaves the history read because the buffer is full; `next` joins it again. */
  #pause(revision: number): void {
    this.#position = revision;
    this.#hub.history.remove(this);
  }

  #push(event: WatchEvent, weight: number): void {
    this.#queue.push(event);
    this.#queuedBytes += weight;
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

  /** Ends a slow subscriber. The client can resume from its revision. */
  #cutOff(): void {
    const { revision } = this;
    this.#hub.cutOff++;
    this.#drop();
    this.end(undefined);
    this.#last = revision;
  }

  /** Reads the window until it has events for one batch or its turn is over; past its end the subscriber is live. */
  #replay(): void {
    const { window } = this.#hub;
    let cursor = this.#cursor;
    if (cursor < window.first) {
      this.proceed(this.#position);
      return;
    }
    const every = this.#costly ? 1 : replayStride;
    let next = window.at(cursor);
    for (let last = 0; next !== undefined; next = window.at(++cursor)) {
      const isFull = this.#queue.length >= batchEvents || this.#queuedBytes >= batchBytes;
      const isOver = cursor % every === 0 && this.#turns.over;
      // A commit is never split, so that a client can resume from the revision of any event.
      if ((isFull || isOver) && cursor > this.#cursor && next.revision !== last) break;
      const event = next.eventFor(this.selection);
      if (event !== undefined) {
        this.#hub.replayed++;
        this.#push(event, weightOf(event));
      }
      last = next.revision;
    }
    this.#cursor = cursor;
    this.#position = next === undefined ? this.#hub.revision() : next.revision - 1;
    if (next === undefined) this.proceed(this.#position);
  }

  /** Replays in turns until there is an event for the pending `next`. */
  async #continue(): Promise<void> {
    if (this.#replaying) return;
    this.#replaying = true;
    while (this.#source === 'window' && this.#waiter !== undefined && this.#cursor < this.#hub.window.end) {
      if (this.#turns.over) await this.#turns.next();
      if (this.#source !== 'window' || this.#waiter === undefined) break;
      this.#replay();
      this.flush();
    }
    this.#replaying = false;
    if (this.#waiter !== undefined) this.#read();
  }
}
