import { expect, it } from 'vitest';
import { warned, warningsOf } from './warned.ts';

const many = Array.from({ length: 3_000 }, (_, i) => i);

it('warnings look at the first entries of a list', () => {
  expect([warned(undefined), warned(null)]).toEqual([[], []]);
  expect(warned(many)).toEqual(many.slice(0, 2_000));
  expect(warningsOf(() => warned(many))).toEqual(many.slice(0, 2_000));
});

it('warnings look at so many entries of all lists of an object, and of the next object again', () => {
  const look = () => warned(many.slice(0, 100)).flatMap(() => warned(many.slice(0, 100))).length;
  expect(look()).toBe(10_000);
  expect(warningsOf(look)).toBe(1_900);
  expect(warningsOf(look)).toBe(1_900);
  const failing = () =>
    warningsOf(() => {
      throw new Error('no');
    });
  expect(failing).toThrow('no');
  expect(look()).toBe(10_000);
});
