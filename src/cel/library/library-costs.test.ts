import { describe, expect, it } from 'vitest';
import { bytesType, intType, listType, opaqueType, stringType } from '../types.ts';
import { Double, EntriesValue, ListValue, OptionalValue, type Value } from '../values.ts';
import { listsLibrary } from './lists.ts';
import { regexLibrary } from './regex.ts';
import { setsLibrary } from './sets.ts';
import { standardLibrary } from './standard.ts';
import { stringsLibrary } from './strings.ts';
import { callOf, costOf, estimateOf } from './testing/calls.ts';

const unbounded = 2 ** 64;
const all = {
  name: 'all',
  functions: {
    ...standardLibrary.functions,
    'strings.quote': stringsLibrary.functions['strings.quote'] ?? [],
    ...Object.fromEntries(
      [stringsLibrary, listsLibrary, setsLibrary, regexLibrary].flatMap(({ name, functions }) =>
        Object.entries(functions).map(([key, of]) => [`${name} ${key}`, of] as const),
      ),
    ),
  },
};
const call = callOf(all);
const cost = costOf(all);
const estimate = estimateOf(all);
const list = (...values: Value[]) => new ListValue(values);
const a = (count: number) => 'a'.repeat(count);

// A code point costs a tenth, rounded up for each operand that is read; regular expressions a quarter.
describe('costs of calls', () => {
  it.each<[string, Value[], number]>([
    ['add_int64', [1, 2], 1],
    ['add_string', [a(11), a(10)], 3],
    ['add_string', ['', ''], 0],
    ['add_bytes', [new Uint8Array(10), new Uint8Array(1)], 2],
    ['add_list', [list(1, 2), list(3)], 1],
    ['equals', [1, 2], 1],
    ['equals', [1, ''], 0],
    ['equals', [a(100), a(11)], 2],
    ['equals', ['\u{1f600}'.repeat(10), '\u{1f600}'.repeat(10)], 1],
    ['equals', [list(...Array.from({ length: 11 }, () => 1)), list(...Array.from({ length: 20 }, () => 1))], 2],
    ['equals', [new EntriesValue([]), new EntriesValue([])], 0],
    ['equals', [new OptionalValue(a(20)), new OptionalValue(a(30))], 2],
    ['not_equals', [a(20), a(30)], 2],
    ['less_string', [a(20), a(30)], 2],
    ['less_double', [new Double(1), new Double(2)], 1],
    ['in_list', [1, list(1, 2, 3)], 3],
    ['in_map', ['a', new EntriesValue([['a', 1]])], 1],
    ['size_string', [a(100)], 1],
    ['starts_with_string', [a(101), 'a'], 11],
    ['ends_with_string', [a(100), a(50)], 10],
    ['contains_string', [a(101), a(11)], 22],
    ['matches_string', [a(9), a(5)], 2],
    ['matches_string', [a(10), a(4)], 2],
    ['matches_string', ['', a(4)], 1],
    ['string_to_bytes', [a(11)], 2],
    ['bytes_to_string', [new Uint8Array(20)], 2],
    ['int64_to_string', [1], 1],
    ['strings_quote', [a(11)], 2],
    ['string_char_at_int', [a(100), 3], 1],
    ['string_lower_ascii', [a(11)], 2],
    ['string_substring_int_int', [a(11), 0, 1], 2],
    ['string_trim', [a(10)], 1],
    ['string_replace_string_string', [a(11), 'b', 'c'], 3],
    ['string_split_string', [a(10), ','], 2],
    ['list_join_string', [list(a(5), a(5)), ','], 3],
    ['string_index_of_string', [a(19), 'b'], 1],
    ['string_index_of_string', ['é'.repeat(10), 'b'], 2],
    ['string_format', [`%s${a(9)}`, list(1)], 2],
    ['list_int_sum_int', [list(1, 2, 3)], 3],
    ['list_string_max_string', [list(a(19), a(20))], 3],
    ['list_a_index_of_int', [list(list(1, 2), list(3)), 1], 3],
    ['list_sets_contains_list', [list(1, 2), list(1, 2, 3)], 7],
    ['list_sets_equivalent_list', [list(1, 2), list(1, 2, 3)], 13],
    ['string_find_string', [a(19), a(8)], 4],
    ['string_find_all_string_int', [a(20), a(9), 1], 9],
  ])('%s of %o is %i', (id, args, expected) => {
    expect(cost(id, ...args)).toBe(expected);
  });
  it('grow with results that are much longer than the arguments', () => {
    expect(cost('string_replace_string_string', a(100), 'a', a(100))).toBe(1000);
    expect(cost('string_format', '%s', list(list(a(1000))))).toBe(Math.ceil((1000 + 4) / 10));
  });
  it.each<[string, Value[], number]>([
    ['size_string', [a(100_000)], 1],
    ['string_to_double', ['1'.repeat(10_000)], 100],
    ['string_to_int64', ['1'.repeat(10)], 1],
    ['string_char_at_int', [a(5000), 1], 50],
    ['string_find_all_string', [a(1000), 'a'], 999],
  ])('%s of what is very long grows with it', (id, args, expected) => {
    if (id === 'string_to_double') expect(() => call(id, ...args)).toThrow();
    const overload = Object.values(all.functions)
      .flat()
      .find((one) => one.id === id);
    expect(overload?.cost?.(args, id === 'string_to_double' ? null : call(id, ...args)) ?? 1).toBe(expected);
  });
  it('grow with the program of a pattern that has counted repetitions', () => {
    expect(cost('matches_string', a(99), '^[a-z]{0,10}$')).toBe(10 * 4);
    expect(cost('matches_string', a(99), '^(a?){900}$')).toBeGreaterThan(600);
    expect(cost('matches', a(99), '^[a-z]{0,10}$')).toBe(10 * 4);
  });
  it('are known for invalid patterns too', () => {
    const overload = standardLibrary.functions['matches']?.[1];
    expect(() => call('matches_string', 'a', 'a{1001}')).toThrow('invalid repeat count');
    expect(overload?.cost?.(['a', 'a{1001}'], null)).toBe(2);
  });
});

describe('estimates of calls', () => {
  const size = (min: number, max: number) => ({ min, max });
  const strings = { type: listType(stringType), size: size(0, 10) };
  it.each<[string, Parameters<typeof estimate>[1][], object]>([
    ['add_int64', [size(1, 1), size(1, 1)], { cost: size(1, 1) }],
    ['add_string', [size(0, 11), size(5, 10)], { cost: size(1, 3), resultSize: size(5, 21) }],
    [
      'add_string',
      [size(0, unbounded), size(5, 10)],
      { cost: size(1, unbounded / 10), resultSize: size(5, unbounded) },
    ],
    ['add_list', [size(1, 2), size(3, 4)], { cost: size(1, 1), resultSize: size(4, 6) }],
    ['equals', [size(0, 100), size(0, 11)], { cost: size(1, 2) }],
    ['equals', [size(0, 0), size(0, 11)], { cost: size(0, 0) }],
    ['equals', [{ type: opaqueType('x') }, { type: opaqueType('x') }], { cost: size(1, 1) }],
    ['not_equals', [size(1, 1), size(1, 1)], { cost: size(1, 1) }],
    ['less_string', [size(0, 100), size(0, 50)], { cost: size(1, 5) }],
    ['in_list', [size(1, 1), size(2, 7)], { cost: size(2, 7) }],
    ['in_map', [size(1, 1), size(2, 7)], { cost: size(1, 1) }],
    ['starts_with_string', [size(0, 1000), size(3, 20)], { cost: size(1, 2) }],
    ['contains_string', [size(0, 100), size(3, 20)], { cost: size(0, 20) }],
    ['matches_string', [size(0, 99), size(20, 20)], { cost: size(5, 50) }],
    ['matches', [size(0, 99), size(20, 20)], { cost: size(1, 1) }],
    ['string_to_bytes', [size(2, 10)], { cost: size(1, 1), resultSize: size(2, 40) }],
    ['bytes_to_string', [size(9, 10)], { cost: size(1, 1), resultSize: size(2, 10) }],
    ['strings_quote', [size(2, 10)], { cost: size(1, 1), resultSize: size(4, 22) }],
    ['string_trim', [size(0, 30)], { cost: size(0, 3), resultSize: size(0, 30) }],
    ['string_char_at_int', [size(0, 30), size(1, 1)], { cost: size(1, 1) }],
    ['string_split_string', [size(0, 30), size(1, 1)], { cost: size(0, 6), resultSize: size(0, 30) }],
    [
      'string_split_string_int',
      [size(0, 30), size(1, 1), { literal: 3 }],
      { cost: size(0, 6), resultSize: size(0, 3) },
    ],
    [
      'string_replace_string_string',
      [size(0, 10), size(0, 1), size(2, 3)],
      { cost: size(0, 2), resultSize: size(0, 11 * 3 + 10) },
    ],
    [
      'string_replace_string_string',
      [size(4, 10), size(2, 2), size(3, 3)],
      { cost: size(1, 2), resultSize: size(4, 15) },
    ],
    [
      'string_replace_string_string',
      [size(4, 10), size(3, 4), size(1, 2)],
      { cost: size(1, 2), resultSize: size(1, 10) },
    ],
    ['list_join', [{ ...strings, elementSize: size(0, 5) }], { cost: size(0, 5), resultSize: size(0, 50) }],
    [
      'list_join_string',
      [{ ...strings, elementSize: size(0, 5) }, size(2, 2)],
      { cost: size(0, 7), resultSize: size(0, 68) },
    ],
    ['string_index_of_string', [{ type: stringType, size: size(0, 100) }, size(1, 1)], { cost: size(0, 10) }],
    ['list_int_sum_int', [{ type: listType(intType), size: size(0, 8) }], { cost: size(0, 8) }],
    [
      'list_bytes_min_bytes',
      [{ type: listType(bytesType), size: size(1, 8), elementSize: size(0, 20) }],
      { cost: size(1, 24) },
    ],
    ['list_string_min_string', [{ ...strings }], { cost: size(0, unbounded) }],
    ['list_sets_contains_list', [size(1, 2), size(3, 4)], { cost: size(4, 9) }],
    ['list_sets_equivalent_list', [size(1, 2), size(3, 4)], { cost: size(7, 17) }],
    ['string_find_all_string', [size(0, 99), size(8, 8)], { cost: size(2, 20), resultSize: size(0, 99) }],
    ['string_format', [size(11, 11), size(1, 1)], { cost: size(2, 2) }],
  ])('%s of %j is %j', (id, args, expected) => {
    expect(estimate(id, ...args)).toEqual(expected);
  });
});
