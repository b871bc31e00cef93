import { describe, expect, it } from 'vitest';
import { fieldError } from './field-error.ts';
import { quote } from './quote.ts';

// As the platform of the reference server quotes a text (the verb `%q` of its formats).
describe('quote', () => {
  it.each([
    ['', '""'],
    ['plain, even <b> & é', '"plain, even <b> & é"'],
    ['"\\', '"\\"\\\\"'],
    ['\x07\b\t\n\v\f\r', '"\\a\\b\\t\\n\\v\\f\\r"'],
    ['\0\x1f\x7f', '"\\x00\\x1f\\x7f"'],
    ['\x85\u00a0\u2028', '"\\u0085\\u00a0\\u2028"'],
    ['😀', '"😀"'],
    ['\u{e0001}', '"\\U000e0001"'],
    ['constructor', '"constructor"'],
  ])('%j', (text, expected) => {
    expect(quote(text)).toBe(expected);
  });

  it('shows the first 10 KiB of a long text', () => {
    expect(quote('a'.repeat(2_000_000))).toBe(`"${'a'.repeat(10_240)}..."`);
    expect(quote('\0'.repeat(2_000_000))).toBe(`"${'\\x00'.repeat(10_240)}..."`);
  });
});

// Text is quoted; all else is JSON that could stand inside HTML.
it.each([
  ['<a>\0', 'Invalid value: "<a>\\x00": why'],
  [['<a>&'], 'Invalid value: ["\\u003ca\\u003e\\u0026"]: why'],
  [5, 'Invalid value: 5: why'],
  [null, 'Invalid value: null: why'],
])('a field error shows %j', (value, expected) => {
  expect(fieldError.invalid('f', value, 'why').message).toBe(expected);
});
