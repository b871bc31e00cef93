import { type Clock, VirtualClock } from '../../meta/index.ts';
import { readDuration } from './duration.ts';
import type { AdvancingClock } from './eventually.ts';

/** The clock of a test server, for controllers and clients under test as well. */
export interface TestClock extends Clock, AdvancingClock {
  /**
   * Advances the time from timer to timer by milliseconds, or a text such as `30s`. After each timer it waits until the
   * server, its controllers and everything added by `settlesWith` are idle. @throws Error on the system clock
   */
  advance(duration: number | string): Promise<void>;
}

/** Creates the clock of a test server. */
export function testClock(clock: Clock, settled: () => Promise<void>): TestClock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (ms, task) => clock.after(ms, task),
    async advance(duration) {
      if (!(clock instanceof VirtualClock)) {
        throw new Error(
          'the server runs on the system clock: testServer({ clock: new VirtualClock() }) has one to advance',
        );
      }
      await clock.advance(readDuration('the duration', duration), settled);
    },
  };
}
