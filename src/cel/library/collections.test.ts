import { describe, expect, it } from 'vitest';
import { encodersLibrary } from '../testing/encoders.ts';
import { mathLibrary } from '../testing/math.ts';
import { Double, Duration, ListValue, Uint, type Value } from '../values.ts';
import { listsLibrary } from './lists.ts';
import { setsLibrary } from './sets.ts';
import { callOf } from './testing/calls.ts';

const list = (...values: Value[]) => new ListValue(values);
const u = (value: bigint | number) => new Uint(BigInt(value));
const d = (value: number) => new Double(value);
const min = -(2n ** 63n);
const max = 2n ** 63n - 1n;

const cases = (
  library: Parameters<typeof callOf>[0],
  rows: readonly [string, Value[], Value | { fails: string }][],
) => {
  const call = callOf(library);
  it.each(rows)('%s of %o is %o', (id, args, expected) => {
    if (typeof expected === 'object' && expected !== null && 'fails' in expected) {
      expect(() => call(id, ...args)).toThrow(expected.fails);
    } else expect(call(id, ...args)).toStrictEqual(expected);
  });
};

describe('functions of lists', () => {
  cases(listsLibrary, [
    ['list_int_is_sorted_bool', [list(1, 2, 2, 3)], true],
    ['list_double_is_sorted_bool', [list(d(2), d(1))], false],
    ['list_string_is_sorted_bool', [list()], true],
    ['list_double_is_sorted_bool', [list(d(2), d(Number.NaN), d(1))], true],
    ['list_int_sum_int', [list(1, 3)], 4],
    ['list_int_sum_int', [list()], 0],
    ['list_int_sum_int', [list(max, 1)], { fails: 'integer overflow' }],
    ['list_uint_sum_uint', [list(u(1), u(2))], u(3)],
    ['list_uint_sum_uint', [list(u(1), 2)], { fails: 'no such overload' }],
    ['list_int_sum_int', [list(1, 'a')], { fails: 'no such overload' }],
    ['list_double_sum_double', [list(d(1), d(2), null)], { fails: 'no such overload' }],
    ['list_duration_sum_duration', [list(new Duration(1n), u(1))], { fails: 'no such overload' }],
    ['list_double_sum_double', [list(d(0.5), d(1))], d(1.5)],
    ['list_duration_sum_duration', [list(new Duration(1n), new Duration(2n))], new Duration(3n)],
    ['list_int_min_int', [list(3, 1, 2)], 1],
    ['list_string_max_string', [list('a', '\uffff', '\u{10000}')], '\u{10000}'],
    ['list_int_min_int', [list()], { fails: 'min called on empty list' }],
    ['list_int_max_int', [list()], { fails: 'max called on empty list' }],
    ['list_a_index_of_int', [list(1, 2, 2), 2], 1],
    ['list_a_index_of_int', [list(1, 2, 2), d(2)], 1],
    ['list_a_last_index_of_int', [list(1, 2, 2), 2], 2],
    ['list_a_last_index_of_int', [list(1), 'x'], -1],
  ]);
});

describe('sets', () => {
  cases(setsLibrary, [
    ['list_sets_contains_list', [list(1, 2), list(2, 2)], true],
    ['list_sets_contains_list', [list(), list(1)], false],
    ['list_sets_contains_list', [list(), list()], true],
    ['list_sets_equivalent_list', [list(1, u(1), d(1)), list(1)], true],
    ['list_sets_equivalent_list', [list(1, 2), list(1)], false],
    ['list_sets_intersects_list', [list(1, 2), list(2, 3)], true],
    ['list_sets_intersects_list', [list(), list()], false],
  ]);
});

describe('mathematical functions', () => {
  cases(mathLibrary, [
    ['math_@min_int_int', [2, 1], 1],
    ['math_@min_int_double', [1, d(1)], 1],
    ['math_@max_uint_double', [u(1), d(1.5)], d(1.5)],
    ['math_@max_int_int', [max, min], max],
    ['math_@max_list_int', [list(1, 3, 2)], 3],
    ['math_@min_list_int', [list()], { fails: 'math.@min(list) argument must not be empty' }],
    ['math_ceil_double', [d(1.2)], d(2)],
    ['math_floor_double', [d(-1.2)], d(-2)],
    ['math_trunc_double', [d(-1.9)], d(-1)],
    ['math_round_double', [d(-1.5)], d(-2)],
    ['math_round_double', [d(0.49999999999999994)], d(0)],
    ['math_round_double', [d(2251799813685249.5)], d(2251799813685250)],
    ['math_round_double', [d(Infinity)], d(Infinity)],
    ['math_round_double', [d(Number.NaN)], d(Number.NaN)],
    ['math_isInf_double', [d(-Infinity)], true],
    ['math_isNaN_double', [d(Number.NaN)], true],
    ['math_isFinite_double', [d(Number.NaN)], false],
    ['math_abs_int', [min], { fails: 'integer overflow' }],
    ['math_abs_int', [-max], max],
    ['math_abs_double', [d(-1.5)], d(1.5)],
    ['math_sign_int', [-3], -1],
    ['math_sign_uint', [u(3)], u(1)],
    ['math_sign_double', [d(-0)], d(0)],
    ['math_sqrt_int', [81], d(9)],
    ['math_sqrt_double', [d(-1)], d(Number.NaN)],
    ['math_bitAnd_int_int', [-1, 5], 5],
    ['math_bitOr_uint_uint', [u(1), u(2)], u(3)],
    ['math_bitXor_int_int', [max, -1], min],
    ['math_bitNot_int_int', [0], -1],
    ['math_bitNot_uint_uint', [u(0)], u(2n ** 64n - 1n)],
    ['math_bitShiftLeft_int_int', [1, 63], min],
    ['math_bitShiftLeft_int_int', [1, 64], 0],
    ['math_bitShiftLeft_int_int', [1, max], 0],
    ['math_bitShiftRight_int_int', [-1, 1], max],
    ['math_bitShiftRight_uint_int', [u(6), 1], u(3)],
    ['math_bitShiftLeft_uint_int', [u(1), -1], { fails: 'math.bitShiftLeft() negative offset: -1' }],
  ]);
});

describe('base64', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  cases(encodersLibrary, [
    ['base64_encode_bytes', [bytes('hello')], 'aGVsbG8='],
    ['base64_decode_string', ['aGVsbG8='], bytes('hello')],
    ['base64_decode_string', ['aGVsbG8'], bytes('hello')],
    ['base64_decode_string', ['aGVs\nbG8='], bytes('hello')],
    ['base64_decode_string', [''], bytes('')],
    ['base64_decode_string', ['aGVsbG8=='], { fails: 'illegal base64 data' }],
    ['base64_decode_string', ['a'], { fails: 'illegal base64 data at input byte 1' }],
    ['base64_decode_string', ['a-_b'], { fails: 'illegal base64 data at input byte 1' }],
  ]);
});
