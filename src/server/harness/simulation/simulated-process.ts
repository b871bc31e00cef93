import type { Clock } from '../../../meta/index.ts';

/**
 * A process of a simulated world: whatever reaches it passes `enter`, and its timers are those of its clock. A process that is
 * killed runs nothing any more; one that is paused runs everything later.
 */
export class SimulatedProcess {
  readonly name: string;
  /** The time of the process, which may differ from that of the world. */
  readonly clock: Clock;
  #state: 'running' | 'paused' | 'killed' = 'running';
  readonly #held: (() => void)[] = [];
  readonly #killed: (() => void)[] = [];
  #skewMs = 0;
  /** How much faster than the world its clock runs, as a part of one; negative: slower. */
  #drift = 0;
  /** The gain of the clock (ms) at the monotonic time of the world at which the drift changed last. */
  #gained = { ms: 0, at: 0 };
  readonly #world: Clock;

  constructor(name: string, world: Clock) {
    this.name = name;
    this.#world = world;
    this.clock = {
      now: () => world.now() + this.#skewMs + this.#gain(),
      monotonic: () => world.monotonic() + this.#gain(),
      after: (ms, task) => {
        if (this.#state === 'killed') return () => {};
        let cancelled = false;
        const cancel = world.after(ms / (1 + this.#drift), () => this.enter(() => cancelled || task()));
        return () => {
          cancelled = true;
          cancel();
        };
      },
    };
  }

  get killed(): boolean {
    return this.#state === 'killed';
  }

  /** Sets the difference between the time of day of the process and that of the world (ms). */
  skew(ms: number): void {
    this.#skewMs = ms;
  }

  /**
   * Sets how much faster than that of the world the clock of the process runs, by percent. Timers that run already keep their
   * end, and what the clock has gained or lost remains.
   */
  drift(percent: number): void {
    this.#gained = { ms: this.#gain(), at: this.#world.monotonic() };
    this.#drift = percent / 100;
  }

  #gain(): number {
    const { ms, at } = this.#gained;
    return ms + (this.#world.monotonic() - at) * this.#drift;
  }

  /** Runs what reaches the process: now, after the pause, or never. */
  enter(run: () => void): void {
    if (this.#state === 'running') run();
    else if (this.#state === 'paused') this.#held.push(run);
  }

  pause(): void {
    if (this.#state === 'running') this.#state = 'paused';
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    for (const run of this.#held.splice(0)) this.enter(run);
  }

  /** Ends the process without a farewell. Idempotent. */
  kill(): void {
    this.#state = 'killed';
    this.#held.length = 0;
    for (const run of this.#killed.splice(0)) run();
  }

  /** Calls back when the process is killed: its connections break. Returns a function that removes the call. */
  whenKilled(run: () => void): () => void {
    this.#killed.push(run);
    return () => {
      const at = this.#killed.indexOf(run);
      if (at >= 0) this.#killed.splice(at, 1);
    };
  }
}
