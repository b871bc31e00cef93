import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Json } from './json.ts';
import { isLarge, jsonCopyInSteps, largeWeight, weigh } from './large-json.ts';
import { atOnce } from './steps.ts';

const list = (length: number): Json => Array.from({ length }, (_, i) => ({ i }));
const countSteps = (work: Generator<undefined, unknown>): number => {
  let steps = 1;
  while (work.next().done !== true) steps++;
  return steps;
};

it('values are counted, no further than is needed', () => {
  expect([1, 'a', null, undefined, [], {}].map(weigh)).toEqual([1, 1, 1, 1, 1, 1]);
  expect(weigh({ a: [1, 2], b: { c: null } })).toBe(6);
  expect(weigh(list(10))).toBe(21);
  expect(weigh(list(100_000))).toBe(largeWeight);
  expect([isLarge(list(400)), isLarge(list(600))]).toEqual([false, true]);
});

it('the keys of a large object are listed once, also as part of others', () => {
  let listed = 0;
  const members = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`k${i}`, i]));
  const large = new Proxy(members, {
    ownKeys: (target) => {
      listed++;
      return Reflect.ownKeys(target);
    },
  });
  expect([weigh(large), weigh(large), weigh({ a: large }), weigh([large])]).toEqual(Array(4).fill(largeWeight));
  expect(listed).toBe(1);
});

it('a value of any depth can be weighed', () => {
  let deep: Json = 1;
  for (let i = 0; i < 100_000; i++) deep = i % 2 === 0 ? { a: deep } : [deep];
  expect(weigh(deep)).toBe(largeWeight);
});

it('a copy is equal and shares nothing', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 0, maxLength: 5 }), (values) => {
      const value = [...Array.from({ length: 300 }, () => values as Json), { ['__proto__']: list(300) }] as Json;
      const copy = atOnce(jsonCopyInSteps(value)) as Json[];
      expect(copy).toEqual(value);
      for (const [i, item] of copy.entries()) {
        if (typeof item === 'object' && item !== null) expect(item).not.toBe((value as Json[])[i]);
      }
    }),
    { numRuns: 20 },
  );
});

it('a copy takes steps in proportion to its size', () => {
  const [one, two] = [10_000, 20_000].map((n) => countSteps(jsonCopyInSteps({ a: { b: list(n) } })));
  expect(one).toBeGreaterThan(10);
  expect((two as number) / (one as number)).toBeCloseTo(2, 0);
});
