import { describe, expect, it } from 'vitest';
import { atOnce, type JsonObject } from '../../meta/index.ts';
import { validatePatterns } from './patterns.ts';

const texts = (count: number, pattern: (i: number) => string): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'string', pattern: pattern(i) }]),
  ),
});

describe('the patterns of a schema', () => {
  it.each([
    ['a pattern that repeats counts once', texts(10_000, () => '^[a-z]+$'), []],
    ['each takes 100 instructions and those of its length', texts(400, (i) => `^a{1,3}${i}$`), []],
    [
      'more than can be kept compiled',
      texts(1_000, (i) => `a${String(i).padStart(3, '0')}`),
      ['its 1000 different patterns take 104000 instructions when they are compiled, of at most 50000'],
    ],
    [
      'wherever they are',
      {
        additionalProperties: { not: { pattern: 'a{9000}' } },
        items: { oneOf: ['b', 'c', 'd', 'e', 'f'].map((letter) => ({ pattern: `${letter}{9000}` })) },
      },
      ['its 6 different patterns take 54600 instructions when they are compiled, of at most 50000'],
    ],
  ])('%s', (_, schema, expected) => {
    const errors = atOnce(validatePatterns(schema as JsonObject, 'schema'));
    expect(errors.map(({ message }) => message.replace('Forbidden: ', ''))).toEqual(expected);
  });

  it('are compiled once each, in a step of its own', () => {
    const steps = (schema: JsonObject) => [...validatePatterns(schema, 'schema')].length;
    expect(steps(texts(300, (i) => `^${i}$`))).toBe(300);
    expect(steps(texts(300, () => '^[a-z]+$'))).toBe(1);
  });
});
