import { expect, test } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { namesFor } from '../meta/index.ts';
import { SharedSchemas } from './shared-schemas.ts';
import { structuralOf } from './structural.ts';

const without = new Set(['description']);

/** Whether something is made once for both schemas. */
function isShared(one: JsonObject, other: JsonObject): boolean {
  const shared = new SharedSchemas<object>();
  return shared.of(one, '', () => ({}), without) === shared.of(other, '', () => ({}), without);
}

test('equal small schemas share what is made of them', () => {
  const list = () => ({ type: 'array', items: { type: 'string', enum: ['a', 'b'] } });
  expect(isShared(list(), list())).toBe(true);
  expect(isShared(list(), { ...list(), maxItems: 3 })).toBe(false);
  expect(isShared({ type: 'string' }, { type: 'string', description: 'A text.' })).toBe(true);
  // A property may have the name of a keyword that is not read.
  const object = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } } });
  expect(isShared(object('description'), object('title'))).toBe(false);
});

test('what is shared is made of a copy, which has no keyword that is not read', () => {
  const schema = {
    type: 'object',
    description: 'A part.',
    properties: { a: { type: 'string', description: 'A text.' } },
  };
  const shared = new SharedSchemas<JsonObject>();
  const made = shared.of(schema, '', (own) => own, without);
  expect(made).toEqual({ type: 'object', properties: { a: { type: 'string', description: 'A text.' } } });
  expect(made['properties']).not.toBe(schema.properties);
});

test('schemas that are large, or whose numbers JSON does not tell apart, share nothing', () => {
  expect(isShared({ enum: ['x'.repeat(400)] }, { enum: ['x'.repeat(400)] })).toBe(false);
  expect(isShared({ default: 0 }, { default: -0 })).toBe(false);
  expect(isShared({ default: [2n ** 60n] }, { default: [2n ** 60n] })).toBe(false);
});

test('what is made in different contexts is not shared', () => {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  expect(structuralOf(schema, namesFor('k8s.io')).preserveUnknownFields).toBe(true);
  expect(structuralOf(schema, namesFor('orch.io')).preserveUnknownFields).toBe(false);
  expect(structuralOf({ type: 'object' }, namesFor('k8s.io'), true).preserveUnknownFields).toBe(true);
  expect(structuralOf({ type: 'object' }, namesFor('k8s.io')).preserveUnknownFields).toBe(false);
});

test('the number of shared schemas is limited', () => {
  const shared = new SharedSchemas<object>();
  const make = (maximum: number) => shared.of({ maximum }, '', () => ({}));
  const first = make(0);
  for (let maximum = 1; maximum <= 2_000; maximum++) make(maximum);
  expect(make(0)).toBe(first);
  expect(make(2_000)).not.toBe(make(2_000));
});
