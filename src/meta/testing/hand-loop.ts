import { inTurns, Scheduler, settleSoon, sliceMs, type Turns } from '../scheduler.ts';

/** The number of short steps in a slice, and the time of one (ms): sums of it are exact. */
export const stepsInSlice = 8;
export const step = sliceMs / stepsInSlice;

/** An event loop by hand: time passes only while work runs, and a turn begins only when it is told to. */
export function handLoop() {
  let now = 0;
  let deferred: (() => void)[] = [];
  const scheduler = new Scheduler({
    now: () => now,
    defer: (callback) => void deferred.push(callback),
    settle: settleSoon,
  });
  const log: string[] = [];
  return {
    scheduler,
    log,
    spend: (ms: number) => {
      now += ms;
    },
    /** One turn of the event loop; returns how long the work of it took (ms). */
    async turn(): Promise<number> {
      const due = deferred;
      deferred = [];
      const began = now;
      for (const callback of due) callback();
      // Lets everything run that waits for promises and ticks only.
      await new Promise(setImmediate);
      return now - began;
    },
    /** Work of `steps` steps, which starts in this turn. */
    work(name: string, turns: Turns, steps: number, ms: number): Promise<void> {
      const run = function* () {
        for (let i = 0; i < steps; i++) {
          now += ms;
          log.push(name);
          yield undefined;
        }
      };
      return inTurns(run(), turns);
    },
    get idle(): boolean {
      return deferred.length === 0;
    },
  };
}
