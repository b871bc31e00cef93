/** The costs of matching with regular expressions. */

import type { Steps } from '../../meta/index.ts';
import { fixed, multiply, scale, sum } from '../cost/range.ts';
import { stepWork, work } from '../evaluate/work.ts';
import { codePoints } from '../evaluation-cache.ts';
import type { EstimatedArgument, Range } from '../library.ts';
import { compileRegex, isCompiled, type Regex, sizeOfPattern } from '../regex.ts';
import type { Value } from '../values.ts';
import { type Costs, regexFactor, sizeOf, stringFactor } from './costs.ts';

/** How many comparisons of a character with an instruction take about as long as one visited value. */
const comparedPerVisit = 8;
/** The work of compiling an instruction, in visited values. */
const instructionWork = 10;

/** Compiles a pattern that is known only at run time, and counts the work: a large pattern ends the step. */
export function regexOf(pattern: string): Regex {
  if (!isCompiled(pattern)) work.done += instructionWork * sizeOfPattern(pattern);
  return compileRegex(pattern);
}

/** Checks a constant pattern. @throws CelError */
export function checkPattern([, pattern]: readonly (Value | undefined)[]): void {
  if (typeof pattern === 'string') compileRegex(pattern);
}

/** The same as {@link matchesPattern} in steps. */
export function* matchesInSteps(text: Value | undefined, pattern: Value | undefined): Steps<boolean> {
  const regex = regexOf(pattern as string);
  if (regex.isShort(text as string))
    work.done += Math.floor(((text as string).length * regex.programSize) / comparedPerVisit);
  for (const steps = regex.testInSteps(text as string); ; ) {
    const step = steps.next();
    if (step.done === true) return step.value;
    work.done += stepWork;
    yield;
  }
}

export const matchesPattern = (text: Value | undefined, pattern: Value | undefined): boolean =>
  regexOf(pattern as string).test(text as string);

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
  return Math.max(cost, Math.ceil((size * regexOf(pattern).programSize) / STEPS));
}

export const estimateMatch = (args: readonly EstimatedArgument[]): Range =>
  multiply(scale(sum(sizeOf(args, 0), fixed(1)), stringFactor), scale(sizeOf(args, 1), regexFactor));

export const matchCosts: Costs = {
  cost: ([text, pattern], result) => costOf(text as string, pattern as string, result === null),
  estimate: (args) => ({ cost: estimateMatch(args) }),
};
