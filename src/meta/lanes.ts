/** Limits how many tasks run at a time. Owners with waiting tasks take turns, however many tasks each of them has. */
export class Lanes {
  #free: number;
  /** Waiting tasks by owner; the first owner is next. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Runs the task when its owner's turn comes, and returns its outcome. */
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

  /** Passes a lane to the next owner and moves that owner to the end. */
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
