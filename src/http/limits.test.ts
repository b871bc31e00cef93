import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FlowRequest } from '../fairness/index.ts';
import { handLoop, step, stepsInSlice } from '../meta/testing/hand-loop.ts';
import { createInFlight, FairLimit, Reservation } from './limits.ts';
import { identify } from './request-info.ts';
import type { ApiRequest } from './types.ts';

/** Takes one after the other until one is refused. Returns the number of those taken. */
function takeAll(limit: FairLimit, key: string, exempt = false): number {
  let count = 0;
  while (limit.tryTake(key, 1, exempt)) count++;
  return count;
}

describe('a fair limit', () => {
  it('gives a holder no more than remains free for the others', () => {
    const limit = new FairLimit(200);
    expect(['a', 'b', 'c', 'd'].map((key) => takeAll(limit, key))).toEqual([100, 50, 25, 13]);
    expect(limit.used).toBe(188);
  });

  it('gives an exempt holder all of it, and never more', () => {
    const limit = new FairLimit(10);
    takeAll(limit, 'a');
    expect(takeAll(limit, 'admin', true)).toBe(5);
    expect(limit.tryTake('b', 1, true)).toBe(false);
    expect(takeAll(new FairLimit(1), 'a')).toBe(1);
    expect(takeAll(new FairLimit(0), 'a', true)).toBe(0);
  });

  it('serves waiting holders in turn as soon as their amounts fit', () => {
    const limit = new FairLimit(8);
    const served: string[] = [];
    const wait = (name: string, amount: number) =>
      limit.takeOrWait(name.charAt(0), { amount, exempt: false, onTaken: () => served.push(name) });
    expect(wait('a1', 4)).toBeUndefined();
    const cancels = [wait('a2', 4), wait('a3', 1), wait('b1', 3)];
    expect(cancels.map((cancel) => cancel === undefined)).toEqual([false, false, true]);
    cancels[0]?.();
    limit.release('b', 3);
    expect(served).toEqual([]);
    limit.release('a', 4);
    expect(served).toEqual(['a3']);
    expect(limit.used).toBe(1);
  });

  it('looks at few of very many waiting holders at each release, and serves all in the end', () => {
    const limit = new FairLimit(100);
    for (let i = 0; i < 100; i++) limit.take('a', 1);
    let looks = 0;
    const served: number[] = [];
    for (let i = 0; i < 1_000; i++) {
      const waiter = {
        get amount() {
          looks++;
          return i % 100 === 99 ? 1 : 60;
        },
        exempt: false,
        onTaken: () => served.push(i),
      };
      limit.takeOrWait(`w${i}`, waiter);
    }
    looks = 0;
    limit.release('a', 1);
    expect(looks).toBeLessThan(200);
    for (let i = 1; i < 100; i++) limit.release('a', 1);
    for (let i = 0; i < served.length; i++) limit.release(`w${served[i]}`, (served[i] as number) % 100 === 99 ? 1 : 60);
    expect(served.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
    expect(limit.used).toBe(0);
  });

  it('gives a holder that is alone more than the limit', () => {
    const limit = new FairLimit(8);
    expect(limit.takeOrWait('a', { amount: 10, exempt: false, onTaken: () => {} })).toBeUndefined();
    expect(limit.takeOrWait('a', { amount: 1, exempt: false, onTaken: () => {} })).toBeDefined();
  });

  it('is free again when all amounts are released', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 9 }))), (amounts) => {
        const limit = new FairLimit(20);
        const taken: [string, number][] = [];
        for (const [key, amount] of amounts) {
          if (!limit.tryTake(key, amount)) continue;
          taken.push([key, amount]);
          expect(limit.used).toBeLessThanOrEqual(20);
        }
        for (const [key, amount] of taken) limit.release(key, amount);
        expect([limit.used, takeAll(limit, 'a')]).toEqual([0, 10]);
      }),
    );
  });
});

describe('requests that start together after a wait for seats', () => {
  const limits = {
    readOnly: 100,
    mutating: 100,
    longRunning: 100,
    proxied: 100,
    receiving: 100,
    responses: 100,
    unread: 100,
    selectors: 100,
    compressed: 100,
  };

  it('go on in turns of their users', async () => {
    const loop = handLoop();
    const stages = { waitFor: <T>(work: Promise<T>) => work };
    const starts: (() => void)[] = [];
    const seatsInOneLevel = () => {
      const seats = {
        attributes: {},
        started: undefined as number | undefined,
        take: () => undefined,
        wait: () =>
          new Promise<undefined>((start) => {
            starts.push(() => {
              seats.started = 0;
              start(undefined);
            });
          }),
      };
      return seats as unknown as FlowRequest;
    };
    const request = { whenOver() {} } as unknown as ApiRequest;
    const info = identify('GET', '/version');
    const begun: string[] = [];
    const begin = async (name: string) => {
      const turns = loop.scheduler.turns(name);
      const seats = seatsInOneLevel();
      const reservation = new Reservation(createInFlight(limits), { name, groups: [] }, 'readOnly', seats);
      await reservation.enter({ request, info, resource: undefined, turns, stages });
      begun.push(name);
      loop.spend(step);
    };
    const all = [...Array<string>(40).fill('mallory'), 'ann'].map(begin);
    for (const start of starts) start();
    await Promise.resolve();
    while (!loop.idle) expect(await loop.turn()).toBeLessThanOrEqual(stepsInSlice * step);
    await Promise.all(all);
    expect([begun.length, begun.indexOf('ann')]).toEqual([41, 1]);
  });
});
