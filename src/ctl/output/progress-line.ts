import type { Output } from './output.ts';

/** Work that takes longer is shown, and the line is drawn again that often (ms). */
const delayMs = 1_000;
const redrawMs = 500;

/** The width of a terminal that does not tell it (characters). */
const usualWidth = 80;

interface Work {
  readonly text: () => string;
  /** In milliseconds since 1970. */
  readonly since: number;
}

/**
 * A line at the end of a terminal about work that takes longer than a second. It is erased before other text is written, and
 * when the work ends. Without a terminal nothing is shown.
 */
export class ProgressLine {
  readonly #output: Output;
  readonly #clock: { now(): number };
  /** The innermost last. */
  readonly #work: Work[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isDrawn = false;

  constructor(output: Output, clock: { now(): number }) {
    this.#output = output;
    this.#clock = clock;
  }

  /** Does some work, and shows `text` with the seconds so far. Of work inside other work the innermost is shown. */
  async during<T>(text: () => string, work: () => Promise<T>): Promise<T> {
    if (this.#output.isTTY !== true) return work();
    const own = { text, since: this.#clock.now() };
    this.#work.push(own);
    this.#timer ??= setInterval(() => this.#draw(), redrawMs);
    try {
      return await work();
    } finally {
      this.#work.splice(this.#work.indexOf(own), 1);
      if (this.#work.length === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
      this.erase();
    }
  }

  /** Erases the line; it is drawn again below what is written next. */
  erase(): void {
    if (this.#isDrawn) this.#output.write('\r\u001b[K');
    this.#isDrawn = false;
  }

  #draw(): void {
    const latest = this.#work.at(-1);
    if (latest === undefined) return;
    const ms = this.#clock.now() - latest.since;
    if (ms < delayMs) return;
    const line = `${latest.text()} (${Math.floor(ms / 1_000)}s)`;
    const width = this.#output.columns ?? usualWidth;
    // A line as wide as the terminal would wrap, and could not be erased.
    const shown = line.length < width ? line : `${line.slice(0, width - 2)}…`;
    this.#output.write(`\r\u001b[K${shown}`);
    this.#isDrawn = true;
  }
}
