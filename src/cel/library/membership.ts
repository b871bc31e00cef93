/** Membership tests of lists. */
import type { Steps } from '../../meta/index.ts';
import { valuesEqualInSteps } from '../evaluate/equality.ts';
import { isStepDone } from '../evaluate/work.ts';
import type { ListValue, Value } from '../values.ts';

/** How many elements are added in one step. */
const addedPerStep = 1_000;

/** The elements of a list: texts, bools and ints are looked up, other values are compared one by one. */
export interface Membership {
  readonly has: (element: Value) => Steps<boolean>;
}

type Found = string | boolean | number;

const isFound = (value: Value): value is Found =>
  typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number';

export function* membershipOf(list: ListValue): Steps<Membership> {
  const found = new Set<Found>();
  const others: Value[] = [];
  for (let i = 0; i < list.size; i++) {
    const element = list.get(i);
    if (isFound(element)) found.add(element);
    else others.push(element);
    if (i % addedPerStep === addedPerStep - 1) yield;
  }
  // A number of another type may equal an int.
  const ints = [...found].filter((value) => typeof value === 'number');
  return {
    *has(element) {
      if (isFound(element) && found.has(element)) return true;
      if (typeof element === 'string' || typeof element === 'boolean') return false;
      for (const compared of typeof element === 'number' ? [others] : [others, ints]) {
        for (const other of compared) {
          if (isStepDone()) yield;
          if (yield* valuesEqualInSteps(other, element)) return true;
        }
      }
      return false;
    },
  };
}
