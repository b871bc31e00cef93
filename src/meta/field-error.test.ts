import { describe, expect, it } from 'vitest';
import { type FieldError, fieldError, fieldErrors, withoutReplaced } from './field-error.ts';
import type { Json } from './json.ts';

const messageFor = (value: Json | undefined) => fieldError.invalid('spec.x', value, 'why').message;

describe('the value in a field error', () => {
  it('is a quoted string, or JSON with HTML escaped', () => {
    expect(messageFor('a"b')).toBe('Invalid value: "a\\"b": why');
    expect(messageFor(undefined)).toBe('Invalid value: null: why');
    expect(messageFor(2n ** 60n)).toBe(`Invalid value: ${2n ** 60n}: why`);
    expect(messageFor({ a: [1, true, null, 'x'], b: {}, '<': '&' })).toBe(
      'Invalid value: {"a":[1,true,null,"x"],"b":{},"\\u003c":"\\u0026"}: why',
    );
    expect(messageFor({ a: undefined, b: -0, c: 2n ** 53n + 1n, d: [] } as unknown as Json)).toBe(
      'Invalid value: {"b":0,"c":9007199254740993,"d":[]}: why',
    );
  });

  it('is cut after 10,240 characters, however it is escaped', () => {
    for (const value of ['x'.repeat(3e6), '\u0001'.repeat(3e6), Array(1e6).fill({}), { a: 'x'.repeat(3e6) }]) {
      const message = messageFor(value as Json);
      expect(message.length).toBe('Invalid value: '.length + 10_240 + '...: why'.length);
      expect(message.endsWith('...: why')).toBe(true);
    }
    expect(messageFor('x'.repeat(10_000))).toBe(`Invalid value: "${'x'.repeat(10_000)}": why`);
  });

  it('may nest deeper than any request body', () => {
    let value: Json = 1;
    for (let i = 0; i < 100_000; i++) value = [value];
    expect(messageFor(value)).toMatch(/^Invalid value: \[{512}\.\.\./);
  });
});

describe('fieldErrors', () => {
  it('returns the errors of the validation', () => {
    const found = [fieldError.required('a'), fieldError.required('b')];
    expect(fieldErrors(() => found)).toBe(found);
  });

  it('stops a validation with too many errors', () => {
    let looks = 0;
    const found = fieldErrors(() => {
      const errors: FieldError[] = [];
      for (; looks < 1e6; looks++) errors.push(fieldError.required(`spec.list[${looks}]`));
      return errors;
    });
    expect(looks).toBe(1_000);
    expect(found.length).toBe(1_000);
    expect(found[0]).toEqual(fieldError.required('spec.list[0]'));
    expect(found.at(-1)).toEqual(fieldError.required('spec.list[999]'));
  });

  it('stops a validation with too much error text', () => {
    const found = fieldErrors(() => Array.from({ length: 900 }, () => fieldError.invalid('a', 'x'.repeat(1e6), '')));
    expect(found).toHaveLength(52);
  });

  it('counts each validation separately', () => {
    const many = () => Array.from({ length: 900 }, (_, i) => fieldError.required(`a[${i}]`));
    expect(fieldErrors(many).length).toBe(900);
    expect(fieldErrors(many).length).toBe(900);
    expect([...many(), ...many()].length).toBe(1_800);
  });

  it('leave out the errors at or below a forbidden subtree', () => {
    const errors = ['a.b', 'a.b.c', 'a.b[0]', 'a.bc', 'x.y'].map((field) => fieldError.required(field));
    const forbidden = [fieldError.forbiddenSubtree('a.b', 'why'), fieldError.forbiddenSubtree('X', 'why', 'x')];
    expect(withoutReplaced(errors, forbidden).map(({ field }) => field)).toEqual(['a.bc']);
    expect(withoutReplaced(errors, [fieldError.forbidden('a.b', 'why')])).toBe(errors);
  });

  it('rethrows errors of the validation', () => {
    const fault = new TypeError('no such rule');
    expect(() =>
      fieldErrors(() => {
        throw fault;
      }),
    ).toThrow(fault);
    expect(Array.from({ length: 2_000 }, () => fieldError.required('a')).length).toBe(2_000);
  });
});
