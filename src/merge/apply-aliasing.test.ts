import { expect, it } from 'vitest';
import { type ApiObject, type Json, type JsonObject, jsonCopy } from '../meta/index.ts';
import { applyAtOnce } from './testing/apply.ts';
import { Fixture } from './testing/scenario.ts';

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
const thing = (metadata: JsonObject, spec: JsonObject): JsonObject => ({
  kind: 'Thing',
  apiVersion: 'v1',
  metadata: { name: 't', ...metadata },
  spec,
});

/** Every object and array in a value except managedFields. */
function* partsOf(value: Json): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  yield value;
  for (const [key, inner] of Object.entries(value)) if (key !== 'managedFields') yield* partsOf(inner);
}

function shared(manager: string, live: ApiObject, applyConfig: JsonObject): number {
  const fixture = new Fixture();
  const writer = { manager, apiVersion: 'v1', now: '2024-01-01T00:00:01Z' };
  const result = applyAtOnce({ type: fixture.type(), writer, live, applyConfig, force: true }, (object) =>
    fixture.decode(object),
  );
  const before = new Set(partsOf(live));
  expect(result).not.toBe(live);
  return [...partsOf(result)].filter((part) => before.has(part)).length;
}

const spec = { replicas: 1, tags: ['a'], containers: [{ name: 'c', image: 'i', args: ['x'] }], selector: { a: 'b' } };
const live = (metadata: JsonObject = {}): ApiObject => new Fixture().decode(jsonCopy(thing(metadata, spec)));

it.each([
  ['a field', thing({}, { ...spec, replicas: 2 })],
  ['the manager of a field', thing({}, { replicas: 1 })],
])('the result of an apply shares no object with the live object when it changes %s', (_, applyConfig) => {
  expect(shared('m', live(), applyConfig)).toBe(0);
});

it('nor when it changes the last-applied annotation alone', () => {
  const old = live({ annotations: { [annotation]: '{}' } });
  expect(shared('kubectl', old, thing({}, { replicas: 1 }))).toBe(0);
});
