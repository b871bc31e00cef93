import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { mergePatch, type OlderServer, olderServer, specOf } from './testing/older-server.ts';

let opened: OlderServer;
beforeAll(async () => {
  opened = await olderServer();
});
afterAll(() => opened.server.close());

const text = { type: 'string' };
const applyPatch = { contentType: 'application/apply-patch+yaml' };
const pathOf = (plural: string, version: string) => `/apis/example.com/${version}/namespaces/default/${plural}`;
const objectOf = (kind: string, version: string, name: string, spec: JsonObject) => ({
  apiVersion: `example.com/${version}`,
  kind,
  metadata: { name },
  spec,
});

/** Defines a kind with the stored version v1 and the version v2, with these fields of `spec`. */
async function define(plural: string, kind: string, v1: JsonObject, v2: JsonObject): Promise<void> {
  const versions = Object.entries({ v1, v2 }).map(([name, properties]) => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
  }));
  await opened.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `${plural}.example.com` },
    spec: { group: 'example.com', scope: 'Namespaced', names: { plural, kind }, versions },
  });
  await vi.waitFor(() => opened.request('GET', pathOf(plural, 'v2')));
}

describe('a field that the stored version does not declare', () => {
  beforeAll(() => define('gears', 'Gear', { teeth: text }, { teeth: text, only: { ...text, default: 'v2' } }));
  const gears = pathOf('gears', 'v2');
  const gear = (name: string, spec: JsonObject) => objectOf('Gear', 'v2', name, spec);

  it.each(['', '?dryRun=All'])('is not in the answer of a write%s', async (query) => {
    const name = query === '' ? 'real' : 'dry';
    const made = await opened.request('POST', `${gears}${query}`, gear(name, { teeth: 'a', only: 'b' }));
    expect(specOf(made.object)).toEqual({ teeth: 'a' });
    expect(made.object.apiVersion).toBe('example.com/v2');
    if (query !== '') await opened.request('POST', gears, gear(name, { teeth: 'a' }));
    const patched = await opened.request('PATCH', `${gears}/${name}${query}`, { spec: { teeth: 'c' } }, mergePatch);
    expect(specOf(patched.object)).toEqual({ teeth: 'c' });
  });
});

describe('a field with a default', () => {
  const fit = { type: 'object', default: { by: 'hand' }, properties: { by: text, to: { ...text, default: 'axle' } } };
  const fields = { size: text, fit };
  beforeAll(() => define('belts', 'Belt', fields, fields));

  // The defaults are those of the object that is stored, not of one that is converted to find the fields of managers.
  it('gets it again from an apply without the field, whatever versions have managers', async () => {
    const apply = (spec: JsonObject) =>
      opened.request(
        'PATCH',
        `${pathOf('belts', 'v1')}/b?fieldManager=a`,
        objectOf('Belt', 'v1', 'b', spec),
        applyPatch,
      );
    expect(specOf((await apply({ fit: { to: 'wheel' } })).object)).toEqual({ fit: { to: 'wheel' } });
    await opened.request('PATCH', `${pathOf('belts', 'v2')}/b?fieldManager=b`, { spec: { size: 's' } }, mergePatch);
    expect(specOf((await apply({})).object)).toEqual({ size: 's', fit: { by: 'hand', to: 'axle' } });
  });
});

describe('a list of custom objects', () => {
  const names = { plural: 'cogs', kind: 'Cog', listKind: 'CogCollection' };
  const path = pathOf('cogs', 'v1');
  beforeAll(async () => {
    await opened.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'cogs.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names,
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    });
    await vi.waitFor(() => opened.request('GET', path));
  });

  it.each(['GET', 'DELETE'])('has the list kind of the definition, and always a continue token: %s', async (method) => {
    const { object } = await opened.request(method, path);
    expect(object).toMatchObject({ kind: 'CogCollection', apiVersion: 'example.com/v1', items: [] });
    expect(object.metadata).toEqual({ resourceVersion: expect.any(String), continue: '' });
  });

  it('has a schema of that name', async () => {
    const { object } = await opened.request('GET', '/openapi/v3/apis/example.com/v1');
    const { schemas } = (object as unknown as { components: { schemas: JsonObject } }).components;
    expect(schemas['com.example.v1.CogCollection']).toMatchObject({
      'x-kubernetes-group-version-kind': [{ group: 'example.com', kind: 'CogCollection', version: 'v1' }],
    });
    expect(schemas).not.toHaveProperty(['com.example.v1.CogList']);
  });
});
