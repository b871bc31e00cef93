import { describe, expect, test } from 'vitest';
import { check } from '../check/check.ts';
import { createEnvironment } from '../check/environment.ts';
import { optionalsLibrary } from '../library/optionals.ts';
import { standardLibrary } from '../library/standard.ts';
import type { EstimatedArgument, Library } from '../library.ts';
import {
  boolType,
  type CelType,
  doubleType,
  dynType,
  intType,
  listType,
  mapType,
  type ObjectType,
  optionalType,
  stringType,
} from '../types.ts';
import { estimateCost } from './estimate.ts';
import { unbounded } from './range.ts';

const seen: EstimatedArgument[] = [];

const joining: Library = {
  name: 'joining',
  functions: {
    'math.greatest': [{ id: 'math_greatest', args: [intType, intType], result: intType, call: () => 0 }],
    join: [
      {
        id: 'join',
        args: [listType(stringType), stringType],
        result: stringType,
        member: true,
        call: () => '',
        estimate: (args) => {
          seen.splice(0, seen.length, ...args);
          return { cost: { min: 2, max: 3 }, resultSize: { min: 0, max: 40 } };
        },
      },
    ],
  },
};

const read = (): null => null;
const objectType = (name: string, fields: { readonly [name: string]: CelType }): ObjectType => ({
  kind: 'object',
  name,
  field: (identifier) => {
    const type = fields[identifier];
    return type && { type, property: identifier, read };
  },
  identifiers: () => Object.keys(fields),
});
const sized = <T extends CelType>(type: T, maxSize: number): T => ({ ...type, maxSize });

const self = objectType('Self', {
  name: sized(stringType, 100),
  count: intType,
  names: listType(sized(stringType, 30), 10),
  lists: listType(listType(intType, 10), 50),
  map: mapType(sized(stringType, 20), sized(stringType, 60), 5),
  unlimited: listType(stringType),
  any: sized(dynType, 70),
});

const libraries = [standardLibrary, joining, optionalsLibrary];
const selfEnvironment = createEnvironment({ libraries, variables: [{ name: 'self', type: self }] });

function cost(source: string, variables?: { readonly [name: string]: CelType }): readonly [number, number] {
  const environment =
    variables === undefined
      ? selfEnvironment
      : createEnvironment({
          libraries,
          variables: Object.entries(variables).map(([name, type]) => ({ name, type })),
        });
  const { min, max } = estimateCost(check(environment, source));
  return [min, max];
}

describe('operations of the language', () => {
  test.each([
    ['"text"', 0, 0],
    ['self', 1, 1],
    ['self.name', 2, 2],
    ['has(self.name)', 1, 1],
    ['has(self.map.a)', 2, 2],
    ['self.map["a"]', 3, 3],
    ['self.any.a.b', 2, 2],
    ['[1, 2, 3]', 10, 10],
    ['{"a": 1, "b": 2}', 30, 30],
    ['{"a": [2]}', 40, 40],
    ['[self.name]', 12, 12],
    ['1 + 1', 1, 1],
    ['true || false', 0, 0],
    ['self.count > 1 && self.count > 2', 3, 6],
    ['self.count > 1 || self.count > 2 || self.count > 3', 3, 9],
    ['self.count > 1 ? self.name : "a"', 3, 5],
    ['dyn(self.name)', 3, 3],
    ['self.?name.orValue("")', 3, 3],
    ['math.greatest(self.count, 2)', 3, 3],
  ])('%s costs %d to %d', (source, min, max) => {
    expect(cost(source)).toEqual([min, max]);
  });
});

describe('sizes that types declare', () => {
  test.each([
    // 2 + min(100, 4) / 10
    ['self.name == "abcd"', 3, 3],
    // 4 + 100 / 10
    ['self.name == self.name', 5, 14],
    // Values without a size take nothing to compare.
    ['self.count == self.count', 4, 4],
    ['self.count == 1', 2, 2],
    // 3 + 60 / 10, from the index on
    ['self.map["a"] == self.map["b"]', 7, 12],
    ['self.lists[0] == self.lists[1]', 7, 7],
    ['self.names[0].startsWith(self.names[1])', 6, 9],
    // A field of a map has no declared size.
    ['self.map.a == self.map.b', 7, 6 + 2 ** 64 / 10],
    ['self.any == self.any', 5, 11],
    ['self.unlimited == self.unlimited', 5, 4 + 2 ** 64 / 10],
  ])('%s costs %d to %d', (source, min, max) => {
    const [least, most] = cost(source);
    expect(least).toBe(min);
    expect(most).toBe(Math.ceil(max));
  });

  test('arguments have their sizes, and the sizes of elements where these are declared', () => {
    cost('self.names.join(", ")');
    expect(seen.map(({ size, literal, elementSize }) => ({ size, literal, elementSize }))).toEqual([
      { size: { min: 0, max: 10 }, literal: undefined, elementSize: { min: 0, max: 30 } },
      { size: { min: 2, max: 2 }, literal: ', ', elementSize: undefined },
    ]);
    cost('["a", "b"].join(self.name)');
    expect(seen.map(({ size, literal, elementSize }) => ({ size, literal, elementSize }))).toEqual([
      { size: { min: 2, max: 2 }, literal: undefined, elementSize: undefined },
      { size: { min: 0, max: 100 }, literal: undefined, elementSize: undefined },
    ]);
  });

  test('the size of a result is what the estimate says', () => {
    // 2 + 3 for the call, then min(40, 100) / 10
    expect(cost('self.names.join(", ") == self.name')).toEqual([2 + 2 + 2 + 1, 2 + 3 + 2 + 4]);
  });
});

describe('comprehensions', () => {
  test.each([
    // Each element costs 1 for the condition's variable, 1 for its function, and 1 for the step's variable.
    ['self.names.all(x, true)', 3, 3 + 10 * 3],
    ['self.lists.all(x, x.all(y, true))', 3, 3 + 50 * (3 + 2 + 10 * 3)],
    ['self.map.all(k, k.startsWith(k))', 3, 3 + 5 * (3 + 2 + 2)],
    ['self.names.exists(x, x == "abc")', 3, 3 + 10 * (4 + 2)],
    ['self.names.all(x, self.names.all(y, x == y))', 3, 3 + 10 * (3 + 3 + 10 * (3 + 5))],
    // 10 + 10 for the lists, 5 times (1 variable + list of the element 11 + concatenation 1), 1 for the result.
    ['[1, 2, 3, 4, 5].map(x, x)', 86, 86],
    ['[1, 2, 3, 4, 5].map(x, x).map(x, x)', 162, 162],
    ['[1, 2, 3, 4, 5].filter(x, x % 2 == 0)', 41, 101],
    ['(self.names + self.names).all(x, true)', 6, 6 + 20 * 3],
    ['(self.count > 1 ? self.names : self.unlimited.filter(x, false)).all(x, true)', 6, unbounded],
    ['self.unlimited.all(x, true)', 3, unbounded],
    ['self.unlimited.all(x, self.unlimited.all(y, true))', 3, unbounded],
    // 4 to know whether there is a value; then 10 + 4 to bind it, 2 for its size and 1 for the optional; 1 for orValue.
    ['optional.of(self.names).optMap(n, n.size()).orValue(0)', 6, 22],
  ])('%s costs %d to %d', (source, min, max) => {
    expect(cost(source)).toEqual([min, max]);
  });

  test('elements of values that are not reached from a variable have the size of the first variable', () => {
    const second = listType(stringType, 4);
    expect(cost('[second].all(x, x == second)', { first: listType(intType, 70), second })).toEqual([15, 18]);
    expect(cost('[second].all(x, x == second)', { first: intType, second })).toEqual([15, 17]);
  });
});

describe('other variables', () => {
  test.each<[string, { readonly [name: string]: CelType }, number, number]>([
    ['x', { x: boolType }, 1, 1],
    ['self.x == 1.0', { 'self.x': doubleType }, 1, 1],
    ['self.x == 1.0', { self: mapType(stringType, doubleType) }, 3, 3],
    ['old == old', { old: optionalType(listType(intType, 40)) }, 3, 2 + 4],
    ['self.all(x, x == 0.0)', { self: listType(doubleType, 6_291_456) }, 2, 2 + 6_291_456 * 4],
    ['self.contains("test")', { self: sized(stringType, 3_145_726) }, 1, 1 + 314_573],
    ['self.matches("[a-z]{3}")', { self: sized(stringType, 99) }, 1 + 2, 1 + 10 * 2],
    ['size(self + "hello") > 5', { self: sized(stringType, 4) }, 1 + 1 + 1 + 1, 1 + 1 + 1 + 1],
    ['string(bytes(self)) == self', { self: sized(stringType, 40) }, 1 + 1 + 1, 1 + 4 + 16 + 1 + 4],
    ['self in ["a", "b"]', { self: sized(stringType, 40) }, 1 + 10 + 2, 1 + 10 + 2],
    ['self[1] == self[1]', { self: listType(sized(stringType, 3_145_726), 8) }, 5, 314_577],
  ])('%s', (source, variables, min, max) => {
    expect(cost(source, variables)).toEqual([min, max]);
  });
});
