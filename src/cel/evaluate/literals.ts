/** Lists, maps and objects that an expression writes out. */
import {
  CelError,
  ConstructedValue,
  EntriesValue,
  ListValue,
  type LiteralFields,
  OptionalValue,
  type Value,
} from '../values.ts';
import { textOf } from './attributes.ts';
import { charge, type Frame, failureOf, LIST_COST, MAP_COST, OBJECT_COST, type Outcome, type Step } from './budget.ts';
import { type Accepts, typeNameOf } from './type-values.ts';

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

export interface FieldStep {
  readonly field: string;
  readonly value: Step;
  readonly optional: boolean;
  readonly accepts: Accepts;
}

/** The step of an object. An optional field is not set when it has no value; of equal fields, the last one holds. */
export function objectStep(type: LiteralFields, fields: readonly FieldStep[]): Step {
  return (frame) => {
    const outcome = objectOf(frame, type, fields);
    charge(frame, OBJECT_COST);
    return outcome;
  };
}

function objectOf(frame: Frame, type: LiteralFields, fields: readonly FieldStep[]): Outcome {
  const values = new Map<string, Value>();
  for (const { field, value: step, optional, accepts } of fields) {
    const outcome = step(frame);
    if (outcome instanceof CelError) return outcome;
    const value = optional ? optionalField(field, outcome) : outcome;
    if (value instanceof CelError) return value;
    if (value === undefined) {
      values.delete(field);
    } else if (accepts(value)) {
      values.set(field, value);
    } else {
      return new CelError(`unexpected type ${typeNameOf(value)} for ${type.name}Type '${field}' field`);
    }
  }
  return new ConstructedValue(type, values);
}

function optionalField(field: string, value: Value): Outcome | undefined {
  if (value instanceof OptionalValue) return value.value;
  const type = typeNameOf(value);
  return new CelError(`cannot initialize optional entry '${field}' from non-optional value of type '${type}'`);
}
