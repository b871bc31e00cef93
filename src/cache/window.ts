import { type Clock, type StatusError, statusError } from '../meta/index.ts';
import type { Change } from './change.ts';
import type { WindowMemory } from './window-memory.ts';

/** Bytes counted for each change in addition to its object, so that the number of changes is bounded too. */
const changeOverhead = 128;
/** The latest changes share their events, up to this size of objects (bytes); watches further behind create their own. */
const sharedBytes = 1 << 20;

/**
 * The event window: recent changes in order, each with a permanent sequence number. Keeps them for `maxAge` ms, while
 * the replaced and deleted objects that only the window references stay within `maxBytes`, and within what remains free of
 * the memory of all windows; evicts with the next change or the next tick.
 */
export class EventWindow {
  /** The window has every change after this revision. */
  oldest = 0;
  readonly #clock: Clock;
  readonly #maxAge: number;
  readonly #maxBytes: number;
  readonly #memory: WindowMemory;
  /** The changes from index `#start` on; `#base` is the sequence number of index 0. */
  #slots: (Change | undefined)[] = [];
  #start = 0;
  #base = 0;
  #bytes = 0;
  /** Sequence number of the first change with shared events, and the bytes of the objects from there on. */
  #shared = 0;
  #sharedHeld = 0;
  #cancelTick: (() => void) | undefined;

  constructor(clock: Clock, maxAge: number, maxBytes: number, memory: WindowMemory) {
    this.#clock = clock;
    this.#maxAge = maxAge;
    this.#maxBytes = maxBytes;
    this.#memory = memory;
  }

  /** Sequence number of the first change in the window. */
  get first(): number {
    return this.#base + this.#start;
  }

  /** Sequence number of the next change. */
  get end(): number {
    return this.#base + this.#slots.length;
  }

  /** The bytes counted against the limit. */
  get bytes(): number {
    return this.#bytes;
  }

  at(sequence: number): Change | undefined {
    return this.#slots[sequence - this.#base];
  }

  /** Sequence number of the first change after `revision`. */
  seek(revision: number): number {
    let low = this.first;
    let high = this.end;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.at(middle)!.revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  append(change: Change): void {
    this.#slots.push(change);
    this.#count(heldBytes(change));
    this.#sharedHeld += objectBytes(change);
    while (this.#sharedHeld > sharedBytes && this.#shared < this.end - 1) this.#unshare();
    this.#trim(change.time);
    if (this.#cancelTick === undefined) this.#schedule();
  }

  /** Evicts everything; the window begins after `revision`. */
  reset(revision: number): void {
    while (this.first < this.end) this.#evict();
    this.oldest = revision;
  }

  /** Evicts everything; nothing may be appended from now on. */
  close(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
    this.reset(this.oldest);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#memory.used += bytes;
  }

  #trim(now: number): void {
    const { limit } = this.#memory;
    for (let next = this.at(this.first); next !== undefined; next = this.at(this.first)) {
      const isFitting = this.#bytes <= Math.min(this.#maxBytes, limit - this.#memory.used);
      if (isFitting && now - next.time <= this.#maxAge) break;
      this.#evict();
    }
  }

  #evict(): void {
    if (this.#shared === this.first) this.#unshare();
    const change = this.#slots[this.#start]!;
    this.#slots[this.#start] = undefined;
    this.#start++;
    this.#count(-heldBytes(change));
    this.oldest = change.revision;
    if (this.#start * 2 > this.#slots.length) {
      this.#base += this.#start;
      this.#slots = this.#slots.slice(this.#start);
      this.#start = 0;
    }
  }

  #unshare(): void {
    const change = this.at(this.#shared)!;
    change.unshare();
    this.#sharedHeld -= objectBytes(change);
    this.#shared++;
  }

  /** Comes back when the oldest change is too old; not for each of many changes. */
  #schedule(): void {
    const oldest = this.at(this.first);
    if (oldest === undefined) return;
    const left = oldest.time + this.#maxAge - this.#clock.now();
    const wait = Math.min(this.#maxAge, Math.max(left, this.#maxAge / 5));
    this.#cancelTick = this.#clock.after(wait + 1, () => {
      this.#cancelTick = undefined;
      this.#trim(this.#clock.now());
      this.#schedule();
    });
  }
}

/** The bytes that only the window references once the change is applied. */
function heldBytes(change: Change): number {
  return changeOverhead + (change.previous?.bytes.length ?? 0);
}

function objectBytes(change: Change): number {
  return (change.current ?? change.previous)?.bytes.length ?? 0;
}

/** Returns the 410 for a watch from `revision`; `oldest` is the first possible start. */
export function tooOld(revision: number, oldest: number): StatusError {
  return statusError.expired(`too old resource version: ${revision} (${oldest})`);
}
