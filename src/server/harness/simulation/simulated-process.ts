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

  constructor(name: string, world: Clock) {
    this.name = name;
    this.clock = {
      now: () => world.now() + this.#skewMs,
      monotonic: () => world.monotonic(),
      after: (ms, task) => {
        if (this.#state === 'killed') return () => {};
        let cancelled = false;
        const cancel = world.after(ms, () => this.enter(() => cancelled || task()));
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
