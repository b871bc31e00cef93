import { describe, expect, test } from 'vitest';
import { standardLibrary } from '../library/standard.ts';
import type { Library, Overload } from '../library.ts';
import { dynType, intType, listType, parameterType, stringType } from '../types.ts';
import { createEnvironment } from './environment.ts';

const overload = (id: string, args: Overload['args'], member = false): Overload => ({
  id,
  args,
  member,
  result: intType,
  call: () => 0,
});

const library = (...overloads: Overload[]): Library => ({ name: 'test', functions: { f: overloads } });

describe('createEnvironment', () => {
  test('merges the overloads that libraries add to the functions of others', () => {
    const other: Library = { name: 'other', functions: { size: [overload('size_int', [intType])] } };
    const environment = createEnvironment({ variables: [], libraries: [standardLibrary, other] });
    const ids = environment.functions.get('size')?.map(({ id }) => id);
    expect(ids).toContain('size_string');
    expect(ids?.at(-1)).toBe('size_int');
  });

  test('environments of the same libraries share their functions and types', () => {
    const libraries = [standardLibrary];
    const one = createEnvironment({ variables: [{ name: 'self', type: intType }], libraries });
    const two = createEnvironment({ variables: [{ name: 'self', type: stringType }], libraries });
    expect(two.functions).toBe(one.functions);
    expect(two.types).toBe(one.types);
    expect(two.variables.get('self')).toEqual({ slot: 0, type: stringType });
  });

  test.each<[string, Overload, Overload, boolean]>([
    ['the same id', overload('f', [intType]), overload('f', [stringType]), true],
    ['the same signature', overload('f', [intType]), overload('g', [intType]), true],
    ['dyn and int', overload('f', [dynType]), overload('g', [intType]), true],
    ['a type parameter', overload('f', [listType(parameterType('A'))]), overload('g', [listType(intType)]), true],
    ['other types', overload('f', [intType]), overload('g', [stringType]), false],
    ['another arity', overload('f', [intType]), overload('g', [intType, intType]), false],
    ['another style of call', overload('f', [intType]), overload('g', [intType], true), false],
  ])('overloads collide: %s', (_, first, second, collides) => {
    const create = (): unknown => createEnvironment({ variables: [], libraries: [library(first), library(second)] });
    if (collides) expect(create).toThrow(`overloads ${first.id} and ${second.id} of f collide`);
    else expect(create).not.toThrow();
  });

  test('variables and types are declared once, and variables have no type parameters', () => {
    const x = { name: 'x', type: intType };
    const types: Library = { name: 'types', functions: {}, types: { int: stringType } };
    expect(() => createEnvironment({ variables: [x, x], libraries: [] })).toThrow('variable x is declared twice');
    expect(() => createEnvironment({ variables: [], libraries: [types] })).toThrow('type int is declared twice');
    expect(() =>
      createEnvironment({ variables: [{ name: 'x', type: listType(parameterType('A')) }], libraries: [] }),
    ).toThrow('the type of variable x has type parameters');
  });

  test('names of functions and types are plain data', () => {
    const { functions, types } = createEnvironment({ variables: [], libraries: [standardLibrary] });
    expect([functions.get('constructor'), types.get('__proto__')]).toEqual([undefined, undefined]);
  });
});
