import type { Clock } from '../meta/index.ts';

interface Waiter {
  readonly revision: number;
  readonly settle: (reached: boolean) => void;
}

/** Promises that wait for the cache to reach a revision. */
export class Waiters extends Set<Waiter> {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
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
          this.delete(waiter);
          resolve(reached);
        },
      };
      this.add(waiter);
    });
  }

  reached(revision: number): void {
    for (const waiter of this) if (waiter.revision <= revision) waiter.settle(true);
  }

  /** Resolves all promises to false. */
  endAll(): void {
    for (const waiter of this) waiter.settle(false);
  }
}
