import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Clock, scheduler, systemClock } from '../meta/index.ts';
import { Deliveries } from './deliveries.ts';

it('the requests of a user do not wait for all events of the watches of that user', async () => {
  const deliveries = new Deliveries(systemClock);
  const count = 64;
  let served = 0;
  let servedBefore = count;
  const flush = () => {
    if (served++ === 0) {
      const request = scheduler.turns('ann');
      void request.next().then(() => {
        servedBefore = served;
      });
    }
    // A stretch of recipients takes longer than a slice.
    for (const end = performance.now() + 2; performance.now() < end; );
  };
  for (let i = 0; i < count; i++) deliveries.add({ flush }, 'ann');
  while (served < count) await setImmediate();
  expect(servedBefore).toBeLessThan(count / 2);
});

it('a recipient that is added while others are served waits for the next round', async () => {
  const deliveries = new Deliveries(systemClock);
  const order: string[] = [];
  const again = { flush: () => void order.push('again') };
  const first = {
    flush() {
      order.push('first');
      deliveries.add(again);
    },
  };
  deliveries.add(first);
  deliveries.add({ flush: () => void order.push('second') });
  while (order.length < 3) await setImmediate();
  expect(order).toEqual(['first', 'second', 'again']);
});

describe('changes that arrive during a round', () => {
  /** Deliveries by a clock whose time passes only in `pass`, and the pauses that they take (ms). */
  function paced() {
    let now = 0;
    const pauses: number[] = [];
    const clock: Clock = {
      now: () => now,
      monotonic: () => now,
      after: (ms, task) => {
        pauses.push(ms);
        setTimeout(task);
        return () => {};
      },
    };
    return { deliveries: new Deliveries(clock), pauses, pass: (ms: number) => (now += ms) };
  }

  it.each([
    ['are delivered without a pause after less than a millisecond', 0.5, []],
    ['wait as long as the round has taken', 4, [4]],
    ['wait for 10 ms at most', 400, [10]],
  ])('%s', async (_, roundMs, expected) => {
    const { deliveries, pauses, pass } = paced();
    let events = 1;
    const rounds: number[] = [];
    const change = () => {
      if (events++ === 0) deliveries.add(recipient, 'ann');
    };
    const recipient = {
      flush() {
        rounds.push(events);
        events = 0;
        if (rounds.length > 1) return;
        change();
        pass(roundMs);
        setTimeout(change);
      },
    };
    deliveries.add(recipient, 'ann');
    while (rounds.length < 2) await setImmediate();
    expect(pauses).toEqual(expected);
    if (pauses.length > 0) expect(rounds).toEqual([1, 2]);
  });

  it('do not pause the deliveries of another owner', async () => {
    const { deliveries, pauses, pass } = paced();
    const order: string[] = [];
    const ann = {
      flush() {
        order.push('ann');
        if (order.length > 1) return;
        deliveries.add(ann, 'ann');
        pass(8);
      },
    };
    deliveries.add(ann, 'ann');
    while (pauses.length < 1) await setImmediate();
    deliveries.add({ flush: () => void order.push('ben') }, 'ben');
    while (order.length < 3) await setImmediate();
    expect(order).toEqual(['ann', 'ben', 'ann']);
  });

  it('are delivered at once when they come after the end of the round', async () => {
    const { deliveries, pauses, pass } = paced();
    let rounds = 0;
    const recipient = {
      flush() {
        rounds++;
        pass(8);
      },
    };
    for (let i = 1; i <= 3; i++) {
      deliveries.add(recipient, 'ann');
      while (rounds < i) await setImmediate();
      await setImmediate();
    }
    expect(pauses).toEqual([]);
  });
});
