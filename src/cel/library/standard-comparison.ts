/** The operators `!a`, `==`, `!=`, `<`, `<=`, `>` and `>=`. */
import { scale, unbounded } from '../cost/range.ts';
import { compareValues, valuesEqual } from '../evaluate/equality.ts';
import type { EstimatedArgument, Library, Overload, Range } from '../library.ts';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  intType,
  parameterType,
  stringType,
  timestampType,
  uintType,
} from '../types.ts';
import type { Value } from '../values.ts';
import { sizeOf, stringFactor } from './costs.ts';
import { functionOf } from './overloads.ts';
import { sizeOfValue } from './sizes.ts';

/** The smaller of two values is read. */
const readingSmaller: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([a = null, b = null]) => smaller(a, b),
  estimate: (args) => ({ cost: estimateSmaller(args) }),
};

function smaller(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return 1;
  return Math.ceil(Math.min(sizeOfValue(a), sizeOfValue(b)) * stringFactor);
}

function estimateSmaller(args: readonly EstimatedArgument[]): Range {
  const max = Math.min(sizeOf(args, 0).max, sizeOf(args, 1).max);
  return scale({ min: max > 0 ? 1 : 0, max }, stringFactor);
}

const a = parameterType('A');

const equality = (id: string, call: Overload['call'], estimate: Overload['estimate']): Overload =>
  functionOf(id, [a, a], boolType, call, { ...readingSmaller, ...(estimate && { estimate }) });

/** Values of the types of libraries are compared at the cost that their type declares. */
function estimateEquality(args: readonly EstimatedArgument[]): { readonly cost: Range } {
  const [left, right] = args;
  const sameType = left?.type.kind === 'opaque' && right?.type.kind === 'opaque' && left.type.name === right.type.name;
  if (!sameType) return { cost: estimateSmaller(args) };
  const { maxSize = 1 } = left.type;
  const max = Math.min(maxSize, right.size.max);
  // Values of unknown size count as short, as in the reference implementation.
  return { cost: scale({ min: 1, max: max < unbounded ? max : 1 }, stringFactor) };
}

/** The names of types in the identifiers of overloads, and their types, that have an order. */
const ordered: readonly (readonly [suffix: string, a: CelType, b: CelType])[] = [
  ['bool', boolType, boolType],
  ['int64', intType, intType],
  ['int64_double', intType, doubleType],
  ['int64_uint64', intType, uintType],
  ['uint64', uintType, uintType],
  ['uint64_double', uintType, doubleType],
  ['uint64_int64', uintType, intType],
  ['double', doubleType, doubleType],
  ['double_int64', doubleType, intType],
  ['double_uint64', doubleType, uintType],
  ['string', stringType, stringType],
  ['bytes', bytesType, bytesType],
  ['timestamp', timestampType, timestampType],
  ['duration', durationType, durationType],
];

const relation = (name: string, call: (a: Value, b: Value) => boolean): Overload[] =>
  ordered.map(([suffix, left, right]) =>
    functionOf(
      `${name}_${suffix}`,
      [left, right],
      boolType,
      call as Overload['call'],
      left === stringType || left === bytesType ? readingSmaller : {},
    ),
  );

const bothNumbers = (left: Value, right: Value): boolean => typeof left === 'number' && typeof right === 'number';

export const comparison: Library['functions'] = {
  '!_': [functionOf('logical_not', [boolType], boolType, (value) => !(value as boolean))],
  '_==_': [equality('equals', (left, right) => valuesEqual(left as Value, right as Value), estimateEquality)],
  '_!=_': [equality('not_equals', (left, right) => !valuesEqual(left as Value, right as Value), undefined)],
  '_<_': relation('less', (left, right) =>
    bothNumbers(left, right) ? (left as number) < (right as number) : compareValues(left, right) < 0,
  ),
  '_<=_': relation('less_equals', (left, right) =>
    bothNumbers(left, right) ? (left as number) <= (right as number) : compareValues(left, right) <= 0,
  ),
  '_>_': relation('greater', (left, right) =>
    bothNumbers(left, right) ? (left as number) > (right as number) : compareValues(left, right) > 0,
  ),
  '_>=_': relation('greater_equals', (left, right) =>
    bothNumbers(left, right) ? (left as number) >= (right as number) : compareValues(left, right) >= 0,
  ),
};
