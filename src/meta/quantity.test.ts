import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  subtractQuantities,
} from './quantity.ts';

describe('quantities', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['0Ki', '0'],
    ['1', '1'],
    ['+1', '1'],
    ['01', '1'],
    ['1.', '1'],
    ['.5', '500m'],
    ['0.5', '500m'],
    ['-0.5', '-500m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['1000', '1k'],
    ['1234567', '1234567'],
    ['100k', '100k'],
    ['1000000k', '1G'],
    ['1024Mi', '1Gi'],
    ['1536Mi', '1536Mi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['0.5Gi', '512Mi'],
    // Below 1024 the binary format has no shorter form.
    ['1000Ki', '1000Ki'],
    ['1023.5Ki', '1048064'],
    // An amount with a fraction is not shown in the binary format, which has none.
    ['0.0001Ki', '102400u'],
    ['1e3', '1e3'],
    ['1E3', '1e3'],
    ['1E', '1E'],
    ['100e-3', '100e-3'],
    ['10e-1', '1'],
    ['1e1', '10'],
    ['12345e-2', '123450e-3'],
    ['1e+2', '100'],
    // Finer than a billionth: rounded away from zero.
    ['1.0000000001', '1000000001n'],
    ['0.1n', '1n'],
    ['-0.1n', '-1n'],
    ['8Ei', '9223372036854775807'],
    ['9999Ei', '9223372036854775807'],
    ['10E', '10E'],
    ['1000E', '1000E'],
    ['9223372036854775807', '9223372036854775807'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
    expect(formatQuantity(parseQuantity(text))).toBe(canonical);
  });

  const shape = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  it.each([
    ['', shape],
    ['nope', shape],
    ['1.1.M', shape],
    ['1+1.0M', shape],
    ['0.1mi', "unable to parse quantity's suffix"],
    ['0.1am', shape],
    ['1i', "unable to parse quantity's suffix"],
    ['-3.01e-', "unable to parse quantity's suffix"],
    ['1e999999999', "unable to parse quantity's suffix"],
    ['.', 'unable to parse numeric part of quantity'],
    ['-', shape],
    ['Ki', shape],
    [' 1', shape],
    ['1\n', shape],
    ['9'.repeat(2000), 'unable to parse numeric part of quantity'],
  ])('refuses %s', (text, message) => {
    expect(() => canonicalQuantity(text)).toThrow(expect.objectContaining({ code: 400, message }));
  });

  it('compares and adds quantities of different formats', () => {
    const [ki, k] = [parseQuantity('1Ki'), parseQuantity('1k')];
    expect([compareQuantities(ki, k), compareQuantities(k, ki), compareQuantities(k, parseQuantity('1000'))]).toEqual([
      1, -1, 0,
    ]);
    expect(formatQuantity(addQuantities(ki, k))).toBe('2024');
    expect(formatQuantity(addQuantities(parseQuantity('0'), parseQuantity('1Gi')))).toBe('1Gi');
    expect(formatQuantity(subtractQuantities(parseQuantity('1'), parseQuantity('100m')))).toBe('900m');
  });

  it('the canonical form is stable and denotes the same amount', () => {
    const text = fc
      .tuple(
        fc.constantFrom('', '-', '+'),
        fc.stringMatching(/^[0-9]{1,12}(\.[0-9]{0,5})?$/),
        fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'e3', 'e-5', 'E2'),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (value) => {
        const canonical = canonicalQuantity(value);
        expect(canonicalQuantity(canonical)).toBe(canonical);
        expect(parseQuantity(canonical).nano).toBe(parseQuantity(value).nano);
        expect(canonical).not.toContain('.');
      }),
    );
  });
});
