import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { RunningControllers } from './manager.ts';
import type { Reconciles } from './reconciles.ts';

/** Turns of the event loop in a round, and rounds without work after which watches have most likely delivered everything. */
const turnsPerRound = 5;
const quietRounds = 3;
/** Rounds in which work that is under way does not end, after which it is waited for without taking its computing time. */
const busyRounds = 100;
const pauseMs = 1;
/** How long nothing under way ends before it counts as stuck (ms of real time). */
const stuckMs = 60_000;

/**
 * Resolves when the controllers have seen everything that is stored and have nothing to do until the clock moves, however
 * long that takes. @throws Error that names the key that keeps being reconciled, or the reconcile that does not end
 */
export async function settle(controllers: RunningControllers): Promise<void> {
  const { reconciles } = controllers;
  await controllers.started;
  const stopCounting = reconciles.count();
  const progress = new Progress(reconciles);
  try {
    for (let quiet = 0; ; ) {
      for (let turn = 0; turn < turnsPerRound; turn++) await nextTurn();
      await progress.check();
      quiet = controllers.isIdle() ? quiet + 1 : 0;
      if (quiet < quietRounds) continue;
      await controllers.informers.caughtUp();
      if (controllers.isIdle()) return;
      quiet = 0;
    }
  } finally {
    stopCounting();
  }
}

/** Tells long work from work that never ends. */
class Progress {
  readonly #reconciles: Reconciles;
  #ended = -1;
  #rounds = 0;
  #since = 0;

  constructor(reconciles: Reconciles) {
    this.#reconciles = reconciles;
  }

  /** Checks the progress of a round. @throws Error when the work does not end */
  async check(): Promise<void> {
    const { ended, restless, running } = this.#reconciles;
    if (ended !== this.#ended || running.length === 0) {
      this.#ended = ended;
      this.#rounds = 0;
      this.#since = performance.now();
      if (restless === undefined) return;
      throw new Error(`the controllers do not settle: ${restless} keeps being reconciled`);
    }
    this.#rounds += 1;
    if (this.#rounds < busyRounds) return;
    await pause(pauseMs);
    if (performance.now() < this.#since + stuckMs) return;
    const names = running.slice(0, 3).join(', ');
    throw new Error(`the controllers do not settle: still running after ${stuckMs / 1000} s: ${names}`);
  }
}
