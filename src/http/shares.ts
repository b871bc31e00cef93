interface Waiter {
  readonly amount: number;
  readonly exempt: boolean;
  readonly granted: () => void;
}

/**
 * So much of something, shared by holders that are known by a key. A holder may have no more than is left free for all
 * others: one alone gets half, a second one a quarter, and none can lock out the rest. Who is exempt may have all.
 */
export class Shares {
  readonly #limit: number;
  #used = 0;
  readonly #held = new Map<string, number>();
  /** By holder, first come first served. */
  readonly #waiting = new Map<string, Set<Waiter>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** Whether a holder may have so much more. */
  fits(key: string, amount: number, exempt: boolean): boolean {
    const free = this.#limit - this.#used;
    return amount <= free && (exempt || (this.#held.get(key) ?? 0) + amount <= free);
  }

  /** Adds to what a holder has; `give` must follow. */
  take(key: string, amount: number): void {
    this.#used += amount;
    this.#held.set(key, (this.#held.get(key) ?? 0) + amount);
  }

  /** Takes back what was taken, and lets those have it who wait. */
  give(key: string, amount: number): void {
    const left = (this.#held.get(key) ?? 0) - amount;
    this.#used -= amount;
    if (left > 0) this.#held.set(key, left);
    else this.#held.delete(key);
    if (this.#waiting.size > 0) this.#grant();
  }

  /**
   * Takes at once, or when there is room, and then calls `granted`; the result ends the wait. Who alone has something
   * may have more than there is.
   */
  wait(key: string, waiter: Waiter): (() => void) | undefined {
    if (this.#grants(key, waiter)) {
      this.take(key, waiter.amount);
      return undefined;
    }
    const waiters = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiters.add(waiter));
    return () => this.#leave(key, waiter);
  }

  #grants(key: string, { amount, exempt }: Waiter): boolean {
    return this.#used === 0 || this.fits(key, amount, exempt);
  }

  #leave(key: string, waiter: Waiter): void {
    const waiters = this.#waiting.get(key);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiting.delete(key);
  }

  #grant(): void {
    for (const [key, waiters] of this.#waiting) {
      for (const waiter of waiters) {
        if (!this.#grants(key, waiter)) break;
        this.#leave(key, waiter);
        this.take(key, waiter.amount);
        waiter.granted();
      }
    }
  }
}
