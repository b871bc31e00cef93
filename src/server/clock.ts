import type { Clock } from '../meta/index.ts';

/** The longest time that a timer of the engine can wait. */
const longest = 2 ** 31 - 1;

/** The machine's time. */
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
