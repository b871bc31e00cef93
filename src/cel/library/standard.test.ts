import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Double, Duration, ListValue, type Timestamp, TypeValue, Uint, type Value } from '../values.ts';
import { standardLibrary } from './standard.ts';
import { callOf } from './testing/calls.ts';

const call = callOf(standardLibrary);
const u = (value: bigint | number) => new Uint(BigInt(value));
const d = (value: number) => new Double(value);
const list = (...values: Value[]) => new ListValue(values);
const bytes = (text: string) => new TextEncoder().encode(text);
const time = (text: string) => call('string_to_timestamp', text) as Timestamp;
const span = (text: string) => call('string_to_duration', text) as Duration;
const min = -(2n ** 63n);
const max = 2n ** 63n - 1n;

describe('the standard library', () => {
  it('has each overload once', () => {
    const ids = Object.values(standardLibrary.functions).flatMap((overloads) => overloads.map(({ id }) => id));
    expect(ids.length).toBe(new Set(ids).size);
    expect(ids.length).toBe(159);
  });
});

describe('arithmetic of ints', () => {
  it.each<[string, Value, Value, Value | string]>([
    ['add_int64', 1, 2, 3],
    ['add_int64', Number.MAX_SAFE_INTEGER, 1, 2n ** 53n],
    ['add_int64', 2n ** 53n, -1, Number.MAX_SAFE_INTEGER],
    ['add_int64', max, 1, 'integer overflow'],
    ['subtract_int64', min, 1, 'integer overflow'],
    ['subtract_int64', 0, min, 'integer overflow'],
    ['multiply_int64', 3_037_000_500, 3_037_000_500, 'integer overflow'],
    ['multiply_int64', 3_037_000_499, 3_037_000_499, 9_223_372_030_926_249_001n],
    ['multiply_int64', min, -1, 'integer overflow'],
    ['multiply_int64', 0, -5, 0],
    ['divide_int64', 7, -2, -3],
    ['divide_int64', 0, -5, 0],
    ['divide_int64', 1, 0, 'division by zero'],
    ['divide_int64', min, -1, 'integer overflow'],
    ['modulo_int64', -43, 5, -3],
    ['modulo_int64', -5, 5, 0],
    ['modulo_int64', 1, 0, 'modulus by zero'],
    ['modulo_int64', min, -1, 'integer overflow'],
    ['add_uint64', u(1), u(2), u(3)],
    ['add_uint64', u(2n ** 64n - 1n), u(1), 'unsigned integer overflow'],
    ['subtract_uint64', u(0), u(1), 'unsigned integer overflow'],
    ['multiply_uint64', u(2n ** 32n), u(2n ** 32n), 'unsigned integer overflow'],
    ['divide_uint64', u(1), u(0), 'division by zero'],
    ['modulo_uint64', u(1), u(0), 'modulus by zero'],
  ])('%s of %o and %o', (id, a, b, expected) => {
    if (typeof expected === 'string') expect(() => call(id, a, b)).toThrow(expected);
    else expect(call(id, a, b)).toStrictEqual(expected);
  });
  it('negates all but the least int', () => {
    expect(call('negate_int64', 0)).toBe(0);
    expect(call('negate_int64', max)).toBe(-max);
    expect(() => call('negate_int64', min)).toThrow('integer overflow');
  });

  const int = fc
    .oneof(fc.bigInt({ min, max }), fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }), fc.bigInt({ min: -9n, max: 9n }))
    .map((exact) => ({
      exact,
      value: exact === BigInt(Number(exact)) && Number.isSafeInteger(Number(exact)) ? Number(exact) : exact,
    }));
  it.each([
    ['add_int64', (a: bigint, b: bigint) => a + b],
    ['subtract_int64', (a: bigint, b: bigint) => a - b],
    ['multiply_int64', (a: bigint, b: bigint) => a * b],
    ['divide_int64', (a: bigint, b: bigint) => a / b],
    ['modulo_int64', (a: bigint, b: bigint) => a % b],
  ])('%s is exact, or overflows where 64 bits do not hold the result', (id, operator) => {
    fc.assert(
      fc.property(int, int, (a, b) => {
        let expected: bigint | undefined;
        if (b.exact !== 0n || !/divide|modulo/.test(id)) expected = operator(a.exact, b.exact);
        if (id === 'modulo_int64' && a.exact === min && b.exact === -1n) expected = undefined;
        if (expected === undefined || BigInt.asIntN(64, expected) !== expected) {
          expect(() => call(id, a.value, b.value)).toThrow(/integer overflow|by zero/);
        } else {
          const result = call(id, a.value, b.value);
          expect(BigInt(result as bigint)).toBe(expected);
          expect(typeof result).toBe(Number.isSafeInteger(Number(expected)) ? 'number' : 'bigint');
          expect(Object.is(result, -0)).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('arithmetic of timestamps and durations', () => {
  it.each<[string, Value, Value, Value | string]>([
    ['add_timestamp_duration', time('2009-02-13T23:31:30Z'), span('-1.5s'), time('2009-02-13T23:31:28.5Z')],
    ['add_duration_timestamp', span('1h'), time('1969-12-31T23:59:59.75Z'), time('1970-01-01T00:59:59.75Z')],
    ['add_timestamp_duration', time('9999-12-31T23:59:59Z'), span('1s'), 'timestamp overflow'],
    ['subtract_timestamp_duration', time('0001-01-01T00:00:00Z'), span('1ns'), 'timestamp overflow'],
    ['subtract_timestamp_timestamp', time('2009-02-13T23:31:31Z'), time('2009-02-13T23:31:30.5Z'), span('500ms')],
    ['subtract_timestamp_timestamp', time('9999-01-01T00:00:00Z'), time('0001-01-01T00:00:00Z'), 'integer overflow'],
    ['add_duration_duration', new Duration(max), new Duration(1n), 'integer overflow'],
    ['subtract_duration_duration', new Duration(min), new Duration(1n), 'integer overflow'],
  ])('%s', (id, a, b, expected) => {
    if (typeof expected === 'string') expect(() => call(id, a, b)).toThrow(expected);
    else expect(call(id, a, b)).toEqual(expected);
  });
});

describe('order', () => {
  it.each<[string, Value, Value, boolean]>([
    ['less_int64', 1, 2, true],
    ['less_int64', 2n ** 62n, 2n ** 62n + 1n, true],
    ['less_int64_uint64', -1, u(0), true],
    ['less_uint64_int64', u(2n ** 64n - 1n), max, false],
    ['less_double_int64', d(0.5), 1, true],
    ['less_int64_double', 1, d(Infinity), true],
    ['greater_uint64_double', u(1), d(-Infinity), true],
    ['less_string', '\u{1f600}', '\uffff', false],
    ['less_string', 'a', 'ab', true],
    ['greater_equals_string', 'é', 'z', true],
    ['less_bytes', bytes('a'), bytes('b'), true],
    ['less_bool', false, true, true],
    ['less_equals_timestamp', time('1970-01-01T00:00:00.5Z'), time('1970-01-01T00:00:00.500Z'), true],
    ['greater_duration', span('1m'), span('59s'), true],
  ])('%s of %o and %o is %o', (id, a, b, expected) => {
    expect(call(id, a, b)).toBe(expected);
  });
  it('does not exist for NaN', () => {
    expect(() => call('less_double', d(Number.NaN), d(1))).toThrow('NaN values cannot be ordered');
  });
  it('of strings is that of their code points', () => {
    const codes = (text: string) => Array.from(text, (character) => character.codePointAt(0) ?? 0);
    const isBefore = (a: number[], b: number[]): boolean =>
      a.length === 0
        ? b.length > 0
        : b.length > 0 && (a[0] === b[0] ? isBefore(a.slice(1), b.slice(1)) : a[0]! < b[0]!);
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{1f600}'),
      maxLength: 4,
    });
    fc.assert(fc.property(text, text, (a, b) => call('less_string', a, b) === isBefore(codes(a), codes(b))));
  });
});

describe('sizes and membership', () => {
  it.each<[string, Value, number]>([
    ['size_string', 'a\u{1f600}é', 3],
    ['string_size', '', 0],
    ['size_bytes', bytes('é'), 2],
    ['list_size', list(1, 2), 2],
  ])('%s of %o is %i', (id, value, size) => {
    expect(call(id, value)).toBe(size);
  });
  it('finds elements that are equal, numbers of any type', () => {
    expect(call('in_list', d(2), list(1, 2))).toBe(true);
    expect(call('in_list', 'x', list(1, 2))).toBe(false);
  });
});

describe('conversions', () => {
  it.each<[string, Value, Value | undefined, string?]>([
    ['string_to_int64', '-9223372036854775808', min],
    ['string_to_int64', '+7', 7],
    ['string_to_int64', '9223372036854775808', undefined, "type conversion error from 'string' to 'int'"],
    ['string_to_int64', '1.0', undefined, "type conversion error from 'string' to 'int'"],
    ['string_to_int64', '1'.repeat(100_000), undefined, "type conversion error from 'string' to 'int'"],
    ['string_to_uint64', '18446744073709551615', u(2n ** 64n - 1n)],
    ['string_to_uint64', '+1', undefined, "type conversion error from 'string' to 'uint'"],
    ['double_to_int64', d(-7.9), -7],
    ['double_to_int64', d(-0.5), 0],
    ['double_to_int64', d(2 ** 63), undefined, 'integer overflow'],
    ['double_to_int64', d(-(2 ** 63)), undefined, 'integer overflow'],
    ['double_to_int64', d(Number.NaN), undefined, 'integer overflow'],
    ['double_to_uint64', d(1.8446744073709552e19), undefined, 'unsigned integer overflow'],
    ['double_to_uint64', d(-1), undefined, 'unsigned integer overflow'],
    ['int64_to_uint64', -1, undefined, 'unsigned integer overflow'],
    ['uint64_to_int64', u(2n ** 63n), undefined, 'integer overflow'],
    ['int64_to_double', 2n ** 53n + 1n, d(2 ** 53)],
    ['string_to_double', '1e3', d(1000)],
    ['string_to_double', '-Infinity', d(-Infinity)],
    ['string_to_double', '1e999', undefined, "type conversion error from 'string' to 'double'"],
    ['string_to_double', '', undefined, "type conversion error from 'string' to 'double'"],
    ['string_to_double', `${'1'.repeat(200_000)}x`, undefined, "type conversion error from 'string' to 'double'"],
    ['string_to_double', '0x', undefined, "type conversion error from 'string' to 'double'"],
    ['string_to_bool', 'T', true],
    ['string_to_bool', 'False', false],
    ['string_to_bool', 'tRue', undefined, "type conversion error from 'string' to 'bool'"],
    ['bytes_to_string', bytes('é'), 'é'],
    ['bytes_to_string', Uint8Array.of(0xff), undefined, 'invalid UTF-8 in bytes, cannot convert to string'],
    ['string_to_bytes', 'é', bytes('é')],
    ['bool_to_string', true, 'true'],
    ['int64_to_string', min, '-9223372036854775808'],
    ['uint64_to_string', u(7), '7'],
    ['double_to_string', d(123.456), '123.456'],
    ['double_to_string', d(1), '1'],
    ['double_to_string', d(123456), '123456'],
    ['double_to_string', d(1e6), '1e+06'],
    ['double_to_string', d(1.5e300), '1.5e+300'],
    ['double_to_string', d(0.0001), '0.0001'],
    ['double_to_string', d(0.00001), '1e-05'],
    ['double_to_string', d(-0), '-0'],
    ['double_to_string', d(Infinity), '+Inf'],
    ['duration_to_string', span('1h30m'), '5400s'],
    ['duration_to_string', span('1.5ms'), '0.0015s'],
    ['duration_to_string', span('-1ns'), '-0.000000001s'],
    ['duration_to_int64', span('1us'), 1000],
    ['int64_to_duration', 1, undefined, "type conversion error from 'int' to 'google.protobuf.Duration'"],
    ['string_to_duration', '1', undefined, "type conversion error from 'string' to 'google.protobuf.Duration'"],
    ['timestamp_to_string', time('2009-02-13T23:31:30.120Z'), '2009-02-13T23:31:30.12Z'],
    ['timestamp_to_string', time('2009-02-13T23:31:30+05:30'), '2009-02-13T23:31:30+05:30'],
    ['timestamp_to_int64', time('1969-12-31T23:59:59.5Z'), -1],
    ['int64_to_timestamp', 253_402_300_800, undefined, 'timestamp overflow'],
    ['int64_to_timestamp', min, undefined, 'timestamp overflow'],
    ['int64_to_timestamp', -62_135_596_800, time('0001-01-01T00:00:00Z')],
    ['string_to_timestamp', '0000-12-31T23:59:59Z', undefined, 'timestamp overflow'],
    [
      'string_to_timestamp',
      '2009-02-30T00:00:00Z',
      undefined,
      "type conversion error from 'string' to 'google.protobuf.Timestamp'",
    ],
    [
      'string_to_timestamp',
      '2009-02-13',
      undefined,
      "type conversion error from 'string' to 'google.protobuf.Timestamp'",
    ],
    ['type', u(1), new TypeValue('uint')],
  ])('%s of %o', (id, value, expected, error = '') => {
    if (expected === undefined) expect(() => call(id, value)).toThrow(error);
    else expect(call(id, value)).toStrictEqual(expected);
  });
  it('reads doubles back from their texts', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) => {
        const text = call('double_to_string', d(value));
        expect((call('string_to_double', text) as Double).value).toBe(value);
      }),
    );
  });
});

describe('fields of timestamps', () => {
  const at = time('2009-02-13T23:31:30.123456Z');
  it.each<[string, number]>([
    ['timestamp_to_year', 2009],
    ['timestamp_to_month', 1],
    ['timestamp_to_day_of_year', 43],
    ['timestamp_to_day_of_month', 12],
    ['timestamp_to_day_of_month_1_based', 13],
    ['timestamp_to_day_of_week', 5],
    ['timestamp_to_hours', 23],
    ['timestamp_to_minutes', 31],
    ['timestamp_to_seconds', 30],
    ['timestamp_to_milliseconds', 123],
  ])('%s is %i in UTC', (id, expected) => {
    expect(call(id, at)).toBe(expected);
  });
  it.each<[string, string, number]>([
    ['timestamp_to_day_of_month_1_based_with_tz', '+05:30', 14],
    ['timestamp_to_hours_with_tz', '+05:30', 5],
    ['timestamp_to_minutes_with_tz', '-02:45', 46],
    ['timestamp_to_minutes_with_tz', '-00:30', 1],
    ['timestamp_to_hours_with_tz', '02:00', 1],
    ['timestamp_to_hours_with_tz', 'Asia/Kolkata', 5],
    ['timestamp_to_day_of_month_1_based_with_tz', 'Australia/Sydney', 14],
    ['timestamp_to_hours_with_tz', 'US/Central', 17],
    ['timestamp_to_seconds_tz', 'Europe/Zurich', 30],
    ['timestamp_to_hours_with_tz', '', 23],
    ['timestamp_to_milliseconds_with_tz', 'Asia/Kolkata', 123],
  ])('%s in %j is %i', (id, zone, expected) => {
    expect(call(id, at, zone)).toBe(expected);
  });
  it('follow the rules of a zone at the time', () => {
    expect(call('timestamp_to_hours_with_tz', time('2024-07-01T12:00:00Z'), 'Europe/Zurich')).toBe(14);
    expect(call('timestamp_to_hours_with_tz', time('2024-01-01T12:00:00Z'), 'Europe/Zurich')).toBe(13);
    expect(call('timestamp_to_year_with_tz', time('0001-01-01T00:00:00Z'), 'America/New_York')).toBe(0);
  });
  it.each([
    ['Nowhere/City', 'unknown time zone Nowhere/City'],
    ['+0530', 'unknown time zone +0530'],
    ['__proto__', 'unknown time zone __proto__'],
    ['a:b', 'strconv.Atoi: parsing "a": invalid syntax'],
    ['01:', 'strconv.Atoi: parsing "": invalid syntax'],
    ['99999999999999999999:00', 'strconv.Atoi: parsing "99999999999999999999": value out of range'],
    ['999999999999:00', 'timestamp overflow'],
  ])('fail in the zone %j', (zone, message) => {
    expect(() => call('timestamp_to_hours_with_tz', at, zone)).toThrow(message);
  });
  it('of durations are whole units', () => {
    expect(call('duration_to_hours', span('3723.456s'))).toBe(1);
    expect(call('duration_to_minutes', span('3723.456s'))).toBe(62);
    expect(call('duration_to_seconds', span('-3723.456s'))).toBe(-3723);
    expect(call('duration_to_milliseconds', span('3723.456s'))).toBe(3_723_456);
  });
});
