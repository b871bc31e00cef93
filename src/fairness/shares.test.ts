import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allocate, limitsOf } from './shares.ts';
import { dealHand } from './shuffle.ts';
import { listWork, maxSeatsOf, writeWork } from './work.ts';

describe('the limits of a level', () => {
  // As recorded in flowcontrol.builtIn and flowcontrol.zero, with 60 seats.
  it.each([
    ['catch-all', 5, 0, undefined, 245, [2, 2, 62]],
    ['system', 30, 33, undefined, 245, [8, 5, 68]],
    ['node-high', 40, 25, undefined, 245, [10, 7, 70]],
    ['workload-low', 100, 90, undefined, 245, [25, 2, 85]],
    ['global-default', 20, 50, undefined, 245, [5, 2, 65]],
    ['half-lend', 50, 50, 200, 295, [11, 5, 33]],
    ['no shares, and none borrowed', 0, 0, 0, 295, [0, 0, 0]],
    ['no shares', 0, 0, undefined, 295, [0, 0, 60]],
  ] as const)('%s', (_, nominalConcurrencyShares, lendablePercent, borrowing, sum, expected) => {
    const borrowed = borrowing === undefined ? {} : { borrowingLimitPercent: borrowing };
    const limited = { nominalConcurrencyShares, lendablePercent, ...borrowed };
    const { nominal, lower, upper } = limitsOf({ type: 'Limited', limited }, 60, sum);
    expect([nominal, lower, upper]).toEqual(expected);
  });
});

describe('seats are allocated', () => {
  it('in proportion to the targets, within their bounds', () => {
    const claims = [
      { target: 30, lower: 5, upper: 100 },
      { target: 10, lower: 5, upper: 100 },
      { target: 0, lower: 4, upper: 10 },
    ];
    const { seats } = allocate(44, claims);
    expect(seats.map((value) => Math.round(value))).toEqual([30, 10, 4]);
  });

  it('to their sum where the bounds allow it', () => {
    const claim = fc
      .tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 80 }))
      .map(([lower, more, target]) => ({ lower, upper: lower + more, target }));
    fc.assert(
      fc.property(
        fc.array(claim, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 300 }),
        (claims, total) => {
          const { seats } = allocate(total, claims);
          const sum = seats.reduce((all, one) => all + one, 0);
          const [least, most] = claims.reduce(([low, high], { lower, upper }) => [low + lower, high + upper], [0, 0]);
          expect(sum).toBeCloseTo(Math.min(Math.max(total, least), most), 3);
          seats.forEach((value, i) => {
            const { lower, upper } = claims[i] as (typeof claims)[number];
            expect(value).toBeGreaterThanOrEqual(lower);
            expect(value).toBeLessThanOrEqual(upper);
          });
        },
      ),
    );
  });
});

describe('the hand of a flow', () => {
  it('has different queues, and is always the same', () => {
    const deck = fc
      .integer({ min: 1, max: 200 })
      .chain((queues) => fc.tuple(fc.constant(queues), fc.integer({ min: 1, max: Math.min(queues, 7) })));
    fc.assert(
      fc.property(fc.string(), fc.string(), deck, (schema, flow, [queues, handSize]) => {
        const hand = dealHand(schema, flow, queues, handSize);
        expect(new Set(hand).size).toBe(handSize);
        for (const card of hand) expect(card >= 0 && card < queues).toBe(true);
        expect(dealHand(schema, flow, queues, handSize)).toEqual(hand);
      }),
    );
  });
});

describe('the work of a request', () => {
  it('is a seat for every hundred objects of a list, up to the most of its level', () => {
    expect([0, 100, 101, 5_000].map((objects) => listWork(objects, 7).initialSeats)).toEqual([1, 1, 2, 7]);
  });

  it('is a seat for every ten watches of a write after its end, for five milliseconds each', () => {
    expect(writeWork(9, 10)).toEqual({ initialSeats: 1, finalSeats: 0, extraMs: 0 });
    expect(writeWork(40, 10)).toEqual({ initialSeats: 1, finalSeats: 4, extraMs: 5 });
    expect(writeWork(200, 10)).toEqual({ initialSeats: 1, finalSeats: 10, extraMs: 10 });
  });

  it('is at most 15 % of the level, and 10', () => {
    expect([0, 5, 50, 1_000].map((nominal) => maxSeatsOf(nominal, 6))).toEqual([1, 1, 8, 10]);
  });
});
