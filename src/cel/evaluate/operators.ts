/**
 * Operators that rules use most, with a short path for the operands that are frequent: ints that are numbers, short
 * strings. It gives what the library gives, at the same cost; everything else is a call of the library.
 */
import { atOnce, type Steps } from '../../meta/index.ts';
import type { Overload } from '../library.ts';
import { CelError, Double, type ListValue, intOf as normalized, Uint, type Value } from '../values.ts';
import { charge, type Frame, failureOf, inSteps, type Outcome, outcomeOf, type Runnable, type Step } from './budget.ts';
import { apply2, countSteps } from './calls.ts';
import { valuesEqualInSteps } from './equality.ts';

/** The step of a binary operator with a short path; undefined for other functions. */
export function operatorStep(name: string, overloads: readonly Overload[], left: Step, right: Step): Step | undefined {
  return shortPaths[name]?.(left, right, apply2(name, overloads));
}

type ShortPath = (left: Step, right: Step, apply: ReturnType<typeof apply2>) => Step;

// One function for each operator, so that the comparison is compiled with the types that this operator meets.
const shortPaths: { readonly [name: string]: ShortPath } = {
  '_<_': (left, right, apply) => (frame) => {
    const a = left(frame);
    const b = right(frame);
    if (typeof a !== 'number' || typeof b !== 'number') return apply(frame, a, b);
    charge(frame, 1);
    return a < b;
  },
  '_<=_': (left, right, apply) => (frame) => {
    const a = left(frame);
    const b = right(frame);
    if (typeof a !== 'number' || typeof b !== 'number') return apply(frame, a, b);
    charge(frame, 1);
    return a <= b;
  },
  '_>_': (left, right, apply) => (frame) => {
    const a = left(frame);
    const b = right(frame);
    if (typeof a !== 'number' || typeof b !== 'number') return apply(frame, a, b);
    charge(frame, 1);
    return a > b;
  },
  '_>=_': (left, right, apply) => (frame) => {
    const a = left(frame);
    const b = right(frame);
    if (typeof a !== 'number' || typeof b !== 'number') return apply(frame, a, b);
    charge(frame, 1);
    return a >= b;
  },
  '_+_': (left, right, apply) => (frame) => {
    const a = left(frame);
    const b = right(frame);
    const sum = typeof a === 'number' && typeof b === 'number' ? a + b : undefined;
    if (!Number.isSafeInteger(sum)) return apply(frame, a, b);
    charge(frame, 1);
    return sum as number;
  },
  '_-_': (left, right, apply) => (frame) => {
    const a = left(frame);
    const b = right(frame);
    const difference = typeof a === 'number' && typeof b === 'number' ? a - b : undefined;
    if (!Number.isSafeInteger(difference)) return apply(frame, a, b);
    charge(frame, 1);
    return difference as number;
  },
};

/** `left == right`, or `left != right`. Values of any types can be compared, so no overload is chosen. */
export function equality(isEqual: boolean, overload: Overload | undefined, left: Runnable, right: Runnable): Runnable {
  return inSteps(function* (frame) {
    const a = yield* outcomeOf(left, frame);
    const b = yield* outcomeOf(right, frame);
    const result = isShort(a, b) ? shortEquality(frame, a, b) : yield* equalityOf(frame, overload, a, b);
    return result instanceof CelError ? result : result === isEqual;
  });
}

/** The same operators when one of the operands is a scalar. */
export function scalarEquality(isEqual: boolean, overload: Overload | undefined, left: Step, right: Step): Step {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    const result = isShort(a, b) ? shortEquality(frame, a, b) : atOnce(equalityOf(frame, overload, a, b));
    return result instanceof CelError ? result : result === isEqual;
  };
}

const isShort = (a: Outcome, b: Outcome): boolean =>
  (typeof a === 'number' && typeof b === 'number') ||
  (typeof a === 'string' && typeof b === 'string' && costsOne(a.length, b.length));

function shortEquality(frame: Frame, a: Outcome, b: Outcome): boolean {
  charge(frame, 1);
  return a === b;
}

/** A tenth of a unit for each code point of the shorter string, rounded up. */
const costsOne = (a: number, b: number): boolean => a > 0 && b > 0 && (a <= 10 || b <= 10);

function* equalityOf(frame: Frame, overload: Overload | undefined, a: Outcome, b: Outcome): Steps<Outcome> {
  if (a instanceof CelError || b instanceof CelError) {
    charge(frame, 1);
    return a instanceof CelError ? a : b;
  }
  let result: Outcome;
  try {
    result = yield* countSteps(frame, valuesEqualInSteps(a, b));
  } catch (thrown) {
    result = failureOf(thrown);
  }
  charge(frame, overload?.cost?.([a, b], result instanceof CelError ? null : result) ?? 1);
  return result;
}

/** `x in list` for a constant list, whose elements were looked at when it was compiled: the operator costs nothing. */
export function inConstantList(elements: readonly Value[], operand: Step): Step {
  const ints = elements.map(intOf).filter((int) => int !== undefined);
  const doubles = new Set(elements.map(doubleOf).filter((double) => double !== undefined && !Number.isNaN(double)));
  const exact = new Set<unknown>([...elements, ...ints]);
  const asDoubles = new Set(ints.map(Number));
  return (frame) => {
    const value = operand(frame);
    if (value instanceof CelError) return value;
    if (typeof value === 'string' || typeof value === 'boolean') return exact.has(value);
    const int = intOf(value);
    if (int !== undefined) return exact.has(int) || doubles.has(Number(int));
    const double = doubleOf(value);
    return double !== undefined && (doubles.has(double) || asDoubles.has(double));
  };
}

/** The elements of a list when all are primitive, else undefined. */
export function primitivesOf(list: ListValue): readonly Value[] | undefined {
  const elements = Array.from({ length: list.size }, (_, i) => list.get(i));
  return elements.every(isPrimitive) ? elements : undefined;
}

const isPrimitive = (value: Value): boolean =>
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  intOf(value) !== undefined ||
  doubleOf(value) !== undefined;

/** An int, or the int that a uint equals. */
function intOf(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return value instanceof Uint ? normalized(value.value) : undefined;
}

const doubleOf = (value: Value): number | undefined => (value instanceof Double ? value.value : undefined);
