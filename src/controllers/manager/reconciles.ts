/** How often a key is reconciled, while the clock stands still, before it counts as restless. */
const maxReconciles = 5_000;

/** The reconciles of controllers: those under way and, while somebody waits for them to settle, how many there were. */
export class Reconciles {
  readonly #running = new Set<string>();
  readonly #counts = new Map<string, number>();
  #counting = 0;
  #ended = 0;
  #restless: string | undefined;

  /** Counts from now on; the result ends that. */
  count(): () => void {
    this.#counting += 1;
    return () => {
      this.#counting -= 1;
      if (this.#counting > 0) return;
      this.#counts.clear();
      this.#restless = undefined;
    };
  }

  async run<T>(queue: string, key: string, reconcile: (key: string) => Promise<T>): Promise<T> {
    const name = `${key} of the queue ${queue}`;
    if (this.#counting > 0) this.#add(name);
    this.#running.add(name);
    try {
      return await reconcile(key);
    } finally {
      this.#running.delete(name);
      this.#ended += 1;
    }
  }

  /** How many have ended. */
  get ended(): number {
    return this.#ended;
  }

  /** The reconciles under way. */
  get running(): readonly string[] {
    return [...this.#running];
  }

  /** A key that keeps being reconciled. */
  get restless(): string | undefined {
    return this.#restless;
  }

  #add(name: string): void {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    if (count > maxReconciles) this.#restless = name;
  }
}
