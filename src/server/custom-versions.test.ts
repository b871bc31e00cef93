import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { mergePatch, type OlderServer, olderServer, specOf } from './testing/older-server.ts';

let opened: OlderServer;
beforeAll(async () => {
  opened = await olderServer();
  const schema = (fields: JsonObject) => ({
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: fields } } },
  });
  const text = { type: 'string' };
  await opened.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'gears.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gears', kind: 'Gear' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: schema({ teeth: text }) },
        {
          name: 'v2',
          served: true,
          storage: false,
          schema: schema({ teeth: text, only: { type: 'string', default: 'v2' } }),
        },
      ],
    },
  });
  await vi.waitFor(() => opened.request('GET', gears));
});
afterAll(() => opened.server.close());

const gears = '/apis/example.com/v2/namespaces/default/gears';
const gear = (name: string, spec: JsonObject) => ({
  apiVersion: 'example.com/v2',
  kind: 'Gear',
  metadata: { name },
  spec,
});

describe('a field that the stored version does not declare', () => {
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
