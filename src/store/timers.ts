import type { Clock } from '../meta/index.ts';

const longestWaitMs = 3_600_000;

/** A timer that fires once, at the earliest time set since it last fired. */
export class Alarm {
  readonly #clock: Clock;
  readonly #fire: () => void;
  #at = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, fire: () => void) {
    this.#clock = clock;
    this.#fire = fire;
  }

  /** Fires at `at` (milliseconds of the clock) or earlier. */
  by(at: number): void {
    if (at >= this.#at) return;
    this.stop();
    this.#at = at;
    this.#wait();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#at = Number.POSITIVE_INFINITY;
  }

  #wait(): void {
    const ms = Math.max(0, this.#at - this.#clock.now());
    this.#cancel = this.#clock.after(Math.min(ms, longestWaitMs), () => {
      if (this.#at > this.#clock.now()) {
        this.#wait();
      } else {
        this.stop();
        this.#fire();
      }
    });
  }
}

/** Calls `run` every `ms` milliseconds until the returned function is called. */
export function every(clock: Clock, ms: number, run: () => void): () => void {
  const wait = () =>
    clock.after(ms, () => {
      cancel = wait();
      run();
    });
  let cancel = wait();
  return () => cancel();
}

/** Resolves after this many milliseconds. */
export const pause = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve);
  });
