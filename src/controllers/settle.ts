import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RunningControllers } from './manager.ts';

/** Rounds before controllers count as restless, and the turns of the event loop in each. */
const maxRounds = 6_000;
const turnsPerRound = 5;
/** Rounds without work after which the watches have most likely delivered everything. */
const quietRounds = 3;

/**
 * Resolves when the controllers have seen everything that is stored and have nothing to do until the clock moves. @throws
 * Error when they do not come to rest
 */
export async function settle(controllers: RunningControllers): Promise<void> {
  await controllers.started;
  for (let quiet = 0, round = 0; round < maxRounds; round++) {
    for (let turn = 0; turn < turnsPerRound; turn++) await nextTurn();
    quiet = controllers.isIdle() ? quiet + 1 : 0;
    if (quiet < quietRounds) continue;
    await controllers.informers.caughtUp();
    if (controllers.isIdle()) return;
    quiet = 0;
  }
  throw new Error('the controllers do not come to rest');
}
