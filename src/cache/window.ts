import { type Clock, type StatusError, statusError } from '../meta/index.ts';
import type { Change } from './change.ts';

/** Counted for each change beyond the bytes of its object, so that many small ones are bounded as well. */
const changeOverhead = 128;
/** Bytes of the latest objects whose events are shared; watchers that lag further behind get events of their own. */
const sharedBytes = 1 << 20;

/**
 * The recent changes in order, each under a sequence number that it keeps. Holds them for `maxAge` ms, as long as what
 * only the window holds (objects replaced or deleted) stays within `maxBytes`; older ones go with the next change or
 * the next tick.
 */
export class EventWindow {
  /** Every change after this revision is here. */
  oldest = 0;
  readonly #clock: Clock;
  readonly #maxAge: number;
  readonly #maxBytes: number;
  /** The kept ones from `#start` on; `#base` is the sequence number of the first place. */
  #places: (Change | undefined)[] = [];
  #start = 0;
  #base = 0;
  #bytes = 0;
  /** Sequence number of the first change whose events are shared, and the weight of those from there on. */
  #shared = 0;
  #sharedWeight = 0;
  #cancelTick: (() => void) | undefined;

  constructor(clock: Clock, maxAge: number, maxBytes: number) {
    this.#clock = clock;
    this.#maxAge = maxAge;
    this.#maxBytes = maxBytes;
  }

  /** Sequence number of the first change kept. */
  get first(): number {
    return this.#base + this.#start;
  }

  /** Sequence number of the next change. */
  get end(): number {
    return this.#base + this.#places.length;
  }

  at(sequence: number): Change | undefined {
    return this.#places[sequence - this.#base];
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
    this.#places.push(change);
    this.#bytes += heldBytes(change);
    this.#sharedWeight += objectBytes(change);
    while (this.#sharedWeight > sharedBytes && this.#shared < this.end - 1) this.#unshare();
    this.#trim(change.time);
    this.#schedule();
  }

  /** Forgets everything: changes are kept from `revision` on. */
  reset(revision: number): void {
    while (this.first < this.end) this.#evict();
    this.oldest = revision;
  }

  close(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
  }

  #trim(now: number): void {
    for (let next = this.at(this.first); next !== undefined; next = this.at(this.first)) {
      if (this.#bytes <= this.#maxBytes && now - next.time <= this.#maxAge) break;
      this.#evict();
    }
  }

  #evict(): void {
    if (this.#shared === this.first) this.#unshare();
    const change = this.#places[this.#start]!;
    this.#places[this.#start] = undefined;
    this.#start++;
    this.#bytes -= heldBytes(change);
    this.oldest = change.revision;
    if (this.#start * 2 > this.#places.length) {
      this.#base += this.#start;
      this.#places = this.#places.slice(this.#start);
      this.#start = 0;
    }
  }

  #unshare(): void {
    const change = this.at(this.#shared)!;
    change.unshare();
    this.#sharedWeight -= objectBytes(change);
    this.#shared++;
  }

  #schedule(): void {
    if (this.#cancelTick !== undefined || this.first === this.end) return;
    this.#cancelTick = this.#clock.after(this.#maxAge + 1, () => {
      this.#cancelTick = undefined;
      this.#trim(this.#clock.now());
      this.#schedule();
    });
  }
}

/** What only the window holds once the change is applied. */
function heldBytes(change: Change): number {
  return changeOverhead + (change.previous?.bytes.length ?? 0);
}

function objectBytes(change: Change): number {
  return (change.current ?? change.previous)?.bytes.length ?? 0;
}

/** `revision`: the one asked for; `oldest`: the first one that would have done. */
export function tooOld(revision: number, oldest: number): StatusError {
  return statusError.expired(`too old resource version: ${revision} (${oldest})`);
}
