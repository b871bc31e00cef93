/** Functions of lists of comparable elements. */
import { atOnce, type Steps } from '../../meta/index.ts';
import { compareValues, valuesEqualInSteps } from '../evaluate/equality.ts';
import { typeNameOf } from '../evaluate/type-values.ts';
import { isStepDone } from '../evaluate/work.ts';
import type { Library, Overload } from '../library.ts';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  intType,
  listType,
  parameterType,
  stringType,
  timestampType,
  uintType,
} from '../types.ts';
import { CelError, Double, Duration, type ListValue, Uint, type Value } from '../values.ts';
import { methodOf } from './overloads.ts';
import { arithmetic } from './standard-arithmetic.ts';
import { searchCosts as costs } from './string-costs.ts';

const comparable: readonly (readonly [name: string, type: CelType])[] = [
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['bool', boolType],
  ['duration', durationType],
  ['timestamp', timestampType],
  ['string', stringType],
  ['bytes', bytesType],
];

/** Those that can be added, with their sums of nothing and the overloads that add two. */
const summable: readonly (readonly [name: string, type: CelType, zero: Value, adder: string])[] = [
  ['int', intType, 0, 'add_int64'],
  ['uint', uintType, new Uint(0n), 'add_uint64'],
  ['double', doubleType, new Double(0), 'add_double'],
  ['duration', durationType, new Duration(0n), 'add_duration_duration'],
];

/** As the list functions order values: NaN comes neither before nor after another number. */
function isBefore(a: Value, b: Value): boolean {
  const unordered = isNotANumber(a) || isNotANumber(b);
  return !unordered && compareValues(a, b) < 0;
}

const isNotANumber = (value: Value): boolean => value instanceof Double && Number.isNaN(value.value);

/** How many elements are looked at in one step. */
const readPerStep = 5_000;

const isEndOfStep = (index: number): boolean => index % readPerStep === 0 || isStepDone();

function* isSorted(list: ListValue): Steps<boolean> {
  for (let i = 1; i < list.size; i++) {
    if (isEndOfStep(i)) yield;
    if (isBefore(list.get(i), list.get(i - 1))) return false;
  }
  return true;
}

/** The first element that none comes before. */
function* first(list: ListValue, name: string, before: (a: Value, b: Value) => boolean): Steps<Value> {
  if (list.size === 0) throw new CelError(`${name} called on empty list`);
  let found = list.get(0);
  for (let i = 1; i < list.size; i++) {
    if (isEndOfStep(i)) yield;
    const element = list.get(i);
    if (before(element, found)) found = element;
  }
  return found;
}

/** A list of several types is called by the type of its first element. */
function* sum(list: ListValue, zero: Value, add: Overload['call']): Steps<Value> {
  const type = typeNameOf(zero);
  let total = zero;
  for (let i = 0; i < list.size; i++) {
    if (isEndOfStep(i)) yield;
    const element = list.get(i);
    if (typeNameOf(element) !== type) throw new CelError('no such overload');
    total = add(total, element);
  }
  return total;
}

function* indexOf(list: ListValue, element: Value): Steps<number> {
  for (let i = 0; i < list.size; i++) {
    if (isEndOfStep(i)) yield;
    if (yield* valuesEqualInSteps(list.get(i), element)) return i;
  }
  return -1;
}

function* lastIndexOf(list: ListValue, element: Value): Steps<number> {
  for (let i = list.size - 1; i >= 0; i--) {
    if (isEndOfStep(i)) yield;
    if (yield* valuesEqualInSteps(list.get(i), element)) return i;
  }
  return -1;
}

const searchCosts = { ...costs, readsLists: true };

const a = parameterType('A');

/** A method of a list that looks at its elements in steps. */
function reading(
  id: string,
  args: readonly CelType[],
  result: CelType,
  run: (list: ListValue, element: Value) => Steps<Value>,
) {
  const steps = run as NonNullable<Overload['steps']>;
  return methodOf(id, args, result, (...values) => atOnce(steps(...values)), { ...searchCosts, steps });
}

const adderOf = (id: string): Overload['call'] => {
  const adder = arithmetic['_+_']?.find((overload) => overload.id === id);
  if (adder === undefined) throw new Error(`no overload ${id}`);
  return adder.call;
};

export const listsLibrary: Library = {
  name: 'lists',
  functions: {
    isSorted: comparable.map(([name, type]) =>
      reading(`list_${name}_is_sorted_bool`, [listType(type)], boolType, isSorted),
    ),
    sum: summable.map(([name, type, zero, adder]) => {
      const add = adderOf(adder);
      return reading(`list_${name}_sum_${name}`, [listType(type)], type, (list) => sum(list, zero, add));
    }),
    max: comparable.map(([name, type]) => {
      const largest = (list: ListValue) => first(list, 'max', (x, y) => isBefore(y, x));
      return reading(`list_${name}_max_${name}`, [listType(type)], type, largest);
    }),
    min: comparable.map(([name, type]) => {
      return reading(`list_${name}_min_${name}`, [listType(type)], type, (list) => first(list, 'min', isBefore));
    }),
    indexOf: [reading('list_a_index_of_int', [listType(a), a], intType, indexOf)],
    lastIndexOf: [reading('list_a_last_index_of_int', [listType(a), a], intType, lastIndexOf)],
  },
};
