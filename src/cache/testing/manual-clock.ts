import type { Clock } from '../../meta/index.ts';

/** A clock that stands still until it is told to move. */
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

  /** Moves on by `ms` milliseconds and runs what falls due, in order of time. */
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
