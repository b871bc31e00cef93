import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { valuesOf } from '../../codec/testing/random-values.ts';
import { type ApiObject, atOnce, isJsonObject, type Json, type JsonObject, namesFor } from '../../meta/index.ts';
import type { ResourceDefinition } from '../../registry/index.ts';
import { compile, type StructSchema } from '../../schema/index.ts';
import { builtinResources } from '../index.ts';
import { olderKinds, withOlderVersions } from './index.ts';
import { accept, complete } from './testing/valid-objects.ts';

const names = namesFor('k8s.io');
const definitions = withOlderVersions(builtinResources);

/** Every conversion of an older version, with the type of the stored objects. */
const conversions = olderKinds.flatMap(({ group, plural, storedIn = group, versions }) =>
  versions.map(({ version, defaults, changes }) => {
    const definition = definitions.find((one) => one.group === storedIn && one.plural === plural);
    const older = definitions
      .filter((one) => one.group === group && one.plural === plural)
      .flatMap((one) => one.versions.filter((declared) => declared.version === version))[0];
    const { storage } = definition ?? {};
    const owner = definitions.find((one) => one.group === storage?.group && one.plural === storage.resource);
    const stored = owner?.versions.find((one) => one.version === storage?.version)?.schema;
    if (definition === undefined || older === undefined || stored === undefined) {
      throw new Error(`${group}/${version} ${plural} is not defined`);
    }
    return { title: `${group}/${version} ${definition.kind}`, definition, older, stored, defaults, changes };
  }),
);

/** A random value of a type as an object, in its normal form. */
function objectOf(value: Json, schema: StructSchema, definition: ResourceDefinition): ApiObject {
  const { value: decoded } = compile(schema, names).decode({ metadata: { name: 'x' }, ...(value as JsonObject) });
  return { ...decoded, kind: definition.kind, apiVersion: 'v' } as ApiObject;
}

const contentOf = ({ apiVersion: _, ...content }: ApiObject) => content;

describe('every older version', () => {
  it.each(conversions.map((one) => [one.title, one] as const))('%s loses nothing', (_, one) => {
    const { definition, older, stored, defaults, changes } = one;
    const toStored = (object: ApiObject) => {
      const converted = older.toStorage?.(object, names) ?? object;
      return { ...compile(stored, names).decode(converted).value, kind: definition.kind, apiVersion: 's' } as ApiObject;
    };
    const toOlder = (object: ApiObject) => older.fromStorage?.(object, names) ?? object;
    fc.assert(
      fc.property(valuesOf(older.schema, names), (value) => {
        const sent = objectOf(value, older.schema, definition);
        accept[definition.plural]?.(sent);
        defaults?.(sent, names);
        const read = objectOf(toOlder(toStored(sent)), older.schema, definition);
        expect(contentOf(read)).toEqual(contentOf(sent));
      }),
      { numRuns: 100 },
    );
    fc.assert(
      fc.property(valuesOf(stored, names), (value) => {
        const object = objectOf(value, stored, definition);
        complete[definition.plural]?.(object);
        const steps = definition.strategy.defaults?.(object, { names, now: 0 });
        if (isJsonObject(steps as unknown as Json)) atOnce(steps as never);
        const read = toOlder(object);
        // A converted object has what its type declares, and nothing else.
        if (changes !== undefined) expect(contentOf(objectOf(read, older.schema, definition))).toEqual(contentOf(read));
        expect(contentOf(toStored(read))).toEqual(contentOf(objectOf(object, stored, definition)));
      }),
      { numRuns: 100 },
    );
  });
});

it('a large object is converted in many steps', () => {
  const ingresses = definitions.find(({ group, plural }) => group === 'extensions' && plural === 'ingresses');
  const [older] = ingresses?.versions ?? [];
  const service = { name: 's', port: { number: 80 } };
  const paths = Array.from({ length: 5_000 }, (_, i) => ({ path: `/${i}`, pathType: 'Exact', backend: { service } }));
  const object = {
    kind: 'Ingress',
    apiVersion: 'networking.k8s.io/v1',
    metadata: { name: 'x' },
    spec: { rules: [{ host: 'h', http: { paths } }] },
  } as unknown as ApiObject;
  let steps = 0;
  let converted = object;
  for (const convert of [older?.fromStorageInSteps, older?.toStorageInSteps]) {
    const running = convert?.(converted, names);
    for (let step = running?.next(); step !== undefined; step = step.done ? undefined : running?.next()) {
      steps++;
      if (step.done) converted = step.value;
    }
  }
  expect(converted['spec']).toEqual(object['spec']);
  // Each of ten walks over 5,000 elements ends its step after 1,000.
  expect(steps).toBeGreaterThanOrEqual(50);
});
