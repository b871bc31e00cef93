import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fixture, makeFixture } from '../testing/fixture.ts';

interface Schema {
  readonly $ref?: string;
  readonly [key: string]: unknown;
}
interface Document {
  readonly openapi?: string;
  readonly swagger?: string;
  readonly paths: { readonly [path: string]: { readonly [method: string]: { readonly [key: string]: never } } };
  readonly components: { readonly schemas: { readonly [name: string]: Schema } };
  readonly definitions: { readonly [name: string]: Schema };
}

const recorded = JSON.parse(
  readFileSync(new URL('../../../test/reference/expected/surface.documents.json', import.meta.url), 'utf8'),
) as { step: string; body: { [key: string]: unknown } }[];
const bodyOf = (step: string) => recorded.find((exchange) => exchange.step === step)?.body ?? {};

let server: Fixture;
const get = async (path: string) => (await server.send('GET', path)).json() as unknown as Document;
beforeAll(async () => {
  server = await makeFixture();
});
afterAll(() => server.close());

it('has the recorded paths of a group version, watches included', async () => {
  const { openapi, paths } = await get('/openapi/v3/apis/apps/v1');
  const expected = bodyOf('GET /openapi/v3/apis/apps/v1');
  expect(openapi).toBe(expected['openapi']);
  expect(Object.keys(paths)).toEqual(expected['paths']);
});

it('has no dangling references', async () => {
  const { paths } = await get('/openapi/v3');
  expect(Object.keys(paths)).toContain('apis/apps/v1');
  for (const path of Object.keys(paths)) {
    const document = await get(`/openapi/v3/${path}`);
    const missing = references(document).filter(
      (ref) => !(ref.slice('#/components/schemas/'.length) in document.components.schemas),
    );
    expect([path, missing]).toEqual([path, []]);
  }
  const v2 = await get('/openapi/v2');
  expect(references(v2).filter((ref) => !(ref.slice('#/definitions/'.length) in v2.definitions))).toEqual([]);
});

it('has unique operation ids', async () => {
  const { paths } = await get('/openapi/v2');
  const ids = Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap((operation) =>
      operation['operationId'] === undefined ? [] : [operation['operationId']],
    ),
  );
  expect(ids.length).toBeGreaterThan(500);
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  expect(ids).toEqual(
    expect.arrayContaining([
      'listCoreV1PodForAllNamespaces',
      'deleteAppsV1CollectionNamespacedDeployment',
      'readAppsV1NamespacedDeploymentScale',
      'watchCoreV1NamespacedPodList',
      'createRbacAuthorizationV1ClusterRole',
    ]),
  );
});

const pod = '/api/v1/namespaces/{namespace}/pods/{name}';

type Parameter = { readonly name: string; readonly in: string; readonly schema?: { readonly type: string } };
const parametersOf = (item: unknown) => (item as { parameters?: Parameter[] } | undefined)?.parameters ?? [];

it('has the options of connections as query parameters, and every method of proxies', async () => {
  const { components, paths } = await get('/openapi/v3/api/v1');
  const parameters = (path: string) =>
    parametersOf(paths[path]).map(({ name, in: place, schema }) => `${place} ${name} ${schema?.type}`);
  expect(parameters(`${pod}/exec`)).toEqual([
    'query command string',
    'query container string',
    'path name string',
    'path namespace string',
    'query stderr boolean',
    'query stdin boolean',
    'query stdout boolean',
    'query tty boolean',
  ]);
  expect(paths[`${pod}/exec`]?.['post']).toMatchObject({
    operationId: 'connectCoreV1PostNamespacedPodExec',
    responses: { 200: { content: { '*/*': { schema: { type: 'string' } } } } },
    'x-kubernetes-action': 'connect',
    'x-kubernetes-group-version-kind': { group: '', version: 'v1', kind: 'PodExecOptions' },
  });
  expect(Object.keys(paths[`${pod}/proxy/{path}`] ?? {}).sort()).toEqual([
    'delete',
    'get',
    'head',
    'options',
    'parameters',
    'patch',
    'post',
    'put',
  ]);
  expect(paths['/api/v1/nodes/{name}/proxy/{path}']?.['get']?.['operationId']).toBe(
    'connectCoreV1GetNodeProxyWithPath',
  );
  expect(paths[`${pod}/log`]?.['get']).toMatchObject({
    operationId: 'readCoreV1NamespacedPodLog',
    'x-kubernetes-action': 'get',
    'x-kubernetes-group-version-kind': { kind: 'Pod' },
  });
  expect(components.schemas).not.toHaveProperty(['io.k8s.api.core.v1.PodExecOptions']);
});

it('has the parameters that all operations of a path have once', async () => {
  const { paths } = await get('/openapi/v3/api/v1');
  const names = (item: unknown) => parametersOf(item).map(({ name }) => name);
  const pods = paths['/api/v1/namespaces/{namespace}/pods'];
  expect(names(pods)).toEqual(['namespace', 'pretty']);
  expect(names(pods?.['post'])).toEqual(['dryRun', 'fieldManager', 'fieldValidation']);
  const binding = paths[`${pod}/binding`];
  expect(names(binding)).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'name', 'namespace', 'pretty']);
  expect(names(binding?.['post'])).toEqual([]);
});

it('names protobuf where it is served', async () => {
  const { paths } = await get('/openapi/v2');
  const plain = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
  const streams = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
  expect(paths['/api/v1/']?.['get']?.['produces']).toEqual(plain);
  expect(paths[pod]?.['put']?.['produces']).toEqual(plain);
  expect(paths['/api/v1/pods']?.['get']?.['produces']).toEqual([...plain, ...streams]);
});

it('declares the action of an operation and the parameter fieldValidation', async () => {
  const { paths } = await get('/openapi/v3/api/v1');
  const patch = paths['/api/v1/namespaces/{namespace}/pods/{name}']?.['patch'] as unknown as {
    parameters: { name: string }[];
    [key: string]: unknown;
  };
  expect(patch['x-kubernetes-action']).toBe('patch');
  expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: '', version: 'v1', kind: 'Pod' });
  expect(patch.parameters.map(({ name }) => name)).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force']);
});

it('serves OpenAPI 2.0, as recorded', async () => {
  const { swagger, paths } = await get('/openapi/v2');
  const expected = bodyOf('GET /openapi/v2') as { some: [string, string[]][] };
  expect(swagger).toBe('2.0');
  for (const [path, methods] of expected.some) expect(Object.keys(paths[path] ?? {}).sort()).toEqual(methods);
});

it('serves each document under a URL with its hash, which may be cached', async () => {
  const { paths } = (await get('/openapi/v3')) as unknown as { paths: { [gv: string]: { serverRelativeURL: string } } };
  const url = paths['apis/apps/v1']?.serverRelativeURL ?? '';
  const answer = await server.send('GET', url);
  expect(answer.status).toBe(200);
  expect(url).toBe(`/openapi/v3/apis/apps/v1?hash=${String(answer.headers['etag']).replaceAll('"', '')}`);
  expect(answer.headers['cache-control']).toContain('immutable');
  const other = await server.send('GET', '/openapi/v3/apis/apps/v1?hash=OLD');
  expect([other.status, other.headers['location'], other.text]).toEqual([301, url, '']);
  expect((await server.send('GET', '/openapi/v3/apis/apps/v1')).headers['cache-control']).toBe('no-cache, private');
});

describe('OpenAPI 3.0 in protobuf', () => {
  const type = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';
  const ask = (accept: string, path = '/openapi/v3/apis/apps/v1') => server.send('GET', path, { headers: { accept } });

  it.each([
    ['application/com.github.proto-openapi.spec.v3@v1.0+protobuf', type],
    [type, type],
    [`application/json;q=0.5,${type}`, type],
    ['application/json', 'application/json'],
    ['*/*', 'application/json'],
  ])('is negotiated by Accept: %s', async (accept, expected) => {
    const { status, headers } = await ask(accept);
    expect([status, headers['content-type'], headers['vary']]).toEqual([200, expected, 'Accept']);
  });

  it('is 406 when neither it nor JSON is accepted; the list of documents is always JSON', async () => {
    const { status, json } = await ask('text/html');
    expect(status).toBe(406);
    expect(json()).toMatchObject({ message: expect.stringContaining(type) as string });
    expect((await ask('text/html', '/openapi/v3')).status).toBe(200);
  });

  it('has the hash of the JSON document, and decodes to it', async () => {
    const url = String((await server.send('GET', '/openapi/v3/apis/apps/v1?hash=OLD')).headers['location']);
    const [text, binary] = [await ask('application/json', url), await ask(type, url)];
    expect(binary.headers['etag']).toBe(text.headers['etag']);
    expect(binary.headers['cache-control']).toContain('immutable');
    const { paths, components } = text.json() as unknown as { paths: object; components: { schemas: object } };
    const document = Buffer.concat(binary.pieces);
    const textAt = (...numbers: number[]) => valuesAt(document, ...numbers).map(String);
    expect(textAt(1)).toEqual(['3.0.0']);
    expect(textAt(4, 1, 1)).toEqual(Object.keys(paths));
    expect(textAt(5, 1, 1, 1)).toEqual(Object.keys(components.schemas));
    expect(textAt(5, 7, 1, 1)).toEqual(['BearerToken']);
    const properties = Object.values(components.schemas).flatMap((schema: { properties?: object }) =>
      Object.keys(schema.properties ?? {}),
    );
    expect(textAt(5, 1, 1, 2, 1, 31, 1, 1)).toEqual(properties);
  });
});

describe('OpenAPI 2.0 in protobuf', () => {
  const type = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
  const ask = (accept: string, more = {}) => server.send('GET', '/openapi/v2', { headers: { accept, ...more } });

  it.each([
    ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', type],
    [type, type],
    [`application/json;q=0.5,${type}`, type],
    [`${type};q=0.5,application/json`, 'application/json'],
    [`text/html,${type}`, type],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
  ])('is negotiated by Accept: %s', async (accept, expected) => {
    const { status, headers } = await ask(accept);
    expect([status, headers['content-type'], headers['vary']]).toEqual([200, expected, 'Accept']);
  });

  it('is 406 when neither it nor JSON is accepted', async () => {
    const { status, json } = await ask('text/html');
    expect(status).toBe(406);
    expect(json()).toMatchObject({ message: expect.stringContaining(type) as string });
  });

  it('has its own ETag', async () => {
    const tags = await Promise.all(
      [type, 'application/json'].map(async (accept) => (await ask(accept)).headers['etag']),
    );
    expect(new Set(tags).size).toBe(2);
    expect((await ask(type, { 'if-none-match': tags[0] })).status).toBe(304);
    expect((await ask('application/json', { 'if-none-match': tags[0] })).status).toBe(200);
  });

  // The numbers are those of openapi.v2.Document.
  it('decodes to the JSON document', async () => {
    const { paths, definitions } = await get('/openapi/v2');
    const document = Buffer.concat((await ask(type)).pieces);
    const textAt = (message: Buffer, ...numbers: number[]) => valuesAt(message, ...numbers).map(String);
    const [pathPairs, schemaPairs] = [valuesAt(document, 8, 2), valuesAt(document, 9, 1)];
    const pathNames = pathPairs.flatMap((pair) => textAt(pair, 1));
    expect(new Set(pathNames)).toEqual(new Set(Object.keys(paths)));
    expect(pathNames.length).toBe(Object.keys(paths).length);
    expect(schemaPairs.flatMap((pair) => textAt(pair, 1))).toEqual(Object.keys(definitions));
    const operations = Object.values(paths).flatMap((item) => Object.entries(item));
    const posts = operations
      .filter(([method]) => method === 'post')
      .map(([, operation]) => String(operation['operationId']));
    expect(pathPairs.flatMap((pair) => textAt(pair, 2, 4, 5)).sort()).toEqual(posts.sort());
    for (const pair of schemaPairs) {
      const [name = ''] = textAt(pair, 1);
      const { properties, required, description } = definitions[name] ?? {};
      expect([name, textAt(pair, 2, 25, 1, 1), textAt(pair, 2, 19), textAt(pair, 2, 4)]).toEqual([
        name,
        Object.keys(properties ?? {}),
        required ?? [],
        description === undefined ? [] : [description],
      ]);
    }
  });
});

/** The values at the end of a path of field numbers, in messages of which all others are skipped. */
function valuesAt(message: Buffer, ...[number, ...inner]: number[]): Buffer[] {
  if (number === undefined) return [message];
  const found: Buffer[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const key = varint();
    if (key % 8 === 0) varint();
    else if (key % 8 === 1) at += 8;
    else {
      const end = varint() + at;
      if (key >> 3 === number) found.push(...valuesAt(message.subarray(at, end), ...inner));
      at = end;
    }
  }
  return found;
}

function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : references(inner),
  );
}
