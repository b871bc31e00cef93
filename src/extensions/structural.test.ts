import { expect, it } from 'vitest';
import { atOnce, type JsonObject, namesFor } from '../meta/index.ts';
import { structuralInSteps, structuralOf } from './structural.ts';

const names = namesFor('k8s.io');

it('is read in steps as at once', () => {
  const text = { type: 'string', default: 'x' };
  const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`f${i}`, text]));
  const schema: JsonObject = {
    type: 'object',
    properties: {
      many: { type: 'object', properties: many },
      list: { type: 'array', items: { type: 'object', properties: many } },
      map: { type: 'object', additionalProperties: { type: 'object', properties: many } },
      any: { type: 'object', additionalProperties: true },
      few: { type: 'object', properties: { a: text } },
    },
  };
  expect(atOnce(structuralInSteps(schema, names))).toEqual(structuralOf(schema, names));
  let steps = 0;
  for (const _ of structuralInSteps(schema, names)) steps++;
  expect(steps).toBeGreaterThan(6_000);
});
