import { type Clock, Heap } from '../../../meta/index.ts';

// Captured before a simulation replaces the globals.
const nextRealTurn = setImmediate;
const realTime = performance.now.bind(performance);

interface Task {
  /** When it runs (virtual ms since the start). */
  readonly due: number;
  /** Tasks that are due at the same time run in the order in which they were added. */
  readonly order: number;
  run: (() => void) | undefined;
}

/** Turns without any progress of time after which the simulation fails: something waits for what never comes. */
const maxTurnsAtOnce = 1_000_000;

/** The number of tasks in one turn of the real event loop, which has a price of its own: it asks the system for events. */
const tasksPerTurn = 64;

/** The most tasks that run after the end. */
const maxDrained = 10_000;

/** The start of simulated time: 2026-01-01T00:00:00Z. */
export const simulationStart = Date.UTC(2026, 0, 1);

/**
 * The event loop of a simulation: one queue of tasks by virtual time. A task runs once everything has run that the one before
 * it started and that waits for no time; time then jumps to the next task. The order of tasks depends on nothing else.
 */
export class VirtualLoop implements Clock {
  readonly #tasks = new Heap<Task>((a, b) => a.due < b.due || (a.due === b.due && a.order < b.order));
  #time = 0;
  #order = 0;
  #turnsAtOnce = 0;
  #failure: { readonly error: unknown } | undefined;

  /** Virtual milliseconds since the start. */
  get time(): number {
    return this.#time;
  }

  /** The number of tasks that were added so far. */
  get added(): number {
    return this.#order;
  }

  now(): number {
    return simulationStart + this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  after(ms: number, task: () => void): () => void {
    const entry: Task = { due: this.#time + (ms > 0 ? ms : 0), order: this.#order++, run: task };
    this.#tasks.add(entry);
    return () => {
      entry.run = undefined;
    };
  }

  /** Resolves after this many virtual milliseconds. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Ends `run` with this error after the current task. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /**
   * Runs tasks until the promise of `main` settles, and returns its value. @throws the error of `main` or of a task; Error when
   * nothing is left to run, when time stands still, or after `realMs` of real time
   */
  run<T>(main: () => Promise<T>, realMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      let settle: (() => void) | undefined;
      main().then(
        (value) => {
          settle = () => resolve(value);
        },
        (error: Error) => {
          settle = () => reject(error);
        },
      );
      const until = realTime() + realMs;
      let ended = false;
      const end = (done: () => void) => {
        ended = true;
        this.#drain(done);
      };
      const step = () => {
        if (ended) return;
        if (settle !== undefined) return end(settle);
        try {
          if (this.#failure === undefined) this.#runNext();
        } catch (error) {
          this.fail(error);
        }
        const failure = this.#failure;
        if (failure !== undefined) end(() => reject(failure.error as Error));
      };
      const turn = () => {
        if (realTime() > until) this.fail(new Error(`the simulation takes more than ${realMs} ms of real time`));
        // Microtasks and ticks run to their end between two immediates, also between those of one turn.
        for (let i = 0; i < tasksPerTurn; i++) nextRealTurn(step);
        nextRealTurn(() => {
          if (!ended) turn();
        });
      };
      turn();
    });
  }

  /**
   * Runs what is due now before `done`: state that outlives the run, such as that of the scheduler of this thread, waits for turns
   * that were promised. Errors come too late.
   */
  #drain(done: () => void): void {
    let left = maxDrained;
    const turn = () => {
      const task = this.#tasks.take();
      if (task === undefined || task.due > this.#time || left-- === 0) return done();
      try {
        task.run?.();
      } catch {
        // The outcome of the run is decided.
      }
      nextRealTurn(turn);
    };
    turn();
  }

  #runNext(): void {
    for (;;) {
      const task = this.#tasks.take();
      if (task === undefined) throw new Error('the simulation waits for something that never happens: no task is left');
      if (task.run === undefined) continue;
      this.#turnsAtOnce = task.due > this.#time ? 0 : this.#turnsAtOnce + 1;
      if (this.#turnsAtOnce > maxTurnsAtOnce) {
        throw new Error(`time stands still at ${this.#time} ms: ${maxTurnsAtOnce} tasks have run without a pause`);
      }
      this.#time = Math.max(this.#time, task.due);
      task.run();
      return;
    }
  }
}
