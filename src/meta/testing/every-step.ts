import { setImmediate } from 'node:timers/promises';
import type { Turns } from '../scheduler.ts';

/** Turns that are over after each step, so that a test sees where work can pause however fast it is. */
export class EveryStep implements Turns {
  readonly over = true;
  /** How many turns the work has had. */
  count = 0;

  async next(): Promise<void> {
    this.count++;
    await setImmediate();
  }
}
