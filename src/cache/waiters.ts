import type { Clock } from '../meta/index.ts';

interface Waiter {
  readonly revision: number;
  readonly settle: (reached: boolean) => void;
}

/** Those who wait for a revision. */
export class Waiters {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** True as soon as `reached` is called with `revision` or a later one, false after `timeoutMs`. */
  wait(revision: number, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(timeoutMs, () => waiter.settle(false));
      const waiter: Waiter = {
        revision,
        settle: (reached) => {
          cancel();
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

  /** All of them in vain. */
  close(): void {
    for (const waiter of this.#waiting) waiter.settle(false);
  }
}
