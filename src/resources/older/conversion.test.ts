import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { valuesOf } from '../../codec/testing/random-values.ts';
import { type ApiObject, at, atOnce, isJsonObject, type Json, type JsonObject, namesFor } from '../../meta/index.ts';
import type { ResourceDefinition } from '../../registry/index.ts';
import { compile, type StructSchema } from '../../schema/index.ts';
import { builtinResources } from '../index.ts';
import { olderKinds, withOlderVersions } from './index.ts';

const names = namesFor('k8s.io');
const definitions = withOlderVersions(builtinResources);

/** Every conversion of an older version, with the type of the stored objects. */
const conversions = olderKinds.flatMap(({ group, plural, storedIn = group, versions }) =>
  versions.map(({ version, defaults, changes }) => {
    const definition = builtinResources.find((one) => one.group === storedIn && one.plural === plural);
    const older = definitions
      .filter((one) => one.group === group && one.plural === plural)
      .flatMap((one) => one.versions.filter((declared) => declared.version === version))[0];
    const { storage } = definition ?? {};
    const owner = builtinResources.find((one) => one.group === storage?.group && one.plural === storage.resource);
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

/** Sets what validation requires of stored objects, and what an older version would set by default. */
const complete: { readonly [plural: string]: (object: ApiObject) => void } = {
  certificatesigningrequests: completeSigningRequest,
  customresourcedefinitions: completeDefinition,
  daemonsets: completeWorkload,
  deployments: completeWorkload,
  replicasets: completeWorkload,
  statefulsets: completeWorkload,
  mutatingwebhookconfigurations: completeWebhooks,
  validatingwebhookconfigurations: completeWebhooks,
};

function completeWebhooks({ webhooks = [] }: ApiObject): void {
  for (const webhook of webhooks as JsonObject[]) {
    webhook['sideEffects'] ??= 'None';
    webhook['admissionReviewVersions'] = ['v1'];
  }
}

function completeWorkload(object: ApiObject): void {
  object.metadata = { ...object.metadata, labels: { a: 'b' } };
  const { spec } = object;
  if (!isJsonObject(spec)) return;
  spec['selector'] ??= {};
  const rollingUpdate = at(spec, 'strategy', 'rollingUpdate');
  if (isJsonObject(rollingUpdate)) Object.assign(rollingUpdate, { maxSurge: 2, maxUnavailable: 2 });
}

function completeDefinition({ spec }: ApiObject): void {
  if (!isJsonObject(spec)) return;
  spec['scope'] ||= 'Cluster';
  const conversion = spec['conversion'];
  if (isJsonObject(conversion) && conversion['strategy'] === 'Webhook') {
    conversion['webhook'] = { conversionReviewVersions: ['v1'] };
  }
}

/** Makes a random object one that the check of its version accepts. */
const accept: { readonly [plural: string]: (object: ApiObject) => void } = {
  deployments: ({ spec }) => {
    const rollbackTo = isJsonObject(spec) ? spec['rollbackTo'] : undefined;
    if (isJsonObject(rollbackTo) && Number(rollbackTo['revision'] ?? 0) < 0) delete rollbackTo['revision'];
  },
  customresourcedefinitions: ({ spec }) => {
    if (!isJsonObject(spec)) return;
    const versions = (spec['versions'] ?? []) as JsonObject[];
    if (versions.length > 0) delete spec['version'];
    for (const version of versions)
      for (const field of ['schema', 'subresources', 'additionalPrinterColumns']) delete version[field];
  },
};

function completeSigningRequest({ spec, status }: ApiObject): void {
  if (isJsonObject(spec)) spec['usages'] ??= ['any'];
  const conditions = isJsonObject(status) ? status['conditions'] : [];
  for (const condition of (conditions ?? []) as JsonObject[]) condition['status'] ||= 'True';
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
