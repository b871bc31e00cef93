import { afterAll, describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../meta/index.ts';
import { makeFixture } from './testing/fixture.ts';

// Recorded exchanges `patches.*` and `apply.*` say what is right here.

const fixture = await makeFixture();
afterAll(() => fixture.close());

const types = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

async function send(method: string, url: string, body?: string | Json, type?: keyof typeof types, token = 'admin') {
  const headers = type === undefined ? {} : { 'content-type': types[type] };
  const answer = await fixture.send(method, url, { token, headers, ...(body === undefined ? {} : { body }) });
  return { status: answer.status, body: answer.json() as JsonObject };
}

const maps = '/api/v1/namespaces/default/configmaps';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const map = (name: string, data: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const deployment = (name: string, containers: Json): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers } } },
});

const entries = (body: JsonObject): JsonObject[] => {
  const { metadata } = body;
  return ((isJsonObject(metadata) ? metadata['managedFields'] : undefined) ?? []) as JsonObject[];
};

describe('the default field manager', () => {
  it.each([
    ['the parameter', '?fieldManager=me', 'tool/1.0', 'me'],
    ['else the program', '', 'tool/1.0 (linux)', 'tool'],
    ['else nobody known', '', undefined, 'unknown'],
  ])('%s', async (_, query, agent, manager) => {
    const headers = agent === undefined ? {} : { 'user-agent': agent };
    const body = { ...map('', { a: '1' }), metadata: { generateName: 'm-' } };
    const made = (await fixture.send('POST', maps + query, { token: 'admin', headers, body })).json();
    expect(entries(made as JsonObject)[0]).toMatchObject({ manager, operation: 'Update' });
  });
});

describe('strategic merge patch', () => {
  it.each([[{ kind: 'Secret' }], [{ kind: 'Other' }], [{ apiVersion: 'apps/v1' }]])(
    'cannot change the type: %j',
    async (patch) => {
      await send('POST', maps, map('typed', { a: '1' }));
      const { status, body } = await send('PATCH', `${maps}/typed`, { ...patch, data: { b: '2' } }, 'strategic');
      expect(status).toBe(200);
      expect(body).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { a: '1', b: '2' } });
      expect((await send('PATCH', `${maps}/typed`, patch, 'merge')).status).not.toBe(200);
    },
  );

  it('merges containers by name', async () => {
    await send(
      'POST',
      deployments,
      deployment('s', [
        { name: 'a', image: 'i:1' },
        { name: 'b', image: 'j:1' },
      ]),
    );
    const patch = { spec: { template: { spec: { containers: [{ name: 'b', image: 'j:2' }] } } } };
    const { status, body } = await send('PATCH', `${deployments}/s`, patch, 'strategic');
    expect(status).toBe(200);
    const containers = [
      { name: 'a', image: 'i:1' },
      { name: 'b', image: 'j:2' },
    ];
    expect(body).toMatchObject({ spec: { template: { spec: { containers } } } });
  });

  it('writes the status below it', async () => {
    await send('POST', deployments, deployment('t', [{ name: 'a', image: 'i' }]));
    const condition = (type: string) => ({ status: { conditions: [{ type, status: 'True' }] } });
    await send('PATCH', `${deployments}/t/status`, condition('Available'), 'strategic');
    const { body } = await send('PATCH', `${deployments}/t/status`, condition('Progressing'), 'strategic');
    expect(body['status']).toMatchObject({ conditions: [{ type: 'Progressing' }, { type: 'Available' }] });
  });
});

describe('scale', () => {
  it('its field managers own the replicas of the scaled object', async () => {
    await send('POST', deployments, deployment('z', [{ name: 'a', image: 'i' }]));
    const scale = `${deployments}/z/scale`;
    const { body } = await send('PATCH', `${scale}?fieldManager=one`, { spec: { replicas: 3 } }, 'strategic');
    expect(body).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
    const intent = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'z' }, spec: { replicas: 4 } };
    const refused = await send('PATCH', `${scale}?fieldManager=two`, intent, 'apply');
    expect([refused.status, refused.body['message']]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "one" with subresource "scale" using autoscaling/v1: .spec.replicas',
    ]);
    expect((await send('PATCH', `${scale}?fieldManager=two&force=true`, intent, 'apply')).status).toBe(200);
    const after = (await send('GET', `${deployments}/z`)).body;
    expect(after['spec']).toMatchObject({ replicas: 4 });
    expect(entries(after).filter(({ subresource }) => subresource === 'scale')).toEqual([
      {
        manager: 'two',
        operation: 'Apply',
        apiVersion: 'apps/v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
        subresource: 'scale',
      },
    ]);
  });
});

describe('apply', () => {
  const url = (name: string, query = '?fieldManager=me') => `${maps}/${name}${query}`;

  it('reads YAML', async () => {
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: yaml }\ndata:\n  a: "1"\n';
    expect((await send('PATCH', url('yaml'), yaml, 'apply')).status).toBe(201);
    expect((await send('PATCH', url('yaml'), yaml, 'apply')).status).toBe(200);
  });

  it.each([
    ['no manager', '', map('x', {}), 422, 'fieldManager: Required value: is required for apply patch'],
    ['broken YAML', undefined, 'a: [', 400, 'error decoding YAML: error converting YAML to JSON: yaml: line 1: '],
    ['a list', undefined, '- a', 400, 'error decoding YAML: '],
  ])('refuses %s', async (_, query, body, status, message) => {
    const answer = await send('PATCH', url('x', query), body, 'apply');
    expect(answer).toMatchObject({ status, body: { message: expect.stringContaining(message) as string } });
  });

  it('accepts YAML only', async () => {
    const headers = { 'content-type': 'application/apply-patch+cbor' };
    expect((await fixture.send('PATCH', url('x'), { token: 'admin', headers, body: {} })).status).toBe(415);
  });
});
