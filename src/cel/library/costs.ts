/** Costs and their estimates, in cost units. */
import { fixed, scale, unknownSize } from '../cost/range.ts';
import { codePoints } from '../evaluation-cache.ts';
import type { EstimatedArgument, Overload, Range } from '../library.ts';
import type { Value } from '../values.ts';

/** The costs of an overload. */
export type Costs = Required<Pick<Overload, 'cost' | 'estimate'>>;

/** The cost of reading one code point of a string. */
export const stringFactor = 0.1;
/** The cost of one code point of a regular expression, per cost unit of the matched string. */
export const regexFactor = 0.25;

/** The size of an argument of a call. */
export const sizeOf = (args: readonly EstimatedArgument[], index: number): Range => args[index]?.size ?? unknownSize;

/** Returns the cost of reading a string argument. */
export const readingCost = (args: readonly Value[], index: number, times = 1): number =>
  Math.ceil(codePoints(args[index] as string) * times * stringFactor);

/** Returns the costs of a function that reads its first argument, a string, `times` times. */
export const reading = (times = 1): Costs => ({
  cost: (args) => readingCost(args, 0, times),
  estimate: (args) => ({ cost: scale(sizeOf(args, 0), times * stringFactor) }),
});

/** The cost of reading a text, for functions that cost 1 in the reference server: here long texts cost more. */
export const longCost = (length: number): number => Math.max(1, Math.ceil(length / 100));

/** The costs of a function that reads its last argument, a string, and is estimated to cost 1. */
export const readingLong: Costs = {
  cost: (args) => longCost((args.at(-1) as string).length),
  estimate: () => ({ cost: fixed(1) }),
};
