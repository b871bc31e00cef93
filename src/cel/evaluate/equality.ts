/** Equality of values of any types, and the order of comparable ones. */
import { atOnce, jsonEqualInSteps, type Steps } from '../../meta/index.ts';
import { keysOf } from '../evaluation-cache.ts';
import {
  CelError,
  ConstructedValue,
  Double,
  Duration,
  ListValue,
  MapValue,
  ObjectValue,
  OpaqueValue,
  OptionalValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../values.ts';
import { keyOfElements } from './associative-lists.ts';
import { isStepDone, work } from './work.ts';

/** The deepest nesting of values that are compared. */
const MAX_DEPTH = 500;

/** The number of characters or bytes that are compared in about the time of one visited value. */
const comparedPerVisit = 512;

/**
 * Whether two values are equal: numbers of different types when they are the same number, lists and maps by their
 * elements, objects by their fields. Values of types that cannot be compared are not equal.
 * @throws CelError for JSON of the wrong type, and for values that are nested too deeply
 */
export const valuesEqual = (a: Value, b: Value): boolean => leavesEqual(a, b) ?? atOnce(containersEqual(a, b, 0));

/** The same in steps: values that share parts take longer to compare than their size in memory suggests. */
export function* valuesEqualInSteps(a: Value, b: Value): Steps<boolean> {
  return leavesEqual(a, b) ?? (yield* containersEqual(a, b, 0));
}

/**
 * Negative, 0 or positive as the first value is less than, equal to or greater than the second.
 * @throws CelError when they have no order
 */
export function compareValues(a: Value, b: Value): number {
  const left = numberOf(a);
  const right = left === undefined ? undefined : numberOf(b);
  if (left !== undefined && right !== undefined) return compareNumbers(left, right, a, b);
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Timestamp && b instanceof Timestamp) return a.seconds - b.seconds || a.nanos - b.nanos;
  if (a instanceof Duration && b instanceof Duration) return order(a.nanos, b.nanos);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  throw new CelError('no such overload');
}

/** Whether two values are equal; undefined for two containers, whose parts decide. */
function leavesEqual(a: Value, b: Value): boolean | undefined {
  work.done++;
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length !== b.length) return false;
    work.done += Math.floor(a.length / comparedPerVisit);
    return a === b;
  }
  if (a === b && (a === null || typeof a !== 'object')) return true;
  if (typeof a !== 'object' && typeof b !== 'object' && typeof a === typeof b) return false;
  const left = numberOf(a);
  if (left !== undefined) {
    const right = numberOf(b);
    return right !== undefined && numbersEqual(left, right, a, b);
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (isContainer(a)) return isContainer(b) ? undefined : false;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && bytesEqual(a, b);
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  return a instanceof OpaqueValue && b instanceof OpaqueValue && a.typeName === b.typeName && a.equals(b);
}

const isContainer = (value: object): boolean =>
  value instanceof ListValue ||
  value instanceof MapValue ||
  value instanceof ObjectValue ||
  value instanceof ConstructedValue ||
  value instanceof OptionalValue;

function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  work.done += Math.floor(a.length / comparedPerVisit);
  return Buffer.compare(a, b) === 0;
}

/** Compares two containers. Ends a step when its work is done. */
function containersEqual(a: Value, b: Value, depth: number): Steps<boolean> {
  if (depth >= MAX_DEPTH) throw new CelError('the values are nested too deeply to be compared');
  if (a instanceof ListValue && b instanceof ListValue) return listsEqual(a, b, depth + 1);
  if (a instanceof MapValue && b instanceof MapValue) return mapsEqual(a, b, depth + 1);
  if (a instanceof ObjectValue && b instanceof ObjectValue) return objectsEqual(a, b, depth + 1);
  if (a instanceof ConstructedValue && b instanceof ConstructedValue) return constructedEqual(a, b, depth + 1);
  return optionalsEqual(a, b, depth + 1);
}

/** Whether two containers are equal optionals. */
function* optionalsEqual(a: Value, b: Value, depth: number): Steps<boolean> {
  if (!(a instanceof OptionalValue && b instanceof OptionalValue)) return false;
  return partsEqual(a.value, b.value) ?? (yield* containersEqual(a.value as Value, b.value as Value, depth));
}

/** {@link leavesEqual} for parts that may be absent: both are, or none. */
function partsEqual(a: Value | undefined, b: Value | undefined): boolean | undefined {
  return a === undefined || b === undefined ? a === b : leavesEqual(a, b);
}

function* listsEqual(a: ListValue, b: ListValue, depth: number): Steps<boolean> {
  const { size } = a;
  if (size !== b.size) return false;
  const keyOf = keyOfElements(a);
  if (keyOf !== undefined) return yield* associativeListsEqual(a, b, keyOf, depth);
  for (let i = 0; i < size; i++) {
    if (isStepDone()) yield;
    const [left, right] = [a.get(i), b.get(i)];
    if (!(leavesEqual(left, right) ?? (yield* containersEqual(left, right, depth)))) return false;
  }
  return true;
}

/** Compares two lists of the same size by the keys of their elements. */
function* associativeListsEqual(
  a: ListValue,
  b: ListValue,
  keyOf: (element: Value) => string,
  depth: number,
): Steps<boolean> {
  // Most equal lists have the same order.
  let same = 0;
  while (same < a.size) {
    if (isStepDone()) yield;
    const [left, right] = [a.get(same), b.get(same)];
    if (keyOf(left) !== keyOf(right)) break;
    if (!(leavesEqual(left, right) ?? (yield* containersEqual(left, right, depth)))) break;
    same++;
  }
  if (same === a.size) return true;
  const elements = new Map<string, Value>();
  for (let i = 0; i < a.size; i++) {
    work.done++;
    if (isStepDone()) yield;
    const element = a.get(i);
    elements.set(keyOf(element), element);
  }
  const seen = new Set<string>();
  for (let i = 0; i < b.size; i++) {
    if (isStepDone()) yield;
    const element = b.get(i);
    const key = keyOf(element);
    const known = elements.get(key);
    if (known === undefined) return false;
    if (!(leavesEqual(known, element) ?? (yield* containersEqual(known, element, depth)))) return false;
    seen.add(key);
  }
  return seen.size === elements.size;
}

function* mapsEqual(a: MapValue, b: MapValue, depth: number): Steps<boolean> {
  if (a.size !== b.size) return false;
  for (const key of a.keys()) {
    if (isStepDone()) yield;
    const other = b.get(key);
    if (other === undefined) return false;
    const value = a.get(key);
    if (!(partsEqual(value, other) ?? (yield* containersEqual(value as Value, other, depth)))) return false;
  }
  return true;
}

/** Declared fields are compared as values, others as JSON. */
function* objectsEqual(a: ObjectValue, b: ObjectValue, depth: number): Steps<boolean> {
  if (a.json === b.json) return true;
  if (a.type.name !== b.type.name || keysOf(a.json).length !== keysOf(b.json).length) return false;
  const declared = new Set<string>();
  for (const identifier of a.type.identifiers()) {
    if (isStepDone()) yield;
    const [left, right] = [a.get(identifier), b.get(identifier)];
    if (!(partsEqual(left, right) ?? (yield* containersEqual(left as Value, right as Value, depth)))) return false;
    declared.add(a.type.field(identifier)?.property ?? identifier);
  }
  for (const property of keysOf(a.json)) {
    work.done++;
    if (declared.has(property)) continue;
    if (!Object.hasOwn(b.json, property)) return false;
    if (!(yield* jsonEqualInSteps(a.json[property], b.json[property], counted))) return false;
  }
  return true;
}

/** Visited members of JSON count as visited values. */
const counted = {
  over(visited = 1): boolean {
    work.done += visited;
    return isStepDone();
  },
};

function* constructedEqual(a: ConstructedValue, b: ConstructedValue, depth: number): Steps<boolean> {
  if (a.type.name !== b.type.name || a.fields.size !== b.fields.size) return false;
  for (const [field, value] of a.fields) {
    if (isStepDone()) yield;
    const other = b.fields.get(field);
    if (!(partsEqual(value, other) ?? (yield* containersEqual(value, other as Value, depth)))) return false;
  }
  return true;
}

function numberOf(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return value instanceof Uint || value instanceof Double ? value.value : undefined;
}

/** Integers of any type are compared exactly; with a double, as doubles. */
function numbersEqual(left: number | bigint, right: number | bigint, a: Value, b: Value): boolean {
  if (a instanceof Double || b instanceof Double) return Number(left) === Number(right);
  // biome-ignore lint/suspicious/noDoubleEquals: compares a number and a bigint as integers
  return left == right;
}

function compareNumbers(left: number | bigint, right: number | bigint, a: Value, b: Value): number {
  if (!(a instanceof Double || b instanceof Double)) return order(left, right);
  if (Number.isNaN(left) || Number.isNaN(right)) throw new CelError('NaN values cannot be ordered');
  return order(Number(left), Number(right));
}

const order = (left: number | bigint, right: number | bigint): number => (left < right ? -1 : left > right ? 1 : 0);

/** By code point. */
function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    // A surrogate, half of a code point beyond 0xFFFF, comes after all others.
    if (left !== right) return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1;
  }
  return a.length - b.length;
}

const isSurrogate = (unit: number): boolean => (unit & 0xf800) === 0xd800;

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
