import fc from 'fast-check';
import { expect, it } from 'vitest';
import { atOnce, type JsonObject, jsonEqual } from '../../../meta/index.ts';
import { equalExcept } from './content.ts';

it('objects are equal apart from some members when they are equal without them', () => {
  const value = fc.constantFrom(1, 'a', null, [1], { a: 1 }, {});
  const object = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', '__proto__'), value, { noNullPrototype: true });
  const without = (all: JsonObject, names: readonly string[]) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => !names.includes(key)));
  fc.assert(
    fc.property(object, object, fc.subarray(['a', 'b', '__proto__']), (a, b, names) => {
      const expected = jsonEqual(without(a, names), without(b, names));
      expect(atOnce(equalExcept(a, b, names))).toBe(expected);
      expect(atOnce(equalExcept(a, { ...a }, names))).toBe(true);
    }),
  );
});

it('many members are compared in steps', () => {
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, i]));
  const steps = [...equalExcept(many, { ...many }, [])];
  expect(steps.length).toBeGreaterThan(9);
});
