import { describe, expect, test } from 'vitest';
import { type ObjectType, stringType } from '../types.ts';
import {
  CelError,
  Double,
  Duration,
  EntriesValue,
  ListValue,
  ObjectValue,
  OptionalValue,
  Timestamp,
  Uint,
  type Value,
} from '../values.ts';
import { optionalsLibrary } from './optionals.ts';
import { callOf } from './testing/calls.ts';

const some = (value: Value): OptionalValue => new OptionalValue(value);
const none = new OptionalValue(undefined);
const list = new ListValue([1, 2, 3]);
const map = new EntriesValue([
  ['a', 1],
  ['__proto__', 2],
]);

const call = callOf(optionalsLibrary);

describe('optional values', () => {
  test.each<[string, readonly Value[], Value]>([
    ['optional.of', [1], some(1)],
    ['optional.of', [null], some(null)],
    ['optional.none', [], none],
    ['hasValue', [some(null)], true],
    ['hasValue', [none], false],
    ['value', [some(1)], 1],
    ['or', [none, some(2)], some(2)],
    ['or', [some(1), some(2)], some(1)],
    ['orValue', [none, 2], 2],
    ['orValue', [some(1), 2], 1],
    ['optional.unwrap', [new ListValue([some(1), none, some(2)])], new ListValue([1, 2])],
    ['unwrapOpt', [new ListValue([])], new ListValue([])],
    ['first', [list], some(1)],
    ['last', [list], some(3)],
    ['first', [new ListValue([])], none],
    ['last', [new ListValue([])], none],
    ['_[?_]', [list, 2], some(3)],
    ['_[?_]', [list, 3], none],
    ['_[?_]', [list, -1], none],
    ['_[?_]', [list, new Uint(1n)], some(2)],
    ['_[?_]', [list, 2n ** 60n], none],
    ['_[?_]', [list, new Double(1)], some(2)],
    ['_[?_]', [some(list), 0], some(1)],
    ['_[?_]', [none, 0], none],
    ['_[?_]', [map, 'a'], some(1)],
    ['_[?_]', [map, 'b'], none],
    ['_[_]', [some(map), 'constructor'], none],
    ['_?._', [map, '__proto__'], some(2)],
    ['_?._', [map, 'toString'], none],
    ['_?._', [some(map), 'a'], some(1)],
    ['_?._', [none, 'a'], none],
    ['_?._', [1, 'a'], none],
  ])('%s(%o) is %o', (name, args, expected) => {
    expect(call(name, ...args)).toEqual(expected);
  });

  test.each<[Value, boolean]>([
    [null, true],
    [false, true],
    [0, true],
    ['', true],
    [new Uint(0n), true],
    [new Double(0), true],
    [new Uint8Array(), true],
    [new Duration(0n), true],
    [new Timestamp(-62_135_596_800, 0), true],
    [new ListValue([]), true],
    [new EntriesValue([]), true],
    [true, false],
    [2n ** 60n, false],
    [new Timestamp(0, 0), false],
    [list, false],
    [none, false],
  ])('optional.ofNonZeroValue(%o) is none: %j', (value, isNone) => {
    expect(call('optional.ofNonZeroValue', value)).toEqual(isNone ? none : some(value));
  });

  test('fields of objects', () => {
    const type: ObjectType = {
      kind: 'object',
      name: 'Pod',
      field: (identifier) =>
        identifier === 'a_b' ? { type: stringType, property: 'a-b', read: (json) => json as string } : undefined,
      identifiers: () => ['a_b'],
    };
    expect(call('_?._', new ObjectValue(type, { 'a-b': 'x' }), 'a_b')).toEqual(some('x'));
    expect(call('_?._', new ObjectValue(type, {}), 'a_b')).toEqual(none);
  });

  test('the value of none, an element that is not optional and an index that is not an integer are errors', () => {
    expect(() => call('value', none)).toThrow(new CelError('optional.none() dereference'));
    expect(() => call('optional.unwrap', list)).toThrow(CelError);
    expect(() => call('_[?_]', list, '1')).toThrow(new CelError('unsupported index of a list'));
    expect(() => call('_[?_]', list, new Double(1.5))).toThrow(new CelError('unsupported index of a list'));
  });
});
