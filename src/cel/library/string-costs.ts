/** The costs of string functions, and bounds of their results. */
import { fixed, multiply, scale, sum, unknownSize } from '../cost/range.ts';
import type { EstimatedArgument, Overload, Range } from '../library.ts';
import { maxListSize } from '../result-limits.ts';
import { ListValue, MapValue, ObjectValue, type Value } from '../values.ts';
import { type Costs, sizeOf, stringFactor } from './costs.ts';
import { sizeOfValue } from './sizes.ts';

const reading = (value: Value | undefined, factor = 1): number =>
  Math.ceil(sizeOfValue(value as Value) * factor * stringFactor);

/** The result is at most as long as the string. */
export const transforming: Costs = {
  cost: ([text]) => reading(text),
  estimate: (args) => ({ cost: scale(sizeOf(args, 0), stringFactor), resultSize: sizeOf(args, 0) }),
};

/** A cost for the code points of the string, and at least that of the result, which may be much longer. */
const atLeastResult = (factor: number): NonNullable<Overload['cost']> => {
  return ([text], result) => Math.max(reading(text, factor), typeof result === 'string' ? reading(result) : 0);
};

export const producing: Costs = {
  cost: atLeastResult(1),
  estimate: (args) => ({ cost: scale(sizeOf(args, 0), stringFactor) }),
};

/** Each code point may be escaped. */
export const quoteCosts: Costs = {
  cost: ([text]) => reading(text),
  estimate: (args) => {
    const { min, max } = sizeOf(args, 0);
    return {
      cost: scale({ min, max }, stringFactor),
      resultSize: sum({ min, max }, { min: 0, max }, fixed(2)),
    };
  },
};

export const splitCosts: Costs = {
  cost: ([text]) => reading(text, 2),
  estimate: (args) => {
    const most = args[2]?.literal;
    const max = typeof most === 'number' && most >= 0 ? most : sizeOf(args, 0).max;
    return { cost: scale(sizeOf(args, 0), 2 * stringFactor), resultSize: { min: 0, max } };
  },
};

export const replaceCosts: Costs = {
  cost: atLeastResult(2),
  estimate: (args) => ({
    cost: scale(sizeOf(args, 0), 2 * stringFactor),
    resultSize: replacedSize(sizeOf(args, 0), sizeOf(args, 1), sizeOf(args, 2)),
  }),
};

/** The longest result has the most of the longest replacements for the shortest parts, and the shortest one the reverse. */
function replacedSize(text: Range, part: Range, by: Range): Range {
  const longest = { count: 0, retained: 0 };
  if (part.min === 0) {
    longest.count = text.max + 1;
    longest.retained = text.max;
  } else if (by.max <= part.min) longest.retained = text.max;
  else longest.count = Math.ceil(text.max / part.min);

  const shortest = { count: 0, retained: 0 };
  if (part.max === 0) {
    shortest.count = text.min + 1;
    shortest.retained = text.min;
  } else if (part.max <= by.min) shortest.retained = text.min;
  else shortest.count = Math.ceil(text.min / part.max);

  const count = { min: shortest.count, max: longest.count };
  return sum(multiply(count, by), { min: shortest.retained, max: longest.retained });
}

export const joinCosts: Costs = {
  cost: (_, result) => (typeof result === 'string' ? reading(result, 2) : 1),
  estimate: (args) => {
    const list = sizeOf(args, 0);
    const elements = args[0]?.type.kind === 'list' ? multiply(list, elementSizeOf(args)) : fixed(0);
    const separators = { min: Math.max(list.min - 1, 0), max: Math.max(list.max - 1, 0) };
    const resultSize = args.length < 2 ? elements : sum(elements, multiply(sizeOf(args, 1), separators));
    return { cost: scale(resultSize, stringFactor), resultSize };
  },
};

/** The size of the elements of the first argument. */
const elementSizeOf = (args: readonly EstimatedArgument[]): Range => args[0]?.elementSize ?? unknownSize;

/** The receiver, a string or a list, is looked through once. */
export const searchCosts: Costs = {
  cost: ([receiver]) => traversalCost(receiver as Value),
  estimate: (args) => {
    const type = args[0]?.type;
    if (type?.kind !== 'list') return { cost: scale(sizeOf(args, 0), stringFactor) };
    const read = type.element.kind === 'string' || type.element.kind === 'bytes';
    const element = read ? sum(fixed(1), scale(elementSizeOf(args), stringFactor)) : fixed(1);
    return { cost: multiply(sizeOf(args, 0), element) };
  },
};

/** The number of characters that are read in about the time of one leaf. */
const charactersPerLeaf = 512;

/** The cost of reading all leaves of a value; infinite for more leaves than a list may have elements. */
function traversalCost(value: Value, visited = { leaves: 0 }): number {
  if (++visited.leaves > maxListSize) return Number.POSITIVE_INFINITY;
  if (typeof value === 'string') {
    // Fewer than ten bytes cost nothing.
    if (value.length <= 3) return 0;
    visited.leaves += Math.floor(value.length / charactersPerLeaf);
    return Math.floor(Buffer.byteLength(value) * stringFactor);
  }
  if (value instanceof Uint8Array) return Math.floor(value.length * stringFactor);
  let cost = 0;
  if (value instanceof ListValue) {
    for (let i = 0; i < value.size && cost < Number.POSITIVE_INFINITY; i++)
      cost += traversalCost(value.get(i), visited);
    return cost;
  }
  if (value instanceof MapValue || value instanceof ObjectValue) {
    const keys = value instanceof MapValue ? value.keys() : value.type.identifiers();
    for (const key of keys) {
      const member = value instanceof MapValue ? value.get(key) : value.get(key as string);
      if (member !== undefined) cost += traversalCost(key, visited) + traversalCost(member, visited);
      if (cost === Number.POSITIVE_INFINITY) break;
    }
    return cost;
  }
  return 1;
}
