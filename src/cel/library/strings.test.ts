import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { check } from '../check/check.ts';
import { createEnvironment } from '../check/environment.ts';
import { ExpressionError } from '../check/error.ts';
import { Double, Duration, EntriesValue, ListValue, Timestamp, TypeValue, Uint, type Value } from '../values.ts';
import { optionalsLibrary } from './optionals.ts';
import { standardLibrary } from './standard.ts';
import { stringsLibrary, stringsLibrary4 } from './strings.ts';
import { callOf } from './testing/calls.ts';

const call = callOf(stringsLibrary);
const call4 = callOf(stringsLibrary4);
const list = (...values: Value[]) => new ListValue(values);
const outcome = (id: string, ...args: Value[]): unknown => {
  try {
    const result = call(id, ...args);
    return result instanceof ListValue ? Array.from({ length: result.size }, (_, i) => result.get(i)) : result;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : thrown;
  }
};

describe('functions of strings', () => {
  it.each<[string, Value[], unknown]>([
    ['string_char_at_int', ['tacocat', 3], 'o'],
    ['string_char_at_int', ['tacocat', 7], ''],
    ['string_char_at_int', ['©αT', 0], '©'],
    ['string_char_at_int', ['a\u{1f600}b', 2], 'b'],
    ['string_char_at_int', ['tacocat', 30], 'index out of range: 30'],
    ['string_char_at_int', ['tacocat', -1], 'index out of range: -1'],
    ['string_index_of_string', ['tacocat', 'ac'], 1],
    ['string_index_of_string', ['tacocat', 'none'], -1],
    ['string_index_of_string', ['tacocat', ''], 0],
    ['string_index_of_string', ['\u{1f600}\u{1f600}x', 'x'], 2],
    ['string_index_of_string_int', ['tacocat', 'a', 3], 5],
    ['string_index_of_string_int', ['tacocat', 'a', 20], -1],
    ['string_index_of_string_int', ['tacocat', 'a', -1], 'index out of range: -1'],
    ['string_last_index_of_string', ['tacocat', 'at'], 5],
    ['string_last_index_of_string', ['tacocat', ''], 7],
    ['string_last_index_of_string', ['at', 'tacocat'], -1],
    ['string_last_index_of_string_int', ['tacocat', 'a', 3], 1],
    ['string_last_index_of_string_int', ['tacocat', 'a', 30], -1],
    ['string_last_index_of_string_int', ['tacocat', 'a', -1], 'index out of range: -1'],
    ['string_lower_ascii', ['TacoCÆt'], 'tacocÆt'],
    ['string_upper_ascii', ['tacoCæt'], 'TACOCæT'],
    ['string_replace_string_string', ['12 days 12 hours', '{0}', '2'], '12 days 12 hours'],
    ['string_replace_string_string', ['a$b$', '$', '$&'], 'a$&b$&'],
    ['string_replace_string_string', ['ab', '', '-'], '-a-b-'],
    ['string_replace_string_string_int', ['{0} days {0} hours', '{0}', '2', 1], '2 days {0} hours'],
    ['string_replace_string_string_int', ['1 ©αT', 'αT', 'o©α', -1], '1 ©o©α'],
    ['string_replace_string_string_int', ['aaa', 'a', 'b', 0], 'aaa'],
    ['string_replace_string_string_int', ['abc', '', '-', 2], '-a-bc'],
    ['string_split_string', ['hello world', ' '], ['hello', 'world']],
    ['string_split_string', ['', ','], ['']],
    ['string_split_string', ['', ''], []],
    ['string_split_string', ['a\u{1f600}', ''], ['a', '\u{1f600}']],
    ['string_split_string_int', ['o©o©o', '©', 0], []],
    ['string_split_string_int', ['o©o©o', '©', 1], ['o©o©o']],
    ['string_split_string_int', ['o©o©o', '©', 2], ['o', 'o©o']],
    ['string_split_string_int', ['o©o©o', '©', -1], ['o', 'o', 'o']],
    ['string_split_string_int', ['abc', '', 2], ['a', 'bc']],
    ['string_substring_int', ['tacocat', 4], 'cat'],
    ['string_substring_int', ['tacocat', 7], ''],
    ['string_substring_int', ['tacocat', 40], 'index out of range: 40'],
    ['string_substring_int_int', ['ta©o©αT', 2, 6], '©o©α'],
    ['string_substring_int_int', ['tacocat', -1, 3], 'index out of range: -1'],
    ['string_substring_int_int', ['tacocat', 1, 50], 'index out of range: 50'],
    ['string_substring_int_int', ['tacocat', 49, 1], 'invalid substring range. start: 49, end: 1'],
    ['string_trim', [' \f\n\r\t\vte xt \u00a0\u0085\u2003'], 'te xt'],
    ['string_trim', ['\ufeffx'], '\ufeffx'],
    ['list_join', [list('x', 'y')], 'xy'],
    ['list_join_string', [list('x', 'y'), '-'], 'x-y'],
    ['list_join_string', [list(), '-'], ''],
    ['list_join', [list('x', 1)], 'join: invalid input: expected a string'],
    ['strings_quote', ['a\n"b"\\\x07é\u{1f600}'], '"a\\n\\"b\\"\\\\\\aé\u{1f600}"'],
    ['strings_quote', ['\ud800x'], '"\ufffdx"'],
  ])('%s of %j is %j', (id, args, expected) => {
    expect(outcome(id, ...args)).toEqual(expected);
  });
  it('reverses by code point', () => {
    expect(call4('string_reverse', 'a\u{1f600}b')).toBe('b\u{1f600}a');
  });
  it('refuses results that are much longer than their arguments', () => {
    expect(() => call('string_replace_string_string', 'a'.repeat(10_000), '', 'b'.repeat(10_000))).toThrow(
      'the result is longer than 4000000 characters',
    );
    expect(() => call('string_split_string', 'a'.repeat(400_001), '')).toThrow('the list is too large');
    expect(() => call('string_split_string', 'a'.repeat(400_000), 'a')).toThrow('the list is too large');
    const long = list(...Array.from({ length: 10_000 }, () => 'a'));
    expect(() => call('list_join_string', long, 'b'.repeat(10_000))).toThrow('the result is longer');
    const nested = list(...Array.from({ length: 1000 }, () => long));
    expect(() => call('string_format', '%s', list(nested))).toThrow('the result is too long');
  });

  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\uffff', '\u{1f600}', '\u{10000}'), maxLength: 6 });
  it('agrees with definitions over the code points', () => {
    const at = (from: string[], part: string[], i: number) => part.every((point, j) => from[i + j] === point);
    fc.assert(
      fc.property(text, text, fc.nat(7), fc.nat(7), (from, part, i, j) => {
        const points = Array.from(from);
        const parts = Array.from(part);
        expect(outcome('string_char_at_int', from, i)).toBe(
          i > points.length ? `index out of range: ${i}` : (points[i] ?? ''),
        );
        if (i <= j && j <= points.length) {
          expect(call('string_substring_int_int', from, i, j)).toBe(points.slice(i, j).join(''));
        }
        if (parts.length === 0) return;
        const found = points.map((_, k) => k).filter((k) => at(points, parts, k));
        expect(call('string_index_of_string', from, part)).toBe(found[0] ?? -1);
        expect(call('string_last_index_of_string', from, part)).toBe(found.at(-1) ?? -1);
        expect(call('string_index_of_string_int', from, part, i)).toBe(found.find((k) => k >= i) ?? -1);
        const before = i >= points.length ? -1 : (found.findLast((k) => k <= i) ?? -1);
        expect(call('string_last_index_of_string_int', from, part, i)).toBe(before);
      }),
    );
  });
});

describe('format', () => {
  const d = (value: number) => new Double(value);
  const nested = list('abc', d(3.14), null, list(9, 8), new Timestamp(1_675_467_080, 0));
  const map = new EntriesValue([
    ['key2', new Duration(7_200_000_000_000n)],
    ['key1', new TextEncoder().encode('xyz')],
    [1, d(Number.NaN)],
  ]);
  it.each<[string, Value[], string, string?]>([
    ['no substitution', [], 'no substitution'],
    ['%s%%', ['x'], 'x%'],
    ['%d %s', [1, 'A'], '1 A'],
    ['%.3f', [d(1.2345)], '1.234'],
    ['%.0f', [d(2.5)], '2'],
    ['%.2f', [d(-1234567.891)], '-1,234,567.89', '-1234567.89'],
    ['%f', [d(2.71829)], '2.718290'],
    ['%.1f', [d(1e22)], '10,000,000,000,000,000,000,000.0', '10000000000000000000000.0'],
    ['%.6e', [d(1052.032911275)], '1.052033\u202f×\u202f10⁰³', '1.052033e+03'],
    ['%.0e', [d(9.5)], '1\u202f×\u202f10⁰¹', '1e+01'],
    ['%e', [d(0)], '0.000000\u202f×\u202f10⁰⁰', '0.000000e+00'],
    ['%.2e', [d(5e-324)], '4.94\u202f×\u202f10⁻³²⁴', '4.94e-324'],
    ['%f', [d(-Infinity)], '-∞', '-Infinity'],
    ['%b %b %b', [5, -5, true], '101 -101 1'],
    ['%o', [new Uint(65535n)], '177777'],
    ['%x %X', [30, 30], '1e 1E'],
    ['%x', ['Hello'], '48656c6c6f'],
    ['%X', [Uint8Array.of(0, 255)], '00FF'],
    ['%s', [999_999_999_999], '999999999999'],
    ['%s', [d(2e-9)], '2e-09', '0.000000002'],
    ['%s', [d(Infinity)], '+Inf', 'Infinity'],
    ['%s', [new TypeValue('string')], 'string'],
    ['%s', [new Timestamp(1_675_467_080, 0, 3600)], '2023-02-04T00:31:20+01:00', '2023-02-03T23:31:20Z'],
    [
      '%s',
      [nested],
      '["abc", 3.140000, null, [9, 8], timestamp("2023-02-03T23:31:20Z")]',
      '[abc, 3.14, null, [9, 8], 2023-02-03T23:31:20Z]',
    ],
    ['%s', [map], '{"key1":b"xyz", "key2":duration("7200s"), 1:"NaN"}', '{1: NaN, key1: xyz, key2: 7200s}'],
  ])('%j', (template, args, quoted, plain = quoted) => {
    expect(call('string_format', template, list(...args))).toBe(quoted);
    expect(call4('string_format', template, list(...args))).toBe(plain);
  });
  it.each<[string, Value[], string]>([
    ['%a', [1], 'could not parse formatting clause: unrecognized formatting clause "a"'],
    ['%d %d', [0], 'index 1 out of range'],
    ['100%', [1], 'unexpected end of string'],
    ['%.5', [1], 'error while parsing precision: could not find end of precision specifier'],
    ['%.101f', [d(1)], 'error while parsing precision: precision 101 exceeds maximum allowed precision 100'],
    ['%b', ['x'], 'error during formatting: only integers and bools can be formatted as binary, was given string'],
    ['%d', [null], 'error during formatting: decimal clause can only be used on integers, was given null_type'],
    ['%e', [1], 'error during formatting: scientific clause can only be used on doubles, was given int'],
    ['%f', ['x'], 'error during formatting: fixed-point clause can only be used on doubles, was given string'],
    ['%o', [d(1)], 'octal clause can only be used on integers, was given double'],
    ['%x', [true], 'only integers, byte buffers, and strings can be formatted as hex, was given bool'],
  ])('%j fails', (template, args, message) => {
    expect(() => call('string_format', template, list(...args))).toThrow(message);
  });

  it.each<[string, string]>([
    ['"%d %s %f".format([1, "a", 1.5])', ''],
    ['"%s".format([dyn(1)])', ''],
    ['"%s".format([{"a": [1, duration("1s")]}])', ''],
    ['"%x".format([b"a"])', ''],
    ['"%a".format([1])', '11: could not parse formatting clause: unrecognized formatting clause "a"'],
    ['"%d %d".format([1])', '14: index 1 out of range'],
    ['"%d".format([1, 2])', '11: too many arguments supplied to string.format (expected 1, got 2)'],
    [
      '"%d".format(["a"])',
      '13: error during formatting: decimal clause can only be used on integers, was given string',
    ],
    [
      '"%b".format([1.5])',
      '13: error during formatting: only integers and bools can be formatted as binary, was given double',
    ],
    ['"%s".format([[optional.none()]])', 'was given optional_type'],
    ['"%e".format([1])', '13: error during formatting: scientific clause can only be used on doubles, was given int'],
  ])('%s is checked where its arguments are literals', (source, message) => {
    const environment = createEnvironment({
      variables: [],
      libraries: [standardLibrary, optionalsLibrary, stringsLibrary],
    });
    let found = '';
    try {
      check(environment, source);
    } catch (thrown) {
      if (!(thrown instanceof ExpressionError)) throw thrown;
      found = thrown.issues.map(({ offset, message: text }) => `${offset}: ${text}`).join('; ');
    }
    if (message === '') expect(found).toBe('');
    else expect(found).toContain(message);
  });
});
