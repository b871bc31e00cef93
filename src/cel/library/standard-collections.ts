/** Sizes, membership and indexes of collections, and the tests of strings. */

import { atOnce, type Steps } from '../../meta/index.ts';
import { multiply, scale } from '../cost/range.ts';
import { valuesEqualInSteps } from '../evaluate/equality.ts';
import { isStepDone } from '../evaluate/work.ts';
import { codePoints } from '../evaluation-cache.ts';
import type { Library, Overload } from '../library.ts';
import { boolType, bytesType, type CelType, intType, listType, mapType, parameterType, stringType } from '../types.ts';
import { CelError, ListValue, MapValue, ObjectValue, type Value } from '../values.ts';
import { sizeOf, stringFactor } from './costs.ts';
import { functionOf, methodOf } from './overloads.ts';
import { checkPattern, matchCosts, matchesInSteps, matchesPattern } from './pattern-costs.ts';
import { sizeOfValue } from './sizes.ts';
import { TextSearch } from './text-search.ts';

const a = parameterType('A');
const list = listType(a);
const b = parameterType('B');
const map = mapType(a, b);

/** @throws CelError for a value that is not a list, map or object */
function* contains(collection: Value, element: Value): Steps<boolean> {
  if (collection instanceof ListValue) {
    for (let i = 0; i < collection.size; i++) {
      if (isStepDone()) yield;
      if (yield* valuesEqualInSteps(element, collection.get(i))) return true;
    }
    return false;
  }
  if (collection instanceof MapValue) return collection.has(element);
  if (collection instanceof ObjectValue) return typeof element === 'string' && collection.has(element);
  throw new CelError('no such overload');
}

/** The evaluator has indexes in its own code, as parts of a chain of fields and indexes. */
const index = (id: string, collection: CelType, key: CelType, element: CelType): Overload =>
  functionOf(id, [collection, key], element, () => {
    throw new Error(`${id} is called`);
  });

const size = (value: Value | undefined): number => sizeOfValue(value as Value);

const sizes = (name: string, type: CelType): Overload[] => [
  functionOf(`size_${name}`, [type], intType, size),
  methodOf(`${name}_size`, [type], intType, size),
];

/** A test of a string by another one. */
const stringTest = (
  id: string,
  call: (text: string, part: string) => boolean,
  costs: Pick<Overload, 'cost' | 'estimate'>,
): Overload =>
  methodOf(id, [stringType, stringType], boolType, (text, part) => call(text as string, part as string), costs);

/** At run time the size of the string counts, in estimates that of the prefix or suffix. */
const affixCosts: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text]) => Math.ceil(codePoints(text as string) * stringFactor),
  estimate: (args) => ({ cost: scale(sizeOf(args, 1), stringFactor) }),
};

const substringCosts: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text, part]) =>
    Math.ceil(codePoints(text as string) * stringFactor) * Math.ceil(codePoints(part as string) * stringFactor),
  estimate: (args) => {
    const text = scale(sizeOf(args, 0), stringFactor);
    const part = scale(sizeOf(args, 1), stringFactor);
    return { cost: multiply(text, part) };
  },
};

export const collections: Library['functions'] = {
  size: [...sizes('bytes', bytesType), ...sizes('list', list), ...sizes('map', map), ...sizes('string', stringType)],
  '@in': [
    functionOf('in_list', [a, list], boolType, (element, all) => atOnce(contains(all as Value, element as Value)), {
      steps: (element, all) => contains(all as Value, element as Value),
      cost: ([, all = null]) => sizeOfValue(all),
      estimate: (args) => ({ cost: sizeOf(args, 1) }),
    }),
    functionOf('in_map', [a, map], boolType, (key, all) => atOnce(contains(all as Value, key as Value))),
  ],
  '_[_]': [index('index_list', list, intType, a), index('index_map', map, a, b)],
  contains: [stringTest('contains_string', (text, part) => new TextSearch(part).firstIn(text) >= 0, substringCosts)],
  startsWith: [stringTest('starts_with_string', (text, part) => text.startsWith(part), affixCosts)],
  endsWith: [stringTest('ends_with_string', (text, part) => text.endsWith(part), affixCosts)],
  matches: [
    functionOf('matches', [stringType, stringType], boolType, matchesPattern, {
      cost: matchCosts.cost,
      steps: matchesInSteps,
      checkConstants: checkPattern,
    }),
    methodOf('matches_string', [stringType, stringType], boolType, matchesPattern, {
      ...matchCosts,
      steps: matchesInSteps,
      checkConstants: checkPattern,
    }),
  ],
};
