/** Functions of regular expressions, beside the standard `matches`. */
import type { Library } from '../library.ts';
import { compileRegex } from '../regex.ts';
import { intType, listType, stringType } from '../types.ts';
import { CelError, ListValue, type Value } from '../values.ts';
import { type Costs, sizeOf } from './costs.ts';
import { indexNumber } from './integers.ts';
import { methodOf } from './overloads.ts';
import { estimateMatch, matchCosts } from './pattern-costs.ts';

/** The parts of a text that match, at most so many. */
function findAll(text: Value | undefined, pattern: Value | undefined, most: number): string[] {
  try {
    return compileRegex(pattern as string).findAll(text as string, most);
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

export const regexLibrary: Library = {
  name: 'regex',
  functions: {
    find: [
      methodOf(
        'string_find_string',
        [stringType, stringType],
        stringType,
        (text, pattern) => findAll(text, pattern, 1)[0] ?? '',
        costs,
      ),
    ],
    findAll: [
      methodOf(
        'string_find_all_string',
        [stringType, stringType],
        strings,
        (text, pattern) => new ListValue(findAll(text, pattern, Number.POSITIVE_INFINITY)),
        costs,
      ),
      methodOf(
        'string_find_all_string_int',
        [stringType, stringType, intType],
        strings,
        (text, pattern, most = 0) => {
          const limit = indexNumber(most);
          return new ListValue(findAll(text, pattern, limit < 0 ? Number.POSITIVE_INFINITY : limit));
        },
        costs,
      ),
    ],
  },
};
