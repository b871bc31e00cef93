import type { Clock } from '../meta/index.ts';

interface Waiter {
  readonly revision: number;
  readonly settle: (reached: boolean) => void;
}

/** Promises that wait for the cache to reach a revision. */
export class Waiters {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves to true once `reached` is called with `revision` or a later one; to false after `timeoutMs`, if set.
   */
  wait(revision: number, timeoutMs?: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = () => waiter.settle(false);
      const cancel = timeoutMs === undefined ? undefined : this.#clock.after(timeoutMs, end);
      const waiter: Waiter = {
        revision,
        settle: (reached) => {
          cancel?.();
          this.#waiting.delete(waiter);
          resolve(reached);
        },
      };
      this.#waiting.add(waiter);
    });
  }

  reached(revision: number): void {
    for (const waiter of this.#waiting) if (waiter.revision <= revision) waiter.settle(true);
  }

  /** Resolves all promises to false. */
  endAll(): void {
    for (const waiter of this.#waiting) waiter.settle(false);
  }
}
