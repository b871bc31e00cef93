/** Functions of regular expressions, in addition to the standard `matches`. */
import { atOnce, type Steps } from '../../meta/index.ts';
import type { Library } from '../library.ts';
import { type CelType, intType, listType, stringType } from '../types.ts';
import { CelError, ListValue, type Value } from '../values.ts';
import { type Costs, sizeOf } from './costs.ts';
import { indexNumber } from './integers.ts';
import { methodOf } from './overloads.ts';
import { checkPattern, estimateMatch, matchCosts, regexOf } from './pattern-costs.ts';

/** Returns the matching parts of a text, at most the given number. */
function* findAll(text: Value | undefined, pattern: Value | undefined, most: number): Steps<string[]> {
  try {
    return yield* regexOf(pattern as string).findAll(text as string, most);
  } catch (thrown) {
    if (thrown instanceof CelError) throw new CelError(`Illegal regex: ${thrown.message}`);
    throw thrown;
  }
}

/** The most code points that may be scanned for matches after the first one, for each cost unit. */
const SCANNED = 1000;

const costs: Costs = {
  cost: (args, result) => {
    const matches = result instanceof ListValue ? result.size : 1;
    const [text] = args as readonly [string];
    return Math.max(matchCosts.cost(args, result), Math.ceil((text.length * (matches - 1)) / SCANNED));
  },
  // Each code point may be a match.
  estimate: (args) => ({ cost: estimateMatch(args), resultSize: { min: 0, max: sizeOf(args, 0).max } }),
};

const strings = listType(stringType);

/** A method whose calls run in steps. */
const inSteps = (id: string, args: readonly CelType[], result: CelType, steps: (...args: Value[]) => Steps<Value>) =>
  methodOf(id, args, result, (...values) => atOnce(steps(...values)), {
    ...costs,
    steps,
    checkConstants: checkPattern,
  });

const all = Number.POSITIVE_INFINITY;

export const regexLibrary: Library = {
  name: 'regex',
  functions: {
    find: [
      inSteps('string_find_string', [stringType, stringType], stringType, function* (text, pattern) {
        return (yield* findAll(text, pattern, 1))[0] ?? '';
      }),
    ],
    findAll: [
      inSteps('string_find_all_string', [stringType, stringType], strings, function* (text, pattern) {
        return new ListValue(yield* findAll(text, pattern, all));
      }),
      inSteps(
        'string_find_all_string_int',
        [stringType, stringType, intType],
        strings,
        function* (text, pattern, most = 0) {
          const limit = indexNumber(most);
          return new ListValue(yield* findAll(text, pattern, limit < 0 ? all : limit));
        },
      ),
    ],
  },
};
