import type { Clock } from '../../meta/index.ts';

/** Standard error, or a replacement in tests. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const barWidth = 30;
const redrawMs = 100;

/**
 * Shows the progress of a command: a bar on a terminal, elsewhere a line at the beginning and at every tenth of a step.
 */
export class Progress {
  readonly #out: ProgressOutput;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #step = '';
  #tenth = 0;
  #drawnAt = Number.NEGATIVE_INFINITY;

  constructor(out: ProgressOutput, clock: Pick<Clock, 'monotonic'>) {
    this.#out = out;
    this.#clock = clock;
  }

  /** Shows that `done` of about `size` objects have passed a step, such as `copy`. */
  show(step: string, done: number, size: number): void {
    const share = size === 0 ? 1 : Math.min(1, done / size);
    const tenth = Math.floor(share * 10);
    const begins = step !== this.#step;
    const onBar = this.#clock.monotonic() - this.#drawnAt >= redrawMs || share === 1;
    if (!begins && !(this.#out.isTTY ? onBar : tenth > this.#tenth)) return;
    if (begins) this.end();
    this.#draw(step, share, done);
    [this.#step, this.#tenth, this.#drawnAt] = [step, tenth, this.#clock.monotonic()];
  }

  /** Writes a line, below the bar if there is one. */
  say(line: string): void {
    this.end();
    this.#out.write(`${line}\n`);
  }

  /** Ends the bar, so that other text may follow. */
  end(): void {
    if (this.#step !== '' && this.#out.isTTY) this.#out.write('\n');
    this.#step = '';
  }

  #draw(step: string, share: number, done: number): void {
    const percent = `${Math.floor(share * 100)} %`.padStart(5);
    const text = `${percent}  ${done.toLocaleString('en')} objects`;
    if (!this.#out.isTTY) {
      this.#out.write(`${step}: ${text.trimStart()}\n`);
      return;
    }
    const full = Math.floor(share * barWidth);
    // Returns to the start of the line and erases the rest.
    this.#out.write(`\r${step.padEnd(7)}[${'#'.repeat(full)}${' '.repeat(barWidth - full)}]${text}\u001b[K`);
  }
}
