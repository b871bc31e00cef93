import { randomInt, randomUUID } from 'node:crypto';
import type { Clock, Random } from '../../meta/index.ts';

/** The maximum delay of `setTimeout` (ms). */
const maxDelayMs = 2 ** 31 - 1;

/** The system clock. */
export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after: (ms, task) => {
    let timer: NodeJS.Timeout;
    const wait = (remaining: number) => {
      timer = setTimeout(
        () => (remaining > maxDelayMs ? wait(remaining - maxDelayMs) : task()),
        Math.min(remaining, maxDelayMs),
      ).unref();
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

/** Cryptographic randomness of the system. */
export const systemRandom: Random = {
  uuid: randomUUID,
  integer: randomInt,
};
