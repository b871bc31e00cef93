import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareVersions, namesFor, serverTurns } from '../../meta/index.ts';
import type { Call } from '../call.ts';
import { jsonCodec } from '../codecs/json-codec.ts';
import { type Fixture, makeFixture } from '../testing/fixture.ts';
import { createDiscovery } from './discovery.ts';

interface Exchange {
  readonly step: string;
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: never;
}

const recorded = JSON.parse(
  readFileSync(new URL('../../../test/reference/expected/surface.discovery.json', import.meta.url), 'utf8'),
) as Exchange[];
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

let server: Fixture;
beforeAll(async () => {
  server = await makeFixture();
});
afterAll(() => server.close());

describe('discovery', () => {
  const documents = recorded.filter(({ step }) => /^GET \/apis?\/[a-z0-9.]+(\/v[0-9]+)?$/.test(step));
  it('has recorded documents to compare', () => {
    expect(documents.length).toBeGreaterThan(20);
  });

  it.each(documents.map((exchange) => [exchange.step, exchange] as const))(
    '%s is as recorded',
    async (step, exchange) => {
      const answer = await server.send('GET', step.slice(4));
      expect(answer.status).toBe(exchange.status);
      expect(answer.headers['content-type']).toBe(exchange.headers['content-type']);
      if (exchange.headers['content-type'] !== 'application/json') {
        expect(answer.text).toBe(exchange.body);
        return;
      }
      const body = answer.json() as { resources?: { storageVersionHash?: string }[] };
      // The recording has none of the hashes.
      for (const resource of body.resources ?? []) delete resource.storageVersionHash;
      expect(body).toEqual(exchange.body);
    },
  );

  it('has a storageVersionHash', async () => {
    const { resources } = (await server.send('GET', '/api/v1')).json() as { resources: { [field: string]: unknown }[] };
    const hash = (name: string) => resources.find((r) => r['name'] === name)?.['storageVersionHash'];
    // The first eight bytes of SHA-256 of "/v1/Pod".
    expect(hash('pods')).toBe('xPOwRZ+Yhw8=');
    expect([hash('pods/status'), hash('bindings')]).toEqual([undefined, undefined]);
  });

  it('lists groups by priority', async () => {
    const { groups } = (await server.send('GET', '/apis')).json() as { groups: { name: string }[] };
    const names = groups.map((group) => group.name);
    expect(names.slice(0, 4)).toEqual(['apiregistration.k8s.io', 'apps', 'events.k8s.io', 'authentication.k8s.io']);
    const all = recorded.find(({ step }) => step === 'GET /apis')?.body as unknown as { groups: string[] };
    expect([...names].sort()).toEqual(all.groups);
    const autoscaling = groups.find((group) => group.name === 'autoscaling');
    expect(autoscaling).toMatchObject({
      preferredVersion: { version: 'v2' },
      versions: [{ version: 'v2' }, { version: 'v1' }],
    });
  });

  it.each([
    ['/api', 'pods', 'aggregated core'],
    ['/apis', 'deployments', 'aggregated groups'],
  ])('%s has the recorded aggregated discovery', async (path, plural, step) => {
    const answer = await server.send('GET', path, { headers: { accept: `${aggregated},application/json` } });
    expect(answer.headers['content-type']).toBe(aggregated);
    const body = answer.json() as {
      items: { metadata: { name?: string }; versions: { resources: { resource: string }[] }[] }[];
    };
    const group = body.items.find((item) => path === '/api' || item.metadata.name === 'apps');
    const found = group?.versions[0]?.resources.find(({ resource }) => resource === plural);
    const expected = recorded.find((exchange) => exchange.step === step)?.body as unknown as { [key: string]: unknown };
    expect(found).toEqual(expected['res'] ?? expected['apps']);
  });

  it('lets caches keep aggregated discovery, and no other form', async () => {
    const headersOf = async (path: string, accept: string) =>
      (await server.send('GET', path, { headers: { accept } })).headers;
    for (const path of ['/api', '/apis']) {
      expect(await headersOf(path, aggregated)).toMatchObject({ 'cache-control': 'public', vary: 'Accept' });
      expect(await headersOf(path, 'application/json')).toMatchObject({ 'cache-control': 'no-cache, private' });
    }
  });

  it('serves aggregated discovery in v2beta1 too, and the unaggregated form instead of an unknown version', async () => {
    const ask = (accept: string, path = '/apis') => server.send('GET', path, { headers: { accept } });
    const of = (version: string) => aggregated.replace('v=v2', `v=${version}`);
    for (const path of ['/api', '/apis']) {
      const [stable, beta] = [await ask(aggregated, path), await ask(of('v2beta1'), path)];
      expect(beta.headers['content-type']).toBe(of('v2beta1'));
      const expected = { ...(stable.json() as object), apiVersion: 'apidiscovery.k8s.io/v2beta1' };
      expect(beta.json()).toEqual(expected);
    }
    const protobuf = await ask(of('v2beta1').replace('json', 'vnd.kubernetes.protobuf'));
    expect(protobuf.text).toContain('apidiscovery.k8s.io/v2beta1');
    expect((await ask(`${of('v9')},application/json`)).json()).toMatchObject({ kind: 'APIGroupList' });
    expect((await ask(of('v9'))).status).toBe(406);
  });

  it.each(['/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1'])(
    '%s is indented for curl and with pretty=true',
    async (path) => {
      const compact = await server.send('GET', path);
      expect(compact.text).toBe(`${JSON.stringify(compact.json())}\n`);
      const lines = JSON.stringify(compact.json(), undefined, 2);
      expect((await server.send('GET', `${path}?pretty=true`)).text).toBe(lines);
      const curl = { 'user-agent': 'curl/8.0' };
      expect((await server.send('GET', path, { headers: curl })).text).toBe(lines);
      expect((await server.send('GET', `${path}?pretty=0`, { headers: curl })).text).toBe(compact.text);
    },
  );

  it.each(['/version', '/'])('%s is always indented', async (path) => {
    const { text, json } = await server.send('GET', `${path}?pretty=0`);
    expect(text).toBe(JSON.stringify(json(), undefined, 2));
  });

  it.each([
    ['/api', 'APIVersions'],
    ['/api/v1', 'APIResourceList'],
    ['/apis', 'APIGroupList'],
    ['/apis/apps', 'APIGroup'],
    ['/apis/apps/v1', 'APIResourceList'],
  ])('%s is served in every media type', async (path, kind) => {
    const ask = (accept: string, method = 'GET') => server.send(method, path, { headers: { accept } });
    const yaml = await ask('text/html, application/yaml');
    expect([yaml.headers['content-type'], yaml.text]).toEqual([
      'application/yaml',
      expect.stringContaining(`kind: ${kind}\n`),
    ]);
    for (const mediaType of ['application/json', 'application/vnd.kubernetes.protobuf']) {
      const stream = await ask(`application/yaml;stream=watch, ${mediaType};stream=watch`);
      expect([stream.status, stream.headers['content-type']]).toEqual([200, mediaType]);
    }
    const protobuf = await ask('application/vnd.kubernetes.protobuf');
    // The envelope has the apiVersion that the document has in JSON.
    const apiVersion = path.startsWith('/apis') ? 'v1' : '';
    const envelope = Buffer.from(
      `\n${String.fromCharCode(apiVersion.length)}${apiVersion}\x12${String.fromCharCode(kind.length)}${kind}`,
    );
    expect(protobuf.text).toContain(envelope.toString());
    expect([protobuf.headers['content-type'], protobuf.text]).toEqual([
      'application/vnd.kubernetes.protobuf',
      expect.stringContaining(kind),
    ]);
    expect((await ask('text/html')).status).toBe(406);
    // As in the reference server, the handlers of these paths ignore the method and accept any media range.
    const own = path === '/apis' || path === '/apis/apps';
    expect((await ask('*/*', 'POST')).status).toBe(own ? 200 : 405);
    expect((await ask('application/*')).status).toBe(own ? 200 : 406);
  });

  it('is 304 for a matching ETag', async () => {
    const first = await server.send('GET', '/apis/apps/v1');
    const tag = String(first.headers['etag']);
    const again = await server.send('GET', '/apis/apps/v1', { headers: { 'if-none-match': `"other", ${tag}` } });
    expect([again.status, again.text]).toEqual([304, '']);
    const changed = await server.send('GET', '/apis/apps/v1', { headers: { 'if-none-match': '"other"' } });
    expect(changed.status).toBe(200);
  });

  it('has the groups of the configured domain', async () => {
    const own = await makeFixture({ domain: 'orch.io' });
    const { groups } = (await own.send('GET', '/apis')).json() as { groups: { name: string }[] };
    expect(groups.map((group) => group.name)).toContain('networking.orch.io');
    expect(groups.filter((group) => group.name.includes('k8s'))).toEqual([]);
    await own.close();
  });
});

it('rejects a method before it begins the document, whose failure nobody would handle', async () => {
  const groups = [{ name: '', versions: [] }];
  const discovery = createDiscovery(
    () => groups,
    namesFor('k8s.io'),
    [jsonCodec],
    () => '',
    true,
    () => {},
  );
  const info = { query: new URLSearchParams() };
  const call = (method: string) =>
    ({ request: { method, headers: {}, signal: { aborted: false } }, info, turns: serverTurns() }) as unknown as Call;
  expect(() => discovery.serve('/api', call('PUT'))).toThrow('the server does not allow this method');
  expect(await discovery.serve('/api', call('GET'))).toMatchObject({ status: 200 });
});

it('orders versions by Kubernetes version priority', () => {
  const sorted = ['foo', 'v1alpha1', 'v11', 'v2beta1', 'v1', 'v2', 'v1beta10', 'v1beta2', 'v11alpha2', 'v01'];
  // Released before beta before alpha, each by number; what is not a version comes last, by name.
  expect(sorted.sort(compareVersions)).toEqual([
    'v11',
    'v2',
    'v1',
    'v2beta1',
    'v1beta10',
    'v1beta2',
    'v11alpha2',
    'v1alpha1',
    'foo',
    'v01',
  ]);
});
