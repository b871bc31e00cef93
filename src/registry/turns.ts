import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Steps } from '../meta/index.ts';

/** From how many bytes on an object is so large that others have a turn between the steps of a write. */
export const largeBytes = 256 * 1024;

/** Lets others have a turn; undefined where there is no need to. */
export type Pause = (() => Promise<void>) | undefined;

/** What to do between the steps of work on texts of such lengths. */
export const pauseFor = (...lengths: (number | undefined)[]): Pause =>
  lengths.some((length = 0) => length >= largeBytes) ? nextTurn : undefined;

/** The result of all steps, with a turn for others between two of them. */
export async function inTurns<T>(steps: Steps<T>, pause: () => Promise<void>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
  }
}
