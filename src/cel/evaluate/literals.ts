/** Lists and maps that an expression writes out. */
import { CelError, EntriesValue, ListValue, OptionalValue, type Value } from '../values.ts';
import { textOf } from './attributes.ts';
import { charge, type Frame, failureOf, LIST_COST, MAP_COST, type Outcome, type Step } from './budget.ts';
import { typeNameOf } from './type-values.ts';

/** The step of a list; an optional element is left out when it has no value. */
export function listStep(elements: readonly Step[], optional: ReadonlySet<number>): Step {
  return (frame) => {
    const outcome = listOf(frame, elements, optional);
    charge(frame, LIST_COST);
    return outcome;
  };
}

function listOf(frame: Frame, elements: readonly Step[], optional: ReadonlySet<number>): Outcome {
  const values: Value[] = [];
  for (let i = 0; i < elements.length; i++) {
    const value = (elements[i] as Step)(frame);
    if (value instanceof CelError) return value;
    if (!optional.has(i)) {
      values.push(value);
    } else if (!(value instanceof OptionalValue)) {
      const type = typeNameOf(value);
      return new CelError(`cannot initialize optional list element from non-optional value of type '${type}'`);
    } else if (value.value !== undefined) {
      values.push(value.value);
    }
  }
  return new ListValue(values);
}

export interface EntryStep {
  readonly key: Step;
  readonly value: Step;
  readonly optional: boolean;
}

/** The step of a map; an optional entry is left out when it has no value. */
export function mapStep(entries: readonly EntryStep[]): Step {
  return (frame) => {
    const outcome = mapOf(frame, entries);
    charge(frame, MAP_COST);
    return outcome;
  };
}

function mapOf(frame: Frame, entries: readonly EntryStep[]): Outcome {
  const values: [Value, Value][] = [];
  for (const { key: keyStep, value: valueStep, optional } of entries) {
    const key = keyStep(frame);
    if (key instanceof CelError) return key;
    const value = valueStep(frame);
    if (value instanceof CelError) return value;
    if (!optional) {
      values.push([key, value]);
    } else if (!(value instanceof OptionalValue)) {
      const type = typeNameOf(value);
      return new CelError(
        `cannot initialize optional entry '${textOf(key)}' from non-optional value of type '${type}'`,
      );
    } else if (value.value !== undefined) {
      values.push([key, value.value]);
    }
  }
  try {
    return new EntriesValue(values);
  } catch (thrown) {
    return failureOf(thrown);
  }
}
