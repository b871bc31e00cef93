import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Shares } from './shares.ts';

/** How often a holder gets one more, asking until it is refused. */
function takeAll(shares: Shares, key: string, exempt = false): number {
  let count = 0;
  while (shares.fits(key, 1, exempt)) {
    shares.take(key, 1);
    count++;
  }
  return count;
}

describe('shares', () => {
  it('give a holder no more than remains free for the others', () => {
    const shares = new Shares(200);
    expect(['a', 'b', 'c', 'd'].map((key) => takeAll(shares, key))).toEqual([100, 50, 25, 13]);
    expect(shares.used).toBe(188);
  });

  it('give an exempt holder all, and never more than the limit', () => {
    const shares = new Shares(10);
    takeAll(shares, 'a');
    expect(takeAll(shares, 'admin', true)).toBe(5);
    expect(shares.fits('b', 1, true)).toBe(false);
    expect(takeAll(new Shares(1), 'a')).toBe(1);
    expect(takeAll(new Shares(0), 'a', true)).toBe(0);
  });

  it('are granted to waiting holders in turn, once there is room', () => {
    const shares = new Shares(8);
    const granted: string[] = [];
    const wait = (name: string, amount: number) =>
      shares.wait(name.charAt(0), { amount, exempt: false, granted: () => granted.push(name) });
    expect(wait('a1', 4)).toBeUndefined();
    const ends = [wait('a2', 4), wait('a3', 1), wait('b1', 3)];
    expect(ends.map((end) => end === undefined)).toEqual([false, false, true]);
    ends[0]?.();
    shares.give('b', 3);
    expect(granted).toEqual([]);
    shares.give('a', 4);
    expect(granted).toEqual(['a3']);
    expect(shares.used).toBe(1);
  });

  it('are granted beyond the limit to a holder that is alone', () => {
    const shares = new Shares(8);
    expect(shares.wait('a', { amount: 10, exempt: false, granted: () => {} })).toBeUndefined();
    expect(shares.wait('a', { amount: 1, exempt: false, granted: () => {} })).toBeDefined();
  });

  it('are all free again when all were released', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 9 }))), (asked) => {
        const shares = new Shares(20);
        const held: [string, number][] = [];
        for (const [key, amount] of asked) {
          if (!shares.fits(key, amount, false)) continue;
          shares.take(key, amount);
          held.push([key, amount]);
          expect(shares.used).toBeLessThanOrEqual(20);
        }
        for (const [key, amount] of held) shares.give(key, amount);
        expect([shares.used, takeAll(shares, 'a')]).toEqual([0, 10]);
      }),
    );
  });
});
