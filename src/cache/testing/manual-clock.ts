import type { Clock } from '../../meta/index.ts';

/** A clock that moves only by `advance`. */
export class ManualClock implements Clock {
  #now = 1_700_000_000_000;
  readonly #tasks = new Set<{ at: number; task: () => void }>();

  get pending(): number {
    return this.#tasks.size;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, task: () => void): () => void {
    const entry = { at: this.#now + ms, task };
    this.#tasks.add(entry);
    return () => this.#tasks.delete(entry);
  }

  /** Advances the time by `ms` and runs the tasks that fall due, in order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#tasks].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#tasks.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.task();
    }
    this.#now = end;
  }
}
