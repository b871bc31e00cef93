import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CelError, type Double, type Value } from '../values.ts';
import { QuantityValue, quantityLibrary, quantityOf } from './quantity.ts';
import { callOf } from './testing/calls.ts';

const call = callOf(quantityLibrary);
const quantity = (text: string) => call('string_to_quantity', text) as QuantityValue;
const integerOf = (value: Value) => call('quantity_get_int', value);
const floatOf = (value: Value) => (call('quantity_get_float', value) as Double).value;
const add = (a: QuantityValue, b: QuantityValue | number) =>
  call(b instanceof QuantityValue ? 'quantity_add' : 'quantity_add_int', a, b) as QuantityValue;
const sub = (a: QuantityValue, b: QuantityValue | number) =>
  call(b instanceof QuantityValue ? 'quantity_sub' : 'quantity_sub_int', a, b) as QuantityValue;

describe('quantity', () => {
  it.each([
    [
      '10Mo',
      /^quantities must match the regular expression '\^\(\[\+-\]\?\[0-9\.\]\+\)\(\[eEinumkKMGTP\]\*\[-\+\]\?\[0-9\]\*\)\$'$/,
    ],
    ['', /^quantities must match the regular expression/],
    ['10Mm', /^unable to parse quantity's suffix$/],
    ['.', /^unable to parse numeric part of quantity$/],
  ])('of %j fails', (text, message) => {
    expect(() => quantity(text)).toThrow(CelError);
    expect(() => quantity(text)).toThrow(message);
    expect(call('is_quantity_string', text)).toBe(false);
  });

  it.each(['20', '20M', '20Mi', '-1.5e3', '+.5'])('accepts %s', (text) => {
    expect(call('is_quantity_string', text)).toBe(true);
  });

  it.each([
    ['50k', 50_000],
    ['-3', -3],
    ['50.703k', 50_703],
    ['1e3', 1000],
    ['12Mi', 12 * 2 ** 20],
    ['0', 0],
    ['9223372036854775807', undefined],
    ['999999999999999999', 999_999_999_999_999_999n],
    ['9999999999999999999999999999999999999G', undefined],
    // A number with a fraction is not an integer, even where the fraction vanishes.
    ['1.0', undefined],
    ['1000m', undefined],
    ['1.5Ki', undefined],
    ['7Ei', undefined],
  ] as const)('%s as an integer is %s', (text, integer) => {
    const value = quantity(text);
    expect(call('quantity_is_integer', value)).toBe(integer !== undefined);
    if (integer === undefined) expect(() => integerOf(value)).toThrow(new CelError('cannot convert value to integer'));
    else expect(integerOf(value)).toBe(integer);
  });

  it.each([
    ['50.703k', 50_703],
    ['0.5', 0.5],
    // The digits times the power of ten, in floating point.
    ['0.3', 3 * 0.1],
    ['1.5Ki', 1536],
    ['-2m', -0.002],
    ['1e300', 1e300],
  ])('%s as a double is %s', (text, double) => {
    expect(floatOf(quantity(text))).toBe(double);
  });

  it.each([
    ['-1n', -1],
    ['0', 0],
    ['-0', 0],
    ['5Gi', 1],
  ])('sign(%s) is %s', (text, sign) => {
    expect(call('quantity_sign', quantity(text))).toBe(sign);
    expect(call('quantity_sign_member', quantity(text))).toBe(sign);
  });

  it.each([
    ['200M', '0.2G', 0],
    ['50M', '50Mi', -1],
    ['50Mi', '50M', 1],
    ['-1', '1', -1],
  ])('%s compared to %s is %s', (a, b, order) => {
    const [x, y] = [quantity(a), quantity(b)];
    expect(call('quantity_compare_to', x, y)).toBe(order);
    expect(call('quantity_is_less_than', x, y)).toBe(order < 0);
    expect(call('quantity_is_greater_than', x, y)).toBe(order > 0);
    expect(x.equals(y)).toBe(order === 0);
  });

  it('adds and subtracts quantities and integers', () => {
    expect(add(quantity('50k'), quantity('20')).equals(quantity('50.02k'))).toBe(true);
    expect(sub(quantity('50k'), 20).equals(quantity('49980'))).toBe(true);
    expect(integerOf(sub(sub(add(quantity('50k'), 20), quantity('100k')), -50_000))).toBe(20);
  });

  it('counts sums as integers when their operands fit in 64 bits as multiples of one', () => {
    expect(integerOf(add(quantity('1k'), quantity('1')))).toBe(1001);
    expect(() => integerOf(add(quantity('1'), quantity('1000m')))).toThrow(CelError);
    expect(() => integerOf(add(quantity('1.5Ki'), 1))).toThrow(CelError);
    expect(integerOf(add(quantity('0.0'), quantity('5')))).toBe(5);
    const large = quantity('9E');
    expect(integerOf(large)).toBe(9_000_000_000_000_000_000n);
    expect(() => integerOf(add(large, large))).toThrow(CelError);
  });

  it('adds exactly what it subtracts', () => {
    const texts = fc
      .tuple(fc.integer(), fc.constantFrom('n', 'm', '', 'k', 'Mi', 'Ei', 'e3', 'e-3'))
      .map((p) => p.join(''));
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const [x, y] = [quantityOf(a), quantityOf(b)];
        const back = sub(add(x, y), y);
        expect(back.equals(x)).toBe(true);
        expect(back.unscaled * 10n ** BigInt(back.scale + 9)).toBe(back.quantity.nano);
      }),
    );
  });

  it('costs a tenth of the length of its text', () => {
    const [overload] = quantityLibrary.functions['quantity'] ?? [];
    expect(overload?.cost?.(['12Mi'], null)).toBe(1);
    expect(overload?.cost?.(['1'.repeat(71)], null)).toBe(8);
    const argument = {
      size: { min: 0, max: 2 ** 64 },
      type: { kind: 'string' },
      literal: undefined,
      elementSize: undefined,
    } as const;
    expect(overload?.estimate?.([argument])).toEqual({ cost: { min: 0, max: Math.ceil(2 ** 64 / 10) } });
  });
});
