import { randomInt, randomUUID } from 'node:crypto';
import type { Clock, Random } from '../../meta/index.ts';

/** The longest delay of `setTimeout`. */
const longest = 2 ** 31 - 1;

/** The system clock. */
export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after: (ms, task) => {
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      timer = setTimeout(() => (left > longest ? wait(left - longest) : task()), Math.min(left, longest)).unref();
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
