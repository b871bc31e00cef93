/** What matching with regular expressions costs. */

import type { Steps } from '../../meta/index.ts';
import { fixed, multiply, scale, sum } from '../cost/range.ts';
import { codePoints } from '../evaluation-cache.ts';
import type { EstimatedArgument, Range } from '../library.ts';
import { compileRegex } from '../regex.ts';
import type { Value } from '../values.ts';
import { type Costs, regexFactor, sizeOf, stringFactor } from './costs.ts';

/** The same as {@link matchesPattern} in steps. */
export const matchesInSteps = (text: Value | undefined, pattern: Value | undefined): Steps<boolean> =>
  compileRegex(pattern as string).testInSteps(text as string);

export const matchesPattern = (text: Value | undefined, pattern: Value | undefined): boolean =>
  compileRegex(pattern as string).test(text as string);

/** Steps of matching (a code point times an instruction) for each cost unit, at most. */
const STEPS = 400;

/**
 * The product of the sizes of text and pattern. Counted repetitions, whose program is much longer than the pattern, cost
 * what their program does.
 */
function costOf(text: string, pattern: string, failed: boolean): number {
  const size = codePoints(text) + 1;
  const cost = Math.ceil(size * stringFactor) * Math.ceil(codePoints(pattern) * regexFactor);
  if (failed || !pattern.includes('{')) return cost;
  return Math.max(cost, Math.ceil((size * compileRegex(pattern).programSize) / STEPS));
}

export const estimateMatch = (args: readonly EstimatedArgument[]): Range =>
  multiply(scale(sum(sizeOf(args, 0), fixed(1)), stringFactor), scale(sizeOf(args, 1), regexFactor));

export const matchCosts: Costs = {
  cost: ([text, pattern], result) => costOf(text as string, pattern as string, result === null),
  estimate: (args) => ({ cost: estimateMatch(args) }),
};
