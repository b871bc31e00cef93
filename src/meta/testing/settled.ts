import { setImmediate as nextTurn } from 'node:timers/promises';
import { scheduler } from '../scheduler.ts';

/**
 * Resolves once no work has waited for its turn of the scheduler in `turns` turns of the event loop in a row, however many
 * turns the work takes on this machine. Work that waits for input, output or a timer is not waited for.
 */
export async function settled(turns = 1): Promise<void> {
  for (let quiet = 0; quiet < turns; quiet++) {
    await nextTurn();
    if (scheduler.waiting > 0) quiet = -1;
  }
}
