import { setImmediate } from 'node:timers/promises';
import type { Steps } from '../meta/index.ts';

/** From this size on (bytes) the event loop gets turns between the steps of a write. */
export const largeBytes = 256 * 1024;

/** Gives the event loop a turn. */
export const nextTurn = (): Promise<void> => setImmediate();

/** Gives the event loop a turn; undefined where none is needed. */
export type Pause = (() => Promise<void>) | undefined;

/** The pause between the steps of a write whose body and stored object have these sizes (bytes). */
export const pauseFor = (body: number, stored = 0): Pause =>
  body >= largeBytes || stored >= largeBytes ? nextTurn : undefined;

/** The result of all steps, with a pause between them. */
export async function inTurns<T>(steps: Steps<T>, pause: () => Promise<void>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
  }
}
