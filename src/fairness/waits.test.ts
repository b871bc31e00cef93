import fc from 'fast-check';
import { expect, it } from 'vitest';
import { VirtualClock } from '../meta/index.ts';
import { Waits } from './waits.ts';

/** A clock that counts the timers that were started. */
class CountingClock extends VirtualClock {
  timers = 0;

  override after(ms: number, task: () => void): () => void {
    this.timers++;
    return super.after(ms, task);
  }
}

function makeWaits() {
  const clock = new CountingClock();
  const waits = new Waits(clock);
  const expired: string[] = [];
  const add = (maxWaitMs: number) => {
    const waiting = {
      entered: clock.monotonic(),
      maxWaitMs,
      onExpired() {
        waits.delete(waiting);
        expired.push(`${this.entered + maxWaitMs} at ${clock.monotonic()}`);
      },
    };
    waits.add(waiting);
    return waiting;
  };
  return { clock, waits, expired, add };
}

it('each wait ends at its deadline, unless it has ended before', () => {
  const step = fc.record({
    passes: fc.integer({ min: 0, max: 3 }),
    maxWaitMs: fc.integer({ min: 1, max: 8 }),
    ends: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const { clock, waits, expired, add } = makeWaits();
      const deadlines: number[] = [];
      const pass = (ms: number) => {
        for (let i = 0; i < ms; i++) clock.set(clock.now() + 1);
      };
      for (const { passes, maxWaitMs, ends } of steps) {
        pass(passes);
        const waiting = add(maxWaitMs);
        if (ends) waits.delete(waiting);
        else deadlines.push(clock.monotonic() + maxWaitMs);
      }
      pass(10);
      expect(expired).toEqual(deadlines.sort((a, b) => a - b).map((deadline) => `${deadline} at ${deadline}`));
      expect(clock.next).toBeUndefined();
    }),
  );
});

it('a thousand waits of one length have one timer, and so have the next ones until it ends', () => {
  const { clock, waits, add } = makeWaits();
  for (let i = 0; i < 1_000; i++) {
    clock.set(clock.now() + 1);
    waits.delete(add(15_000));
  }
  expect(clock.timers).toBe(1);
});
