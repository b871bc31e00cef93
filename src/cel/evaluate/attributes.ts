/**
 * Attributes: a variable, or the result of another expression, with qualifiers (`.field`, `[index]`, `.?field`,
 * `[?index]`). A chain of qualifiers is one attribute; after an optional one the result is an optional.
 */
import {
  CelError,
  ConstructedValue,
  Double,
  intOf,
  ListValue,
  MapValue,
  ObjectValue,
  OptionalValue,
  Uint,
  type Value,
} from '../values.ts';
import { charge, failureOf, inSteps, type Outcome, outcomeOf, type Runnable, type Step } from './budget.ts';
import { typeNameOf } from './type-values.ts';

export interface Qualifier {
  /** The constant key; undefined when it is computed. */
  readonly key: Value | undefined;
  readonly computeKey: Step | undefined;
  readonly optional: boolean;
}

/** The start of an attribute. */
export type Base =
  /** A variable: its cost is that of the attribute. */
  | { readonly kind: 'variable'; readonly read: Step }
  /** A variable of a comprehension, by its slot. */
  | { readonly kind: 'local'; readonly slot: number }
  /** The result of an expression, whose cost is added to that of the attribute. */
  | { readonly kind: 'relative'; readonly evaluate: Step }
  /** `condition ? a : b`: the qualifiers belong to both branches. The attribute itself costs nothing. */
  | { readonly kind: 'conditional'; readonly resolve: Step };

/** An operand of an attribute that may take long: its outcome is computed before the attribute and stored in a slot. */
export interface SlotInput {
  readonly slot: number;
  readonly part: Runnable;
}

export interface Attribute {
  readonly base: Base;
  /** In the order of their evaluation. */
  readonly inputs: readonly SlotInput[];
  readonly qualifiers: readonly Qualifier[];
  /** Whether the last qualifier only tests presence, as in `has(a.b)`. */
  readonly test: boolean;
}

/** The cost of an attribute by itself; the presence test is free. */
function ownCost({ base, test }: Attribute): number {
  return base.kind === 'conditional' || test ? 0 : 1;
}

/** Evaluates an attribute. */
export const evaluateAttribute = (attribute: Attribute): Runnable => afterInputs(attribute, evaluation(attribute));

/** Evaluates an attribute within another one, where only its qualifiers have a cost. */
export const resolveAttribute = (attribute: Attribute): Runnable => afterInputs(attribute, resolution(attribute));

function afterInputs({ inputs }: Attribute, step: Step): Runnable {
  if (inputs.length === 0) return { step, long: undefined };
  return inSteps(function* (frame) {
    for (const { slot, part } of inputs) {
      const outcome = yield* outcomeOf(part, frame);
      frame.locals[slot] = outcome;
      if (outcome instanceof CelError) break;
    }
    return step(frame);
  });
}

function evaluation(attribute: Attribute): Step {
  const resolve = resolution(attribute);
  const cost = ownCost(attribute);
  if (cost === 0) return resolve;
  const { base, qualifiers } = attribute;
  if (base.kind === 'local' && qualifiers.length === 0) return readLocal(base.slot);
  if (base.kind === 'variable' && qualifiers.length === 1) {
    const [qualifier] = qualifiers as [Qualifier];
    if (typeof qualifier.key === 'string' && !qualifier.optional)
      return fieldOfVariable(base.read, qualifier.key, resolve);
  }
  return (frame) => {
    const result = resolve(frame);
    charge(frame, cost);
    return result;
  };
}

/** The most frequent attribute within a comprehension. */
function readLocal(slot: number): Step {
  return (frame) => {
    charge(frame, 1);
    return frame.locals[slot] as Outcome;
  };
}

/** `variable.field`, the most frequent attribute outside. */
function fieldOfVariable(read: Step, key: string, resolve: Step): Step {
  return (frame) => {
    const operand = read(frame);
    if (operand instanceof ObjectValue || operand instanceof MapValue) {
      charge(frame, 2);
      const value = qualify(operand, key);
      return value === undefined ? missing(operand, key) : value;
    }
    const result = resolve(frame);
    charge(frame, 1);
    return result;
  };
}

function resolution({ base, qualifiers, test }: Attribute): Step {
  const start = startOf(base);
  if (qualifiers.length === 0) return start;
  const last = test ? qualifiers.length - 1 : qualifiers.length;
  const tested = test ? qualifiers[last] : undefined;
  return (frame) => {
    let value = start(frame);
    let optional = false;
    if (value instanceof OptionalValue) {
      if (value.value === undefined) return tested === undefined ? value : false;
      value = value.value;
      optional = true;
    }
    for (let i = 0; i < last; i++) {
      if (value instanceof CelError) return value;
      const { key: constant, computeKey, optional: isOptional } = qualifiers[i] as Qualifier;
      optional ||= isOptional;
      const key: Outcome = computeKey === undefined ? (constant as Value) : computeKey(frame);
      const result: Outcome | undefined = key instanceof CelError ? key : qualify(value, key, optional);
      if (result === undefined && optional) return tested === undefined ? none : false;
      charge(frame, 1);
      value = result === undefined ? missing(value, key as Value) : result;
    }
    if (value instanceof CelError) return value;
    if (tested === undefined) return optional ? new OptionalValue(value) : value;
    const present = isPresent(value, tested.key as Value);
    if (!optional || present === true) charge(frame, 1);
    return present;
  };
}

function startOf(base: Base): Step {
  switch (base.kind) {
    case 'variable':
      return base.read;
    case 'local':
      return ({ locals }) => locals[base.slot] as Outcome;
    case 'relative':
      return base.evaluate;
    case 'conditional':
      return base.resolve;
  }
}

const none = new OptionalValue(undefined);

/** The value of a key; undefined where there is none, or with `optional` where it is not set. */
function qualify(operand: Value, key: Value, optional = false): Outcome | undefined {
  try {
    if (operand instanceof ObjectValue) return typeof key === 'string' ? operand.get(key) : undefined;
    if (operand instanceof MapValue) return operand.get(key);
    if (operand instanceof ListValue) return elementAt(operand, key);
    if (operand instanceof ConstructedValue && typeof key === 'string') {
      return optional ? operand.fields.get(key) : operand.get(key);
    }
    return undefined;
  } catch (thrown) {
    return failureOf(thrown);
  }
}

function isPresent(operand: Value, key: Value): boolean | CelError {
  if (operand instanceof ObjectValue || operand instanceof ConstructedValue) {
    return typeof key === 'string' && operand.has(key);
  }
  if (operand instanceof MapValue) return operand.has(key);
  if (operand instanceof ListValue) return new CelError(`unsupported index type '${typeNameOf(key)}' in list`);
  return false;
}

function elementAt(list: ListValue, key: Value): Value | CelError | undefined {
  const index = indexOf(key);
  if (index === undefined) return new CelError(`unsupported index type '${typeNameOf(key)}' in list`);
  return index >= 0 && index < list.size ? list.get(index) : undefined;
}

/** The number of an index: an integer of any type. */
function indexOf(key: Value): number | undefined {
  if (typeof key === 'number') return key;
  if (typeof key === 'bigint') return -1;
  if (key instanceof Uint) return Number(intOf(key.value));
  return key instanceof Double && Number.isInteger(key.value) ? key.value : undefined;
}

function missing(operand: Value, key: Value): CelError {
  return new CelError(`${operand instanceof ListValue ? 'index out of bounds' : 'no such key'}: ${textOf(key)}`);
}

/** A key as messages show it. */
export function textOf(key: Value): string {
  if (key instanceof Uint || key instanceof Double) return `${key.value}`;
  return typeof key === 'object' && key !== null ? typeNameOf(key) : `${key}`;
}
