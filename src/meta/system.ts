import { randomInt, randomUUID } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

/** The longest delay of `setTimeout` (ms). */
const maxDelayMs = 2 ** 31 - 1;

/** The system clock. */
export const systemClock: Clock = {
  // The global function of the moment: tests replace it.
  now: () => Date.now(),
  monotonic: performance.now.bind(performance),
  after: (ms, task) => {
    let timer: NodeJS.Timeout;
    const wait = (rest: number) => {
      timer =
        rest <= maxDelayMs
          ? setTimeout(task, rest).unref()
          : setTimeout(() => wait(rest - maxDelayMs), maxDelayMs).unref();
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

/** Cryptographic randomness of the system. */
export const systemRandom: Random = {
  uuid: randomUUID,
  integer: (below) => randomInt(below),
};
