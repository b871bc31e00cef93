/** Arithmetic of ranges of costs and sizes. Results above 2^64 - 1 are {@link unbounded}; below 2^53 all are exact. */
import type { Range } from '../library.ts';

/** The largest cost or size: 2^64 - 1, as the nearest number. */
export const unbounded = 2 ** 64;

/** A size that nothing bounds. */
export const unknownSize: Range = { min: 0, max: unbounded };

export const fixed = (count: number): Range => ({ min: count, max: count });

export const add = (a: Range, b: Range): Range => ({ min: limit(a.min + b.min), max: limit(a.max + b.max) });

export const sum = (...ranges: readonly Range[]): Range => ranges.reduce(add, fixed(0));

export const multiply = (a: Range, b: Range): Range => ({ min: limit(a.min * b.min), max: limit(a.max * b.max) });

/** A range times a factor, rounded up. */
export const scale = ({ min, max }: Range, factor: number): Range => ({
  min: limit(Math.ceil(min * factor)),
  max: limit(Math.ceil(max * factor)),
});

/** The smallest range that contains both. */
export const union = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });

function limit(count: number): number {
  return Math.min(count, unbounded);
}
