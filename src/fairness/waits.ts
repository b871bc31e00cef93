/** The ends of waits that last too long. */
import type { Clock } from '../meta/index.ts';

/** An entry that has waited since `entered` (monotonic ms). */
interface Waiting {
  readonly entered: number;
  readonly maxWaitMs: number;
  /** It has waited for as long as it may, and must be deleted from the waits. */
  onExpired(): void;
}

/** Ends each wait that has lasted as long as it may, all of them with one timer. */
export class Waits {
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>;
  /** By their maximum: those of one set end in the order in which they have begun. */
  readonly #waiting = new Map<number, Set<Waiting>>();
  /** When the timer ends (monotonic ms); Infinity: there is none. It outlives the wait that it was set for. */
  #due = Number.POSITIVE_INFINITY;
  #stopTimer: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'monotonic' | 'after'>) {
    this.#clock = clock;
  }

  add(waiting: Waiting): void {
    const { entered, maxWaitMs } = waiting;
    const sameMaximum = this.#waiting.get(maxWaitMs);
    if (sameMaximum === undefined) this.#waiting.set(maxWaitMs, new Set([waiting]));
    else sameMaximum.add(waiting);
    this.#setTimer(entered + maxWaitMs);
  }

  delete(waiting: Waiting): void {
    const sameMaximum = this.#waiting.get(waiting.maxWaitMs);
    sameMaximum?.delete(waiting);
    if (sameMaximum?.size === 0) this.#waiting.delete(waiting.maxWaitMs);
  }

  #setTimer(due: number): void {
    if (due >= this.#due) return;
    this.#stopTimer?.();
    this.#due = due;
    this.#stopTimer = this.#clock.after(due - this.#clock.monotonic(), this.#expire);
  }

  readonly #expire = (): void => {
    this.#due = Number.POSITIVE_INFINITY;
    const now = this.#clock.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const [maxWaitMs, sameMaximum] of this.#waiting) {
      for (const waiting of sameMaximum) {
        const due = waiting.entered + maxWaitMs;
        if (due <= now) waiting.onExpired();
        else {
          next = Math.min(next, due);
          break;
        }
      }
    }
    this.#setTimer(next);
  };
}
