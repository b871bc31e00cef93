/** Optional values: `a.?b`, `a[?b]` and the functions over `optional_type(V)`. */
import type { Library } from '../library.ts';
import { boolType, dynType, intType, listType, mapType, optionalType, parameterType, stringType } from '../types.ts';
import {
  CelError,
  ConstructedValue,
  Double,
  Duration,
  ListValue,
  MapValue,
  ObjectValue,
  OptionalValue,
  Timestamp,
  Uint,
  type Value,
} from '../values.ts';
import { functionOf, methodOf } from './overloads.ts';

const key = parameterType('K');
const value = parameterType('V');
const optional = optionalType(value);
const list = listType(value);
const map = mapType(key, value);
const none = new OptionalValue(undefined);

const of = (present: Value | undefined): OptionalValue => (present === undefined ? none : new OptionalValue(present));

/** `or` and `orValue` are evaluated without their argument when the receiver has a value. */
export const optionalsLibrary: Library = {
  name: 'optional',
  syntax: { optionalSyntax: true },
  types: { optional_type: optionalType(dynType) },
  functions: {
    'optional.of': [functionOf('optional_of', [value], optional, of)],
    'optional.ofNonZeroValue': [
      functionOf('optional_ofNonZeroValue', [value], optional, (subject) =>
        isZero(subject as Value) ? none : of(subject),
      ),
    ],
    'optional.none': [functionOf('optional_none', [], optional, () => none)],
    'optional.unwrap': [functionOf('optional_unwrap', [listType(optional)], list, unwrap)],
    unwrapOpt: [methodOf('optional_unwrapOpt', [listType(optional)], list, unwrap)],
    value: [methodOf('optional_value', [optional], value, (receiver) => dereference(receiver as OptionalValue))],
    hasValue: [methodOf('optional_hasValue', [optional], boolType, (receiver) => hasValue(receiver as OptionalValue))],
    or: [
      methodOf('optional_or_optional', [optional, optional], optional, (receiver, other) =>
        hasValue(receiver as OptionalValue) ? (receiver as Value) : (other as Value),
      ),
    ],
    orValue: [
      methodOf('optional_orValue_value', [optional, value], value, (receiver, other) =>
        hasValue(receiver as OptionalValue) ? dereference(receiver as OptionalValue) : (other as Value),
      ),
    ],
    first: [methodOf('list_first', [list], optional, (subject) => elementOf(subject as ListValue, 0))],
    last: [
      methodOf('list_last', [list], optional, (subject) =>
        elementOf(subject as ListValue, (subject as ListValue).size - 1),
      ),
    ],
    '_?._': [functionOf('select_optional_field', [dynType, stringType], optional, select)],
    '_[?_]': [
      functionOf('list_optindex_optional_int', [list, intType], optional, index),
      functionOf('optional_list_optindex_optional_int', [optionalType(list), intType], optional, index),
      functionOf('map_optindex_optional_value', [map, key], optional, index),
      functionOf('optional_map_optindex_optional_value', [optionalType(map), key], optional, index),
    ],
    '_[_]': [
      functionOf('optional_list_index_int', [optionalType(list), intType], optional, index),
      functionOf('optional_map_index_value', [optionalType(map), key], optional, index),
    ],
  },
};

function hasValue(receiver: OptionalValue): boolean {
  return receiver.value !== undefined;
}

function dereference(receiver: OptionalValue): Value {
  if (receiver.value === undefined) throw new CelError('optional.none() dereference');
  return receiver.value;
}

function unwrap(values: Value | undefined): Value {
  const all = values as ListValue;
  const present: Value[] = [];
  for (let i = 0; i < all.size; i++) {
    const element = all.get(i);
    if (!(element instanceof OptionalValue)) throw new CelError('optional.unwrap: an element is not optional');
    if (element.value !== undefined) present.push(element.value);
  }
  return new ListValue(present);
}

function elementOf(subject: ListValue, at: number): OptionalValue {
  return at >= 0 && at < subject.size ? of(subject.get(at)) : none;
}

/** The field of a map or an object, through an optional. What has no fields has none of any name. */
function select(operand: Value | undefined, field: Value | undefined): OptionalValue {
  const container = operand instanceof OptionalValue ? operand.value : operand;
  if (container instanceof MapValue) return of(container.get(field as string));
  if (container instanceof ObjectValue) return of(container.get(field as string));
  if (container instanceof ConstructedValue) return of(container.fields.get(field as string));
  return none;
}

/** The element of a list or the value of a map, through an optional. */
function index(operand: Value | undefined, at: Value | undefined): OptionalValue {
  const container = operand instanceof OptionalValue ? operand.value : operand;
  if (container instanceof MapValue) return of(container.get(at as Value));
  if (!(container instanceof ListValue)) return none;
  return elementOf(container, positionOf(at));
}

/** An integer of any numeric type. */
function positionOf(at: Value | undefined): number {
  const number = at instanceof Double || at instanceof Uint ? Number(at.value) : at;
  if (typeof number === 'bigint' || Number.isInteger(number)) return Number(number);
  throw new CelError('unsupported index of a list');
}

/** The seconds of the first instant, 0001-01-01T00:00:00Z. */
const firstSecond = -62_135_596_800;

/** Whether a value is the zero value of its type. Objects over JSON and optionals have none. */
function isZero(subject: Value): boolean {
  if (subject === null || subject === false || subject === 0 || subject === '') return true;
  if (subject instanceof Uint) return subject.value === 0n;
  if (subject instanceof Double) return subject.value === 0;
  if (subject instanceof Duration) return subject.nanos === 0n;
  if (subject instanceof Timestamp) return subject.seconds === firstSecond && subject.nanos === 0;
  if (subject instanceof Uint8Array) return subject.length === 0;
  if (subject instanceof ConstructedValue) return subject.fields.size === 0;
  return (subject instanceof ListValue || subject instanceof MapValue) && subject.size === 0;
}
