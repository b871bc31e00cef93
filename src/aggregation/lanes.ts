/** Runs tasks: at most so many at a time, and those with the same key one after the other. */
export class Lanes {
  readonly #most: number;
  readonly #busy = new Set<string>();
  readonly #waiting: { readonly key: string; readonly start: () => void }[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    if (this.#busy.size < this.#most && !this.#busy.has(key)) this.#busy.add(key);
    else await new Promise<void>((start) => this.#waiting.push({ key, start }));
    try {
      return await task();
    } finally {
      this.#busy.delete(key);
      this.#startNext();
    }
  }

  /** Starts the first waiting task whose key is free. */
  #startNext(): void {
    const place = this.#waiting.findIndex(({ key }) => !this.#busy.has(key));
    const [next] = place === -1 ? [] : this.#waiting.splice(place, 1);
    if (next === undefined) return;
    this.#busy.add(next.key);
    next.start();
  }
}
