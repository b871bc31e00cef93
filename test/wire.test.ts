import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type RunningServer, startServer } from './support/server.ts';
import { tenKinds } from './support/ten-kinds.ts';

// The kubectl test by hand, over HTTPS, against a server with its own domain.
describe('the API under orch.io', () => {
  let server: RunningServer;
  const shop = '/api/v1/namespaces/shop';

  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  const get = async (path: string, accept?: string) =>
    (await server.request('GET', path, undefined, accept === undefined ? {} : { accept })).body;

  it('uses its API domain in discovery', async () => {
    const groups: string[] = (await get('/apis')).groups.map((g: { name: string }) => g.name);
    expect(groups).toContain('networking.orch.io');
    expect(groups).toContain('rbac.authorization.orch.io');
    expect(groups.filter((name) => name.includes('k8s'))).toEqual([]);
    expect((await get('/apis/apps/v1')).resources.map((r: { name: string }) => r.name)).toContain('deployments');
  });

  it('uses its API domain in OpenAPI', async () => {
    const document = await get('/openapi/v3/apis/apps/v1');
    const schema = document.components.schemas['io.orch.api.apps.v1.Deployment'];
    expect(schema['x-orch-group-version-kind']).toEqual([{ group: 'apps', kind: 'Deployment', version: 'v1' }]);
    expect(JSON.stringify(document)).not.toMatch(/k8s|kubernetes/i);
  });

  it('has the labelled system namespaces', async () => {
    const list = await get('/api/v1/namespaces');
    expect(list.items.map((n: { metadata: { name: string } }) => n.metadata.name)).toEqual([
      'default',
      'kube-system',
      'orch-node-lease',
      'orch-public',
    ]);
    expect(list.items[0].metadata.labels).toEqual({ 'orch.io/metadata.name': 'default' });
    expect(list.items[0].spec).toEqual({ finalizers: ['orch'] });
  });

  it('creates ten kinds', async () => {
    const paths: { [kind: string]: string } = {
      Namespace: '/api/v1/namespaces',
      ConfigMap: `${shop}/configmaps`,
      Secret: `${shop}/secrets`,
      ServiceAccount: `${shop}/serviceaccounts`,
      Service: `${shop}/services`,
      Deployment: '/apis/apps/v1/namespaces/shop/deployments',
      StatefulSet: '/apis/apps/v1/namespaces/shop/statefulsets',
      CronJob: '/apis/batch/v1/namespaces/shop/cronjobs',
      Ingress: '/apis/networking.orch.io/v1/namespaces/shop/ingresses',
      Role: '/apis/rbac.authorization.orch.io/v1/namespaces/shop/roles',
    };
    const documents = parseAllDocuments(tenKinds('orch.io')).map((document) => document.toJS() as { kind: string });
    expect(documents.map(({ kind }) => kind)).toEqual(Object.keys(paths));
    for (const object of documents) {
      const answer = await server.request('POST', paths[object.kind] ?? '', object);
      expect([object.kind, answer.status, answer.body.kind]).toEqual([object.kind, 201, object.kind]);
    }
  });

  it('reads and writes YAML', async () => {
    const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: from-yaml }\ndata: { a: b }\n';
    const created = await server.request('POST', `${shop}/configmaps`, manifest, {
      'content-type': 'application/yaml',
    });
    expect(created.status).toBe(201);
    expect(await get(`${shop}/configmaps/from-yaml`, 'application/yaml')).toMatch(
      /^apiVersion: v1\ndata:\n {2}a: b\nkind: ConfigMap\nmetadata:\n/,
    );
    await server.request('DELETE', `${shop}/configmaps/from-yaml`);
  });

  it('serves tables, selectors and PartialObjectMetadata', async () => {
    const table = await get(
      '/apis/apps/v1/namespaces/shop/deployments',
      'application/json;as=Table;g=meta.orch.io;v=v1',
    );
    expect(table.apiVersion).toBe('meta.orch.io/v1');
    expect(table.rows[0].cells.slice(0, 4)).toEqual(['web', '0/3', 0, 0]);
    const selected = await get('/api/v1/configmaps?labelSelector=app%3Dweb');
    expect(selected.items.map((c: { metadata: { name: string } }) => c.metadata.name)).toEqual(['settings']);
    const partial = await get(`${shop}/secrets/keys`, 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1');
    expect(partial.kind).toBe('PartialObjectMetadata');
    expect(partial.data).toBeUndefined();
  });

  it('rejects an unknown field by its path under strict field validation', async () => {
    const answer = await server.request('POST', `${shop}/configmaps?fieldValidation=Strict`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'odd' },
      datum: {},
    });
    expect([answer.status, answer.body.reason]).toEqual([400, 'BadRequest']);
    expect(answer.body.message).toContain('strict decoding error: unknown field "datum"');
  });

  it('reports unknown and duplicate fields in the order of the text', async () => {
    const text = '{"bogus":1,"metadata":{"name":"odd","name":"odd"},"also":2}';
    const { body } = await server.request('POST', `${shop}/configmaps?fieldValidation=Strict`, text);
    expect(body.message).toContain(
      'strict decoding error: unknown field "bogus", duplicate field "metadata.name", unknown field "also"',
    );
  });

  it('watches', async () => {
    const { metadata } = await get(`${shop}/configmaps`);
    await server.request('POST', `${shop}/configmaps`, { metadata: { name: 'late' } });
    await server.request('DELETE', `${shop}/configmaps/late`);
    const stream = await server.request(
      'GET',
      `${shop}/configmaps?watch=1&timeoutSeconds=5&resourceVersion=${metadata.resourceVersion}`,
    );
    const { text } = stream;
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; object: { metadata: { name: string } } });
    expect(events.map(({ type, object }) => [type, object.metadata.name])).toEqual([
      ['ADDED', 'late'],
      ['DELETED', 'late'],
    ]);
  });

  it('updates, patches and deletes', async () => {
    const path = `${shop}/configmaps/settings`;
    const replaced = await server.request('PUT', path, { ...(await get(path)), data: { color: 'red' } });
    expect([replaced.status, replaced.body.data]).toEqual([200, { color: 'red' }]);
    const json = await server.request('PATCH', path, [{ op: 'add', path: '/data/shape', value: 'round' }], {
      'content-type': 'application/json-patch+json',
    });
    expect(json.body.data).toEqual({ color: 'red', shape: 'round' });
    const merge = await server.request(
      'PATCH',
      path,
      { data: { color: null } },
      { 'content-type': 'application/merge-patch+json' },
    );
    expect(merge.body.data).toEqual({ shape: 'round' });
    expect((await server.request('DELETE', path)).body.status).toBe('Success');
    expect((await server.request('GET', path)).status).toBe(404);
    await server.request('DELETE', `${shop}/configmaps`);
    expect((await get(`${shop}/configmaps`)).items).toEqual([]);
  });
});
