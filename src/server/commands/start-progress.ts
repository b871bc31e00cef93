import type { Clock } from '../../meta/index.ts';
import type { Log, StartObserver } from '../dependencies.ts';
import type { ProgressOutput } from './progress.ts';

/** The steps of a start, in order. */
const steps = {
  configuration: 'reading the configuration',
  store: 'opening the store',
  objects: 'reading what is followed, and creating what every cluster has',
  port: 'opening the port',
};
type StartStep = keyof typeof steps;
const order = Object.keys(steps) as readonly StartStep[];

/** Delay before a start is reported, and intervals of reports on a terminal and in the log (ms). */
const quietMs = 1_000;
const redrawMs = 200;
const repeatMs = 5_000;
const barWidth = 20;

interface Terminal extends ProgressOutput {
  /** How many characters a line has. */
  readonly columns?: number;
}

/**
 * Reports the progress of a start that takes more than a second: a bar on a terminal, elsewhere a line of the log for each
 * step and every five seconds.
 */
export class StartProgress implements StartObserver {
  readonly #out: Terminal;
  readonly #clock: Clock;
  readonly #log: Pick<Log, 'info'>;
  readonly #began: number;
  #step: StartStep = 'configuration';
  #place = '';
  #objects = 0;
  #speaks = false;
  #cancel: () => void;

  constructor(out: Terminal, clock: Clock, log: Pick<Log, 'info'>) {
    this.#out = out;
    this.#clock = clock;
    this.#log = log;
    this.#began = clock.monotonic();
    this.#cancel = clock.after(quietMs, () => this.#speak());
  }

  begin(step: StartStep, place = ''): void {
    [this.#step, this.#place] = [step, place];
    if (this.#speaks) this.#speak();
  }

  loaded(objects: number): void {
    this.#objects += objects;
  }

  /** The server is ready, or will not be. */
  end(): void {
    this.#cancel();
    if (!this.#speaks) return;
    this.#speaks = false;
    if (this.#out.isTTY) this.#out.write(eraseLine);
  }

  #speak(): void {
    this.#cancel();
    this.#speaks = true;
    const { isTTY } = this.#out;
    if (isTTY) this.#draw();
    else this.#logStep();
    this.#cancel = this.#clock.after(isTTY ? redrawMs : repeatMs, () => this.#speak());
  }

  #logStep(): void {
    this.#log.info('starting', {
      step: this.#text(),
      seconds: Math.round(this.#seconds()),
      ...(this.#objects === 0 ? {} : { objects: this.#objects }),
    });
  }

  // The cursor stays at the start of the line: a line of the log replaces the bar, which is then drawn below.
  #draw(): void {
    const done = order.indexOf(this.#step);
    const full = Math.round((barWidth * done) / order.length);
    const bar = `[${'#'.repeat(full)}${' '.repeat(barWidth - full)}]`;
    const objects = this.#objects === 0 ? '' : `, ${this.#objects.toLocaleString('en')} objects`;
    const line = `${bar} ${Math.floor(this.#seconds())} s${objects}: ${this.#text()}`;
    this.#out.write(`${eraseLine}${line.slice(0, (this.#out.columns ?? 80) - 1)}\r`);
  }

  #text(): string {
    return this.#place === '' ? steps[this.#step] : `${steps[this.#step]}: ${this.#place}`;
  }

  #seconds(): number {
    return (this.#clock.monotonic() - this.#began) / 1_000;
  }
}

const eraseLine = '\u001b[K';
