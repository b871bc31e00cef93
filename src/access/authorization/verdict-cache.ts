import { createHash } from 'node:crypto';
import type { Clock } from '../../meta/index.ts';
import type { Verdict } from './review.ts';

/** How many verdicts are kept, and how many characters of reasons. */
const maxVerdicts = 8_192;
const maxReasons = 4 * 1024 * 1024;

interface Kept {
  readonly verdict: Verdict;
  /** On the monotonic clock. */
  readonly until: number;
}

/** The key of a question: as long for a long one. */
export const keyOf = (spec: string): string => createHash('sha256').update(spec).digest('base64');

/** The verdicts of a webhook. The one that has not been asked for the longest is forgotten first. */
export class VerdictCache {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #kept = new Map<string, Kept>();
  #reasons = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get(key: string): Verdict | undefined {
    const found = this.#kept.get(key);
    if (found === undefined) return undefined;
    this.#kept.delete(key);
    if (found.until > this.#clock.monotonic()) {
      this.#kept.set(key, found);
      return found.verdict;
    }
    this.#reasons -= found.verdict.reason.length;
    return undefined;
  }

  /** Caches a verdict for `ms` milliseconds; 0 caches nothing. */
  add(key: string, verdict: Verdict, ms: number): void {
    if (ms <= 0) return;
    this.#forget(key);
    this.#kept.set(key, { verdict, until: this.#clock.monotonic() + ms });
    this.#reasons += verdict.reason.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= maxVerdicts && this.#reasons <= maxReasons) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    const found = this.#kept.get(key);
    if (found === undefined) return;
    this.#kept.delete(key);
    this.#reasons -= found.verdict.reason.length;
  }
}
