import { createHash } from 'node:crypto';
import type { Clock } from '../../../meta/index.ts';

/** The number of lines that a trace retains. */
const retained = 2_000;

/** Everything that can be observed of a simulated world, in order: requests, responses, events, commits, faults and log lines. */
export class Trace {
  readonly #clock: Clock;
  readonly #hash = createHash('sha256');
  #lines: string[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `content`: bytes that belong to the line but are too long to show. */
  note(who: string, text: string, content: string | Uint8Array = ''): void {
    const line = `${this.#clock.monotonic().toFixed(3)} ${who} ${text}`;
    if (typeof content === 'string') this.#hash.update(`${line}\n${content}\n`);
    else this.#hash.update(`${line}\n`).update(content).update('\n');
    this.#lines.push(line);
    if (this.#lines.length >= 2 * retained) this.#lines = this.#lines.slice(-retained);
  }

  /** The last lines. */
  get lines(): readonly string[] {
    return this.#lines.slice(-retained);
  }

  /** SHA-256 of everything that was noted, in hexadecimal. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}
