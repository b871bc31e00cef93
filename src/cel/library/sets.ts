/** Lists as sets. */

import { atOnce, type Steps } from '../../meta/index.ts';
import { fixed, multiply, scale, sum } from '../cost/range.ts';
import { isStepDone } from '../evaluate/work.ts';
import type { Library, Overload } from '../library.ts';
import { boolType, listType, parameterType } from '../types.ts';
import type { ListValue } from '../values.ts';
import { type Costs, sizeOf } from './costs.ts';
import { type Membership, membershipOf } from './membership.ts';
import { functionOf } from './overloads.ts';
import { sizeOfValue } from './sizes.ts';

/** How many elements are looked up in one step. */
const lookedUpPerStep = 1_000;

/** Whether an element of the list is in a set, or is not. */
function* some(list: ListValue, set: Membership, isIn: boolean): Steps<boolean> {
  for (let i = 0; i < list.size; i++) {
    if (i % lookedUpPerStep === lookedUpPerStep - 1) yield;
    if ((yield* set.has(list.get(i))) === isIn) return true;
    if (isStepDone()) yield;
  }
  return false;
}

function* containsAll(list: ListValue, elements: ListValue): Steps<boolean> {
  return !(yield* some(elements, yield* membershipOf(list), false));
}

/** The costs of a function that compares every element of one list with every element of another, `rounds` times. */
const comparing = (rounds: number): Costs => ({
  cost: ([first = null, second = null]) => 1 + sizeOfValue(first) * sizeOfValue(second) * rounds,
  estimate: (args) => ({ cost: sum(scale(multiply(sizeOf(args, 0), sizeOf(args, 1)), rounds), fixed(1)) }),
});

const list = listType(parameterType('T'));

type Relation = (a: ListValue, b: ListValue) => Steps<boolean>;

const relation = (id: string, holds: Relation, rounds: number): readonly Overload[] => {
  const steps = holds as NonNullable<Overload['steps']>;
  const call: Overload['call'] = (...args) => atOnce(steps(...args));
  return [functionOf(id, [list, list], boolType, call, { ...comparing(rounds), steps, readsLists: true })];
};

export const setsLibrary: Library = {
  name: 'sets',
  functions: {
    'sets.contains': relation('list_sets_contains_list', containsAll, 1),
    'sets.equivalent': relation(
      'list_sets_equivalent_list',
      function* (a, b) {
        return (yield* containsAll(a, b)) && (yield* containsAll(b, a));
      },
      2,
    ),
    'sets.intersects': relation(
      'list_sets_intersects_list',
      function* (a, b) {
        return yield* some(a, yield* membershipOf(b), true);
      },
      1,
    ),
  },
};
