import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../meta/index.ts';
import { controlOf, maxDepth, maxMembers, readNumber, withMember } from './controls.ts';

describe('the control of a field', () => {
  const list = { type: 'array', items: { type: 'string' } };
  const map = { type: 'object', additionalProperties: { type: 'string' } };
  it.each<[JsonObject, Json | undefined, string]>([
    [{ type: 'string' }, 'text', 'text'],
    [{ type: 'string', enum: ['Always', 'Never'] }, 'Always', 'choice'],
    [{ type: 'boolean' }, true, 'switch'],
    [{ type: 'integer', format: 'int32' }, 3, 'number'],
    [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, '500m', 'mixed'],
    [{ format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] }, 80, 'mixed'],
    [{ 'x-kubernetes-int-or-string': true }, '25%', 'mixed'],
    [{ 'x-kubernetes-int-or-string': false, type: 'string' }, '25%', 'text'],
    [{ oneOf: [{ type: 'string' }, { type: 'boolean' }] }, 'a', 'yaml'],
    [list, ['a'], 'list'],
    [{ type: 'object', properties: {} }, {}, 'section'],
    [map, { a: 'b' }, 'map'],
    [{ type: 'object' }, {}, 'yaml'],
    [{ type: 'string' }, undefined, 'text'],
  ])('for %j with the value %j is %s', (schema, value, control) => {
    expect(controlOf(schema, value, 1)).toBe(control);
  });

  it('is YAML where the value does not fit the schema, is too long or too deep, or has no schema', () => {
    const many = Array.from({ length: maxMembers + 1 }, () => 'a');
    expect(controlOf({ type: 'string' }, 3, 1)).toBe('yaml');
    expect(controlOf({ type: 'string' }, null, 1)).toBe('yaml');
    expect(controlOf(list, many, 1)).toBe('yaml');
    expect(controlOf(map, Object.fromEntries(many.entries()), 1)).toBe('yaml');
    expect(controlOf({ type: 'string' }, 'a', maxDepth + 1)).toBe('yaml');
    expect(controlOf(undefined, 'a', 1)).toBe('yaml');
  });
});

describe('a typed number', () => {
  it.each<[string, string, number | undefined]>([
    ['integer', '3', 3],
    ['integer', '-1', -1],
    ['integer', '1.5', undefined],
    ['integer', '9007199254740993', undefined],
    ['number', '1.5', 1.5],
    ['number', '', undefined],
    ['number', ' ', undefined],
    ['number', 'many', undefined],
    ['number', 'Infinity', undefined],
  ])('of type %s is from %j: %j', (type, text, number) => {
    expect(readNumber(text, { type })).toBe(number);
  });
});

describe('a value with another member', () => {
  const value = { a: { b: [1, 2, 3] }, c: 'd' };

  it('has the member at its place, and everything else as before', () => {
    expect(withMember(value, ['a', 'b', 1], 9)).toEqual({ a: { b: [1, 9, 3] }, c: 'd' });
    expect(Object.keys(withMember(value, ['a'], 1) as JsonObject)).toEqual(['a', 'c']);
    expect(withMember(value, ['a', 'x', 'y'], true)).toEqual({ a: { b: [1, 2, 3], x: { y: true } }, c: 'd' });
    expect(withMember({}, ['list', 0], 'first')).toEqual({ list: ['first'] });
    expect(value).toEqual({ a: { b: [1, 2, 3] }, c: 'd' });
  });

  it('has it no more when it is removed', () => {
    expect(withMember(value, ['a', 'b', 0], undefined)).toEqual({ a: { b: [2, 3] }, c: 'd' });
    expect(withMember(value, ['c'], undefined)).toEqual({ a: { b: [1, 2, 3] } });
  });

  it('takes every name as data', () => {
    const changed = withMember({}, ['__proto__'], { polluted: true }) as JsonObject;
    expect(Object.keys(changed)).toEqual(['__proto__']);
    expect('polluted' in {}).toBe(false);
  });
});
