import { describe, expect, it } from 'vitest';
import { atOnce, type Json, namesFor, StatusError, type Steps } from '../meta/index.ts';
import { compile } from './compile.ts';
import { field, int32, lazy, list, map, quantity, type Schema, shortList, string, struct } from './declare.ts';

const names = namesFor('example.com');
const Item: Schema = lazy(() => struct('test/v1.Item', { name: field(1, string), children: field(2, list(Item)) }));
const Thing = struct('test/v1.Thing', {
  texts: field(3, map(string)),
  numbers: field(4, list(int32)),
  items: field(5, list(Item)),
});
const type = compile(Thing, names);

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);
const members = (count: number, value: (i: number) => Json) =>
  Object.fromEntries(range(count).map((i) => [`k${(i * 7_919) % count}`, value(i)]));

/** The result of the steps, and how many they are. */
function counted<T>(steps: Steps<T>): { readonly value: T; readonly count: number } {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done === true) return { value: step.value, count };
  }
}

/** The result of a decoding, or its message. */
const outcome = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    if (error instanceof StatusError) return error.message;
    throw error;
  }
};

const large: { readonly [name: string]: (size: number) => Json } = {
  'a map in no order': (size) => ({ texts: members(size, String) }),
  'a map of nulls': (size) => ({ texts: members(size, () => null) }),
  'a list of scalars': (size) => ({ numbers: range(size) }),
  'a list of objects': (size) => ({
    items: range(size).map((i) => (i % 3 === 0 ? null : { name: `n${i}`, extra: i })),
  }),
  'a nested list': (size) => ({ items: [{ children: [{ children: range(size).map((i) => ({ name: `n${i}` })) }] }] }),
  'unknown fields': (size) => ({ ...members(size, () => 1), texts: { a: 'b' } }),
  'a value of the wrong type at the end': (size) => ({ texts: { ...members(size, String), z: 1 } }),
};

it('a list of resources has at most 2,000 quantities', () => {
  const amounts = compile(struct('test/v1.Amounts', { limits: field(1, map(quantity)) }), names);
  const value = (count: number) => ({ limits: members(count, () => '1') });
  for (const decode of [
    (given: Json) => amounts.decode(given),
    (given: Json) => atOnce(amounts.decodeInSteps(given)),
  ]) {
    expect(decode(value(2_000)).value).toEqual(value(2_000));
    expect(() => decode(value(2_001))).toThrow(
      expect.objectContaining({
        code: 413,
        message: 'Request entity too large: the object has too many quantities in one list of resources, limit is 2000',
      }),
    );
  }
});

it('a list with a limit has at most that number of items', () => {
  const limited = compile(struct('test/v1.Limited', { texts: field(1, list(string, { most: 3 })) }), names);
  for (const decode of [
    (given: Json) => limited.decode(given),
    (given: Json) => atOnce(limited.decodeInSteps(given)),
  ]) {
    expect(decode({ texts: ['a', 'b', 'c'] }).value).toEqual({ texts: ['a', 'b', 'c'] });
    expect(() => decode({ texts: ['a', 'b', 'c', 'd'] })).toThrow(
      expect.objectContaining({
        code: 413,
        message: expect.stringContaining('items in one list, limit is 3') as string,
      }),
    );
  }
});

it('a short list has at most 2,000 items', () => {
  const limited = compile(struct('test/v1.Short', { texts: field(1, shortList(string)) }), names);
  const texts = Array.from({ length: 2_001 }, (_, i) => `t${i}`);
  expect(limited.decode({ texts: texts.slice(1) }).value).toEqual({ texts: texts.slice(1) });
  expect(() => limited.decode({ texts })).toThrow(expect.objectContaining({ code: 413 }));
});

describe('a large value', () => {
  it.each(Object.entries(large))('is decoded in steps as it is at once: %s', (_, make) => {
    const value = make(5_000);
    const expected = outcome(() => type.decode(value));
    expect(outcome(() => atOnce(type.decodeInSteps(value)))).toEqual(expected);
    expect(JSON.stringify(outcome(() => atOnce(type.decodeInSteps(value))))).toBe(JSON.stringify(expected));
  });

  it.each(Object.entries(large).slice(0, -1))('takes steps in proportion to its size: %s', (_, make) => {
    const [one, two] = [10_000, 20_000].map((size) => counted(type.decodeInSteps(make(size))).count) as [
      number,
      number,
    ];
    expect(one).toBeGreaterThan(8);
    expect(two / one).toBeGreaterThan(1.5);
  });
});
