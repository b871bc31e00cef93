/** Lists as sets. */
import { fixed, multiply, scale, sum } from '../cost/range.ts';
import type { Library, Overload } from '../library.ts';
import { boolType, listType, parameterType } from '../types.ts';
import type { ListValue, Value } from '../values.ts';
import { type Costs, sizeOf } from './costs.ts';
import { functionOf } from './overloads.ts';
import { sizeOfValue } from './sizes.ts';
import { contains } from './standard-collections.ts';

function some(list: ListValue, accepts: (element: Value) => boolean): boolean {
  for (let i = 0; i < list.size; i++) if (accepts(list.get(i))) return true;
  return false;
}

const containsAll = (list: ListValue, elements: ListValue): boolean =>
  !some(elements, (element) => !contains(list, element));

/** Every element of one list is compared with every element of the other, so many times. */
const comparing = (rounds: number): Costs => ({
  cost: ([first = null, second = null]) => 1 + sizeOfValue(first) * sizeOfValue(second) * rounds,
  estimate: (args) => ({ cost: sum(scale(multiply(sizeOf(args, 0), sizeOf(args, 1)), rounds), fixed(1)) }),
});

const list = listType(parameterType('T'));

const relation = (id: string, holds: (a: ListValue, b: ListValue) => boolean, rounds: number): readonly Overload[] => [
  functionOf(id, [list, list], boolType, holds as Overload['call'], comparing(rounds)),
];

export const setsLibrary: Library = {
  name: 'sets',
  functions: {
    'sets.contains': relation('list_sets_contains_list', containsAll, 1),
    'sets.equivalent': relation('list_sets_equivalent_list', (a, b) => containsAll(a, b) && containsAll(b, a), 2),
    'sets.intersects': relation('list_sets_intersects_list', (a, b) => some(a, (element) => contains(b, element)), 1),
  },
};
