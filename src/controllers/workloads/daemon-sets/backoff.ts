/** Delays (ms): the first, doubled each time, up to the last. */
const firstMs = 1_000;
const lastMs = 15 * 60_000;
/** Keys that are remembered. */
const maxKeys = 10_000;

/** How often what belongs to a key may be done: each time only after a longer while. */
export class Backoff {
  readonly #keys = new Map<string, { readonly delay: number; readonly since: number }>();

  /** 0: it may be done now, which is remembered; otherwise how long it has to wait (ms). */
  next(key: string, now: number): number {
    const last = this.#keys.get(key);
    const remainingMs = last === undefined ? 0 : last.since + last.delay - now;
    if (remainingMs > 0) return remainingMs;
    // Resets the delay after a long time without failures.
    const isFresh = last === undefined || now - last.since > 2 * lastMs;
    this.#keys.delete(key);
    this.#keys.set(key, { delay: isFresh ? firstMs : Math.min(2 * last.delay, lastMs), since: now });
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > maxKeys && oldest !== undefined) this.#keys.delete(oldest);
    return 0;
  }
}
