interface Waiter {
  readonly amount: number;
  readonly exempt: boolean;
  readonly granted: () => void;
}

/**
 * A limited amount that is shared by holders with a key. A holder may take no more than remains free for all others:
 * the first gets half, the second a quarter, and none can starve the rest. An exempt holder may take all.
 */
export class Shares {
  readonly #limit: number;
  #used = 0;
  /** How often a request was refused because an amount did not fit. */
  refusals = 0;
  readonly #held = new Map<string, number>();
  /** Waiting requests by holder, in the order of their arrival. */
  readonly #waiting = new Map<string, Set<Waiter>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get limit(): number {
    return this.#limit;
  }

  get used(): number {
    return this.#used;
  }

  /** Whether a holder may take an amount. */
  fits(key: string, amount: number, exempt: boolean): boolean {
    const free = this.#limit - this.#used;
    return amount <= free && (exempt || (this.#held.get(key) ?? 0) + amount <= free);
  }

  /** Takes an amount for a holder; `give` must follow. */
  take(key: string, amount: number): void {
    this.#used += amount;
    this.#held.set(key, (this.#held.get(key) ?? 0) + amount);
  }

  /** Releases an amount and grants it to those who wait. */
  give(key: string, amount: number): void {
    const left = (this.#held.get(key) ?? 0) - amount;
    this.#used -= amount;
    if (left > 0) this.#held.set(key, left);
    else this.#held.delete(key);
    if (this.#waiting.size > 0) this.#grant();
  }

  /**
   * Takes an amount at once, or when there is room, with a call of `granted`. The result cancels the wait. A holder
   * that is alone may take more than the limit.
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
