import { expect, it } from 'vitest';
import { atOnce, type JsonObject, namesFor } from '../meta/index.ts';
import { structuralInSteps, structuralOf } from './structural.ts';

const names = namesFor('k8s.io');

const text = { type: 'string' };
const many = (property: JsonObject): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`f${i}`, property])),
});
const schemaOf = (property: JsonObject): JsonObject => ({
  type: 'object',
  properties: {
    many: many(text),
    list: { type: 'array', items: many(text) },
    map: { type: 'object', additionalProperties: many(property) },
    any: { type: 'object', additionalProperties: true },
  },
});

it('what occurs in a large schema is found in steps, once', () => {
  const schema = schemaOf({ ...text, default: 'x' });
  const stepsOf = () => [...structuralInSteps(schema, names)].length;
  expect(stepsOf()).toBeGreaterThanOrEqual(4);
  expect(stepsOf()).toBe(0);
});

const marks: readonly (readonly [string, JsonObject])[] = [
  ['defaults', { default: 'x' }],
  ['rules', { 'x-kubernetes-validations': [{ rule: 'true' }] }],
  ['embedded', { type: 'object', 'x-kubernetes-embedded-resource': true }],
  ['listTypes', { type: 'array', items: text, 'x-kubernetes-list-type': 'set' }],
];
it.each(marks)('knows at any depth whether there are %s', (name, mark) => {
  const nothing = { defaults: false, rules: false, embedded: false, listTypes: false };
  const schema = schemaOf({ ...text, ...mark });
  for (const { has, properties } of [structuralOf(schema, names), atOnce(structuralInSteps(schema, names))]) {
    expect(has).toEqual({ ...nothing, [name]: true });
    expect(properties.get('many')?.has).toEqual(nothing);
    expect(properties.get('list')?.items?.has).toEqual(nothing);
    const values = properties.get('map')?.additionalProperties;
    expect(typeof values === 'object' && values.properties.get('f7')?.has).toEqual({ ...nothing, [name]: true });
  }
});

it('properties are read when they are first asked for, in the order of the definition', () => {
  const { properties } = structuralOf({ type: 'object', properties: { b: text, a: { type: 'integer' } } }, names);
  expect(properties.get('a')?.type).toBe('integer');
  expect(properties.get('a')).toBe(properties.get('a'));
  expect(properties.get('toString')).toBeUndefined();
  expect([...properties].map(([name]) => name)).toEqual(['b', 'a']);
  expect(properties.size).toBe(2);
});
