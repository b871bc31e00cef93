import { randomUUID } from 'node:crypto';
import type { Clock, Random } from '../../meta/index.ts';

/** The clock of the system, or one that runs faster by this factor. */
export const realClock = (factor = 1): Clock => ({
  now: () => Date.now() * factor,
  monotonic: () => performance.now() * factor,
  after(ms, task) {
    const timer = setTimeout(task, ms / factor).unref();
    return () => clearTimeout(timer);
  },
});

export const realRandom: Random = { uuid: randomUUID, integer: (below) => Math.floor(Math.random() * below) };
