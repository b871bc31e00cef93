import type { Clock } from './clock.ts';

/** A clock that advances only on request. Starts at 2026-01-01T00:00:00Z by default. */
export class VirtualClock implements Clock {
  #now: number;
  readonly #began: number;
  readonly #timers = new Set<{ readonly due: number; readonly task: () => void }>();

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
    this.#began = start;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#began;
  }

  after(ms: number, task: () => void): () => void {
    const timer = { due: this.#now + Math.max(0, ms), task };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** The time of the next timer; undefined without timers. */
  get next(): number | undefined {
    let next: number | undefined;
    for (const { due } of this.#timers) if (next === undefined || due < next) next = due;
    return next;
  }

  /** Sets the time and runs all timers that are due. */
  set(now: number): void {
    this.#now = Math.max(this.#now, now);
    const due = [...this.#timers].filter((timer) => timer.due <= this.#now).sort((a, b) => a.due - b.due);
    for (const timer of due) if (this.#timers.delete(timer)) timer.task();
  }

  /**
   * Advances the time by `ms`, from timer to timer. Awaits `settled` before the first timer, after each timer, and at the
   * end, so that the work that a timer has started can finish.
   */
  async advance(ms: number, settled: () => Promise<unknown>): Promise<void> {
    await settled();
    const end = this.#now + ms;
    for (let next = this.next; next !== undefined && next <= end; next = this.next) {
      this.set(next);
      await settled();
    }
    this.set(end);
    await settled();
  }
}
