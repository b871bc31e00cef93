/** Runs so many tasks at a time. Owners whose tasks wait take turns, however many tasks each of them has. */
export class Lanes {
  #free: number;
  /** The tasks that wait, by owner; the owner at the front is next. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(count: number) {
    this.#free = count;
  }

  /** The outcome of the task, which starts when its turn has come. */
  async run<T>(owner: string, task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#turnOf(owner);
    try {
      return await task();
    } finally {
      this.#pass();
    }
  }

  #turnOf(owner: string): Promise<void> {
    const tasks = this.#waiting.get(owner) ?? [];
    this.#waiting.set(owner, tasks);
    return new Promise((start) => tasks.push(start));
  }

  /** Passes a lane on to the next owner, who then goes behind all others. */
  #pass(): void {
    for (const [owner, tasks] of this.#waiting) {
      this.#waiting.delete(owner);
      const start = tasks.shift();
      if (tasks.length > 0) this.#waiting.set(owner, tasks);
      start?.();
      return;
    }
    this.#free++;
  }
}
