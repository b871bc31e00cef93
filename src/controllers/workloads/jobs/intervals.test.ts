import { describe, expect, it } from 'vitest';
import {
  formatIntervals,
  includes,
  intervalsOf,
  lowestOutside,
  overlap,
  parseIntervals,
  totalOf,
} from './intervals.ts';

describe('intervals', () => {
  it.each([
    ['', 10, '', 0],
    ['3', 10, '3', 1],
    ['0-2,3,5', 10, '0-3,5', 5],
    ['4,5,7-9', 9, '4,5,7,8', 4],
    ['1,x,3-y,6', 10, '1,6', 2],
    ['1,12', 10, '1', 1],
  ])('%j below %i reads as %j', (text, bound, normal, total) => {
    const intervals = parseIntervals(text, bound);
    expect(formatIntervals(intervals)).toBe(normal);
    expect(totalOf(intervals)).toBe(total);
  });

  it.each([
    ['', 3, 2, [0, 1]],
    ['0-2', 3, 2, []],
    ['1,4-6', 9, 4, [0, 2, 3, 7]],
    ['1', 3, 5, [0, 2]],
  ])('of %j below %i the first %i outside are %j', (text, bound, count, expected) => {
    expect(lowestOutside(parseIntervals(text, bound), bound, count)).toEqual(expected);
  });

  it('have members, and overlap in some', () => {
    const [a, b] = [parseIntervals('1-3,7-9', 20), intervalsOf([9, 3, 2, 5])];
    expect([0, 1, 3, 4, 8, 10].map((index) => includes(a, index))).toEqual([false, true, true, false, true, false]);
    expect(overlap(a, b)).toBe(3);
    expect(overlap(b, a)).toBe(3);
  });
});
