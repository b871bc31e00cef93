import { describe, expect, it } from 'vitest';
import { textOf } from '../testing/corpus-values.ts';
import { evaluate, type Variables } from '../testing/evaluate.ts';
import { dynType, intType, listType, type ObjectType, stringType } from '../types.ts';
import {
  CelError,
  Double,
  Duration,
  EntriesValue,
  ListValue,
  ObjectValue,
  OpaqueValue,
  OptionalValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../values.ts';
import { MapListValue, SetListValue } from './associative-lists.ts';
import { compareValues, valuesEqual } from './equality.ts';

const list = (...items: Value[]): ListValue => new ListValue(items);
const set = (...items: Value[]): SetListValue => new SetListValue(items);
const map = (...entries: [Value, Value][]): EntriesValue => new EntriesValue(entries);
const nan = new Double(Number.NaN);

class Color extends OpaqueValue {
  readonly typeName = 'color';
  readonly #name: string;
  constructor(name: string) {
    super();
    this.#name = name.toLowerCase();
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Color && other.#name === this.#name;
  }
}

describe('equality', () => {
  it.each<[string, Value, Value]>([
    ['null', null, null],
    ['int and uint', 1, new Uint(1n)],
    ['int and double', 1, new Double(1)],
    ['uint and double', new Uint(2n), new Double(2)],
    ['large ints', 2n ** 62n, 2n ** 62n],
    ['a large int and a double', 9007199254740993n, new Double(9007199254740992)],
    ['zeros', new Double(0), new Double(-0)],
    ['bytes', Uint8Array.of(1, 2), Uint8Array.of(1, 2)],
    ['timestamps', new Timestamp(1, 5), new Timestamp(1, 5)],
    ['durations', new Duration(5n), new Duration(5n)],
    ['lists of numbers of several types', list(1, 2), list(new Uint(1n), new Double(2))],
    ['maps in any order', map(['a', 1], [2, 'b']), map([new Uint(2n), 'b'], ['a', new Double(1)])],
    ['optionals', new OptionalValue(1), new OptionalValue(new Uint(1n))],
    ['optionals without values', new OptionalValue(undefined), new OptionalValue(undefined)],
    ['types', new TypeValue('int'), new TypeValue('int')],
    ['values of libraries', new Color('Red'), new Color('red')],
  ])('holds for %s', (_, a, b) => {
    expect(valuesEqual(a, b)).toBe(true);
    expect(valuesEqual(b, a)).toBe(true);
  });

  it.each<[string, Value, Value]>([
    ['null and other values', null, false],
    ['values of other types', 1, '1'],
    ['a bool and an int', true, 1],
    ['NaN, also by identity', nan, nan],
    ['lists with NaN', list(nan), list(nan)],
    ['lists of other lengths', list(1), list(1, 1)],
    ['lists in another order', list(1, 2), list(2, 1)],
    ['maps with other keys', map(['a', null]), map(['b', null])],
    ['maps with other values', map(['a', 1]), map(['a', 2])],
    ['a map and a list', map(), list()],
    ['bytes and a string', Uint8Array.of(97), 'a'],
    ['an optional and its value', new OptionalValue(1), 1],
    ['optionals with and without a value', new OptionalValue(null), new OptionalValue(undefined)],
    ['neighbouring large ints', 9007199254740993n, 9007199254740992n],
    ['instants a nanosecond apart', new Timestamp(1, 5), new Timestamp(1, 6)],
    ['values of libraries', new Color('red'), new Color('blue')],
  ])('does not hold for %s', (_, a, b) => {
    expect(valuesEqual(a, b)).toBe(false);
    expect(valuesEqual(b, a)).toBe(false);
  });

  it('is limited in depth', () => {
    const nested = (depth: number): Value => {
      let value: Value = 1;
      for (let i = 0; i < depth; i++) value = list(value);
      return value;
    };
    expect(valuesEqual(nested(500), nested(500))).toBe(true);
    expect(() => valuesEqual(nested(100_000), nested(100_000))).toThrow(CelError);
  });
});

describe('order', () => {
  it.each<[string, Value, Value]>([
    ['ints', -1, 2],
    ['ints of both sizes', 5, 2n ** 62n],
    ['an int and a uint', -1, new Uint(0n)],
    ['a uint and an int beyond its range', 5, new Uint(2n ** 64n - 1n)],
    ['an int and a double', 1, new Double(1.5)],
    ['an infinite double', 2n ** 62n, new Double(Number.POSITIVE_INFINITY)],
    ['strings', 'a', 'b'],
    ['a prefix', 'a', 'ab'],
    ['strings by code point, not by unit', '\uffee', '\u{1f600}'],
    ['bools', false, true],
    ['bytes', Uint8Array.of(1, 255), Uint8Array.of(2)],
    ['timestamps', new Timestamp(1, 999_999_999), new Timestamp(2, 0)],
    ['durations', new Duration(-1n), new Duration(0n)],
  ])('of %s', (_, less, greater) => {
    expect(compareValues(less, greater)).toBeLessThan(0);
    expect(compareValues(greater, less)).toBeGreaterThan(0);
    expect(compareValues(less, less)).toBe(0);
  });

  it.each<[string, Value, Value, string]>([
    ['NaN', nan, new Double(1), 'NaN values cannot be ordered'],
    ['NaN and an int', 1, nan, 'NaN values cannot be ordered'],
    ['values of other types', 1, 'a', 'no such overload'],
    ['lists', list(), list(), 'no such overload'],
    ['null', null, null, 'no such overload'],
  ])('there is none for %s', (_, a, b, message) => {
    expect(() => compareValues(a, b)).toThrow(new CelError(message));
  });
});

const read = (json: unknown): Value => json as Value;
const fields = new Map([
  ['name', { type: stringType, property: 'name', read }],
  ['port', { type: intType, property: 'port', read }],
]);
const type: ObjectType = {
  kind: 'object',
  name: 'Port',
  field: (identifier) => fields.get(identifier),
  identifiers: () => fields.keys(),
};
const port = (name: string, number: number | null, more = {}): ObjectValue =>
  new ObjectValue(type, { name, port: number, ...more });
const ports = (...items: Value[]): MapListValue => new MapListValue(['name'], items);

describe('equality of objects', () => {
  it('is that of their fields', () => {
    expect(valuesEqual(port('a', 1), port('a', 1))).toBe(true);
    expect(valuesEqual(port('a', 1), port('a', 2))).toBe(false);
    expect(valuesEqual(port('a', 1), port('a', null))).toBe(false);
  });

  it('includes properties that are not declared', () => {
    expect(valuesEqual(port('a', 1, { extra: [1] }), port('a', 1, { extra: [1] }))).toBe(true);
    expect(valuesEqual(port('a', 1, { extra: [1] }), port('a', 1, { extra: [2] }))).toBe(false);
    expect(valuesEqual(port('a', 1, { extra: [1] }), port('a', 1))).toBe(false);
    expect(valuesEqual(port('a', 1, { constructor: 1 }), port('a', 1, { other: 1 }))).toBe(false);
  });
});

const variables: Variables = {
  ab: [listType(stringType), set('a', 'b')],
  ba: [listType(stringType), set('b', 'a')],
  atomic: [listType(stringType), list('b', 'a')],
  twice: [listType(stringType), list('a', 'a')],
  mixed: [dynType, set(1, new Double(1), new Uint(1n), '1')],
  nested: [dynType, set(list('a'), 'b')],
  web: [dynType, ports(port('http', 80), port('https', 443))],
  reordered: [dynType, ports(port('https', 443), port('http', 80))],
  changed: [dynType, ports(port('http', 8080), port('dns', 53))],
};

describe('lists of the list types set and map', () => {
  it.each([
    ['ab == ba', true],
    ['ab == atomic', true],
    ['atomic == ab', false],
    ['ab == twice', false],
    ['[ab] == [ba]', true],
    ['(ab + ["c", "a"])[2] == "c" && (ab + ["c", "a"]).size() == 3', true],
    ['ab + ["c"] == ["c", "b", "a"]', true],
    ['ab + ba == ab', true],
    ['(atomic + ab).size()', 4],
    ['(mixed + mixed).size()', 4],
    ['web == reordered', true],
    ['reordered == web && web != changed', true],
    ['(web + changed).map(p, p.port) == [8080, 443, 53]', true],
    ['web + changed == changed + [web[1]]', true],
  ])('compare and are merged: %s', (source, value) => {
    expect(evaluate(source, variables)).toBe(value);
  });

  it('have scalars in sets, objects in maps', () => {
    expect(() => evaluate('nested + ["c"] == ab', variables)).toThrow('only supported on lists of scalar values');
    expect(() => evaluate('web + ["c"]', variables)).toThrow('expected an object');
  });

  it('keep the order of what they had', () => {
    expect(textOf(evaluate('ba + ["c", "b", "d"]', variables))).toBe('["b", "a", "c", "d"]');
  });
});
