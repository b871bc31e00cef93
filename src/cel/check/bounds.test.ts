import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { estimateCost } from '../cost/estimate.ts';
import { optionalsLibrary } from '../library/optionals.ts';
import { standardLibrary } from '../library/standard.ts';
import { dynType, intType, listType, mapType, optionalType, stringType } from '../types.ts';
import { check } from './check.ts';
import { createEnvironment } from './environment.ts';
import { ExpressionError } from './error.ts';
import { formatType } from './format.ts';

const environment = createEnvironment({
  libraries: [standardLibrary, optionalsLibrary],
  variables: [
    { name: 'a', type: intType },
    { name: 'b', type: { ...stringType, maxSize: 10 } },
    { name: 'c', type: listType(stringType, 5) },
    { name: 'd', type: dynType },
    { name: 'e', type: mapType(stringType, listType(intType)) },
    { name: 'f', type: optionalType(intType) },
  ],
});

/** The message of the issues, or the type. */
function outcome(source: string): string {
  try {
    return formatType(check(environment, source).type);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return error.message;
  }
}

/** Types of which each has the one before it twice: as trees they have 2^levels nodes. */
function doubling(levels: number): string {
  const names = Array.from({ length: levels }, (_, i) => `v${i}`);
  const links = names.slice(1).map((name, i) => `size([[{${names[i]}: ${names[i]}}], ${name}])`);
  return names.reduceRight((inner, name) => `[[]].map(${name}, ${inner})`, `[${links.toReversed().join(', ')}]`);
}

describe('the types of an expression are bounded', () => {
  test('a literal as deep as the parser allows', () => {
    expect(outcome(`${'['.repeat(100)}${']'.repeat(100)} == ${'['.repeat(100)}1${']'.repeat(100)}`)).toBe('bool');
  });

  test('types that double with each level', () => {
    expect(outcome(doubling(4))).toMatch(/^list\(list\(/);
    expect(outcome(doubling(40))).toContain('the types of the expression are too complex');
  });

  test('a chain of macros that doubles a type', () => {
    const chain = (length: number): string => `[1]${'.map(x, {x: x})'.repeat(length)}`;
    expect(outcome(chain(3))).toBe('list(map(map(map(int, int), map(int, int)), map(map(int, int), map(int, int))))');
    expect(outcome(chain(60))).toContain('the types of the expression are too complex');
  });

  test('a type that contains itself is not a type', () => {
    expect(outcome('[[]].map(x, x == [x])')).toContain("found no matching overload for '_==_'");
  });
});

const atom = fc.constantFrom(
  '1',
  '2u',
  '1.5',
  '"s"',
  'true',
  'null',
  '[]',
  '{}',
  'a',
  'b',
  'c',
  'd',
  'e',
  'f',
  'x',
  'int',
);
const { expression } = fc.letrec<{ expression: string; pair: [string, string] }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'expression' },
    atom,
    fc
      .tuple(fc.constantFrom('+', '==', '<', '&&', '||', 'in', '-', '!='), tie('pair'))
      .map(([operator, [p, q]]) => `(${p} ${operator} ${q})`),
    tie('pair').map(([p, q]) => `[${p}, ${q}]`),
    tie('pair').map(([p, q]) => `{${p}: ${q}}`),
    tie('pair').map(([p, q]) => `${p}[${q}]`),
    tie('pair').map(([p, q]) => `(d ? ${p} : ${q})`),
    tie('pair').map(([p, q]) => `${p}.map(x, ${q})`),
    tie('pair').map(([p, q]) => `${p}.filter(x, ${q})`),
    tie('pair').map(([p, q]) => `${p}.all(x, ${q})`),
    tie('pair').map(([p, q]) => `${p}.orValue(${q})`),
    tie('pair').map(([p]) => `${p}.?k`),
    tie('pair').map(([p]) => `has(${p}.k)`),
    tie('pair').map(([p]) => `[?${p}]`),
    tie('pair').map(([p]) => `type(${p})`),
    tie('pair').map(([p]) => `size(${p})`),
    tie('pair').map(([p]) => `dyn(${p})`),
    tie('pair').map(([p]) => `optional.of(${p})`),
  ),
  pair: fc.tuple(tie('expression'), tie('expression')),
}));

test('an expression has a type and a cost from least to most, or issues', () => {
  let typed = 0;
  fc.assert(
    fc.property(expression, (source) => {
      try {
        const checked = check(environment, source);
        const { min, max } = estimateCost(checked);
        typed++;
        expect(min).toBeGreaterThanOrEqual(0);
        expect(min).toBeLessThanOrEqual(max);
        expect(max).toBeLessThanOrEqual(2 ** 64);
        expect(checked.typeOf.some((type) => type !== undefined && formatType(type).includes('_var'))).toBe(false);
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        expect(error.issues.length).toBeGreaterThan(0);
      }
    }),
    { numRuns: 2000 },
  );
  expect(typed).toBeGreaterThan(100);
});
