import type { Clock } from '../meta/index.ts';

const longest = 3_600_000;

/** Rings once at the earliest of the times that it was given since it last rang. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #at = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Rings at `at` (milliseconds of the clock) at the latest. */
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
    this.#cancel = this.#clock.after(Math.min(ms, longest), () => {
      if (this.#at > this.#clock.now()) {
        this.#wait();
      } else {
        this.stop();
        this.#ring();
      }
    });
  }
}

/** Calls `run` again and again, with `ms` between. The result ends it. */
export function every(clock: Clock, ms: number, run: () => void): () => void {
  const wait = () =>
    clock.after(ms, () => {
      cancel = wait();
      run();
    });
  let cancel = wait();
  return () => cancel();
}
