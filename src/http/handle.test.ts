import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonObject, StatusError } from '../meta/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { type Fixture, makeFixture, requestOf, usedOf } from './testing/fixture.ts';
import type { Chunk } from './types.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

let server: Fixture;
beforeAll(async () => {
  server = await makeFixture();
});
afterAll(() => server.close());

const failure = (code: number, reason: string, message: string, details?: object) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  ...(details === undefined ? {} : { details }),
  code,
});
const noSuchResource = failure(404, 'NotFound', 'the server could not find the requested resource', {});
const wrongMethod = failure(
  405,
  'MethodNotAllowed',
  'the server does not allow this method on the requested resource',
  {},
);

const reviews = '/apis/authorization.k8s.io/v1';

describe('unknown paths, as recorded', () => {
  it.each([
    ['an unknown resource', 'GET', '/api/v1/namespaces/default/widgets', noSuchResource],
    ['an unknown version of a known group', 'GET', '/apis/apps/v7', noSuchResource],
    ['a post to an item', 'POST', `${configMaps}/absent`, wrongMethod],
    ['a put to a collection', 'PUT', configMaps, wrongMethod],
    ['a patch across namespaces', 'PATCH', '/api/v1/configmaps', wrongMethod],
    ['an unknown subresource', 'GET', `${configMaps}/x/status`, noSuchResource],
    ['OPTIONS', 'OPTIONS', `${configMaps}/x`, wrongMethod],
    ['a cluster-scoped resource in a namespace', 'GET', '/api/v1/namespaces/default/nodes', noSuchResource],
    ['an object of a namespace without one', 'GET', '/api/v1/configmaps/x', noSuchResource],
    ['more than a subresource', 'GET', '/api/v1/namespaces/default/status/x/y', noSuchResource],
    ['a verb that the resource does not have', 'DELETE', '/api/v1/namespaces', wrongMethod],
    ['a name where nothing is kept', 'GET', `${reviews}/subjectaccessreviews/x`, noSuchResource],
    ['a write to a name where nothing is kept', 'PUT', `${reviews}/subjectaccessreviews/x`, noSuchResource],
    ['a list of what is not kept', 'GET', `${reviews}/subjectaccessreviews`, wrongMethod],
    ['the same across namespaces', 'GET', '/api/v1/bindings', noSuchResource],
    ['a watch of a subresource', 'GET', '/api/v1/watch/namespaces/default/pods/x/status', noSuchResource],
    ['a post to a watch', 'POST', '/api/v1/watch/namespaces/default/configmaps', wrongMethod],
    ['a document that cannot be written', 'POST', '/api/v1', wrongMethod],
  ])('%s', async (_, method, url, expected) => {
    const answer = await server.send(method, url, method === 'GET' ? {} : { body: {} });
    expect(answer.json()).toEqual(expected);
    expect(answer.status).toBe(expected.code);
    expect(answer.headers['content-type']).toBe('application/json');
  });

  it.each(['/nope', '/apis/nope.example.com/v1/widgets', '/apis/absent.example.com'])(
    '%s is not a page',
    async (url) => {
      const answer = await server.send('GET', url);
      expect([answer.status, answer.text]).toEqual([404, '404 page not found\n']);
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    },
  );

  it('HEAD of an object is 405, of a document its length', async () => {
    const object = await server.send('HEAD', `${configMaps}/x`);
    expect([object.status, object.text]).toEqual([405, '']);
    expect((await server.send('HEAD', '/version')).status).toBe(405);
    const groups = await server.send('HEAD', '/apis');
    const whole = await server.send('GET', '/apis');
    expect([groups.status, groups.text]).toEqual([200, '']);
    expect(groups.headers['content-length']).toBe(String(whole.text.length));
  });
});

describe('authorization, as recorded', () => {
  it.each([
    [
      '/api/v1/namespaces/a/configmaps',
      { kind: 'configmaps' },
      'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "a"',
    ],
    [
      '/api/v1/namespaces/a/pods/x/log',
      { kind: 'pods', name: 'x' },
      'pods "x" is forbidden: User "jane" cannot get resource "pods/log" in API group "" in the namespace "a"',
    ],
    [
      '/api/v1/nodes',
      { kind: 'nodes' },
      'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope',
    ],
    [
      '/apis/apps/v1/namespaces/a/widgets',
      { group: 'apps', kind: 'widgets' },
      'widgets.apps is forbidden: User "jane" cannot list resource "widgets" in API group "apps" in the namespace "a"',
    ],
    // The name that a selector gives is what is asked for.
    [
      '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx',
      { kind: 'pods', name: 'x' },
      'pods "x" is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "a"',
    ],
    ['/metrics', {}, 'forbidden: User "jane" cannot get path "/metrics"'],
  ])('GET %s', async (url, details, message) => {
    const answer = await server.send('GET', url, { token: 'jane' });
    expect(answer.json()).toEqual(failure(403, 'Forbidden', message, details));
  });

  it('authorizes a metadata.name selector as the object name for lists and watches only', async () => {
    const url = '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx';
    for (const method of ['POST', 'DELETE', 'PATCH', 'LIST', 'watch']) {
      const { details } = (await server.send(method, url, { token: 'jane' })).json() as JsonObject;
      expect([method, details]).toEqual([method, { kind: 'pods' }]);
    }
  });

  it.each(['deletecollection', 'get', 'LIST', 'constructor'])('authorizes the method %s as no verb', async (method) => {
    const message = (path: string) => server.send(method, path, { token: 'jane' }).then(({ json }) => json());
    expect(await message('/api/v1/namespaces/a/pods')).toMatchObject({
      code: 403,
      message: 'pods is forbidden: User "jane" cannot  resource "pods" in API group "" in the namespace "a"',
    });
    expect(await message('/metrics')).toMatchObject({
      code: 403,
      message: 'forbidden: User "jane" cannot  path "/metrics"',
    });
    for (const url of [configMaps, `${configMaps}/x`])
      expect((await server.send(method, url)).json()).toEqual(wrongMethod);
  });

  it('rejects a wrong token, and serves requests without one as anonymous', async () => {
    const wrong = await server.send('GET', configMaps, { token: 'wrong' });
    expect(wrong.json()).toEqual(failure(401, 'Unauthorized', 'Unauthorized'));
    const none = await server.send('GET', '/api/v1/namespaces', { token: '' });
    expect(none.json()).toMatchObject({ code: 403, message: expect.stringContaining('User "system:anonymous"') });
  });

  it('computes in turns of its user, and in turns of its network where that is nobody', async () => {
    const ownerFor = async (token: string) => {
      const request = requestOf('GET', '/version', { token });
      const peer = { address: '192.0.2.7', network: '192.0.2.7', certificate: undefined };
      return (await server.handler({ ...request, peer })).turns?.owner;
    };
    expect(await ownerFor('jane')).toBe('jane');
    expect(await ownerFor('')).toBe('192.0.2.7');
  });
});

const typeFields =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

describe('bodies and options, as recorded', () => {
  const post = (body: string | object, query = '', headers = {}) =>
    server.send('POST', configMaps + query, { body: typeof body === 'string' ? body : JSON.stringify(body), headers });

  it.each([
    ['{"apiVersion":"v1","kind":"ConfigMap",', 'unexpected end of JSON input ({"apiVersion":"v1","kind":"Con ...)'],
    ['', 'unexpected end of JSON input (<empty>)'],
    // Not recorded: what the reference server's decoder says of other values.
    ['[]', `json: cannot unmarshal array into Go value of type ${typeFields} (5b5d)`],
    ['"x"', `json: cannot unmarshal string into Go value of type ${typeFields} (227822)`],
    ['{"kind":1}', 'json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1})'],
  ])('reports the error of %j', async (body, fault) => {
    const message = `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: ${fault}`;
    expect((await post(body)).json()).toEqual(failure(400, 'BadRequest', message));
  });

  it('decodes JSON and YAML 1.1, and no other media type', async () => {
    const yaml = await post('metadata: {name: from-yaml}\ndata: {n: "1"}\n', '?dryRun=All', {
      'content-type': 'application/yaml',
    });
    expect([yaml.status, yaml.json()]).toEqual([201, expect.objectContaining({ data: { false: '1' } })]);
    const message =
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf';
    const other = await post('{}', '', { 'content-type': 'text/plain' });
    expect(other.json()).toEqual(failure(415, 'UnsupportedMediaType', message));
  });

  it('rejects bodies over 3 MiB', async () => {
    const answer = await post({ metadata: { name: 'huge' }, data: { a: 'x'.repeat(3 * 1024 * 1024) } });
    expect(answer.json()).toMatchObject({ code: 413, message: 'Request entity too large: limit is 3145728' });
  });

  it.each([
    ['dryRun=Some', 'dryRun', 'Unsupported value: ["Some"]: supported values: "All"'],
    [
      'fieldValidation=Nonsense',
      'fieldValidation',
      'Unsupported value: "Nonsense": supported values: "", "Ignore", "Strict", "Warn"',
    ],
  ])('rejects ?%s', async (query, field, message) => {
    const answer = await post({ metadata: { name: 'x' } }, `?${query}`);
    expect(answer.json()).toEqual(
      failure(422, 'Invalid', `CreateOptions.meta.k8s.io "" is invalid: ${field}: ${message}`, {
        group: 'meta.k8s.io',
        kind: 'CreateOptions',
        causes: [{ reason: 'FieldValueNotSupported', message, field }],
      }),
    );
  });

  it('warns of duplicate and unknown fields, each in its own header', async () => {
    const answer = await post('{"metadata":{"name":"fv","name":"fv"},"bogus":1}', '?dryRun=All');
    expect(answer.status).toBe(201);
    expect(answer.headers['warning']).toEqual([
      '299 - "duplicate field \\"metadata.name\\""',
      '299 - "unknown field \\"bogus\\""',
    ]);
  });

  // As the reference server, which reads a JSON body as it stands, and a YAML body as JSON with sorted keys.
  it('tells unknown fields in the order of a JSON text, and of the names in YAML', async () => {
    const json = '{"odd":1,"metadata":{"own":1,"name":"fv"},"bogus":1}';
    const unknown = (fields: string[]) => fields.map((field) => `unknown field "${field}"`).join(', ');
    const message = (body: string, type: string) =>
      server
        .send('POST', `${configMaps}?fieldValidation=Strict`, { body, headers: { 'content-type': type } })
        .then((answer) => (answer.json() as { message: string }).message);
    expect(await message(json, 'application/json')).toContain(unknown(['odd', 'metadata.own', 'bogus']));
    expect(await message(json, 'application/yaml')).toContain(unknown(['bogus', 'metadata.own', 'odd']));
  });
});

describe('the lifecycle of an object', () => {
  it('has the status codes of the API', async () => {
    const make = await server.send('POST', configMaps, { body: { metadata: { name: 'one' }, data: { a: '1' } } });
    expect(make.status).toBe(201);
    const made = make.json() as { metadata: { uid: string; resourceVersion: string } };
    expect((await server.send('GET', `${configMaps}/one`)).json()).toEqual(made);
    const put = await server.send('PUT', `${configMaps}/one`, { body: { ...made, data: { a: '2' } } });
    expect([put.status, put.json()]).toEqual([200, expect.objectContaining({ data: { a: '2' } })]);
    const patch = await server.send('PATCH', `${configMaps}/one`, {
      body: { data: { b: '3' } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(patch.json()).toMatchObject({ data: { a: '2', b: '3' } });
    const stale = await server.send('PUT', `${configMaps}/one`, { body: made as never });
    expect(stale.json()).toMatchObject({ code: 409, reason: 'Conflict' });
    const gone = await server.send('DELETE', `${configMaps}/one`);
    expect([gone.status, gone.json()]).toEqual([
      200,
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'one', kind: 'configmaps', uid: made.metadata.uid },
      },
    ]);
    expect((await server.send('GET', `${configMaps}/one`)).status).toBe(404);
  });

  it('deletes a collection and responds with its objects', async () => {
    for (const name of ['dc-a', 'dc-b']) {
      await server.send('POST', configMaps, { body: { metadata: { name, labels: { in: name } } } });
    }
    const dry = await server.send('DELETE', `${configMaps}?labelSelector=in%3Ddc-a&dryRun=All`);
    expect(dry.json()).toMatchObject({ kind: 'ConfigMapList', items: [{ metadata: { name: 'dc-a' } }] });
    const wet = await server.send('DELETE', `${configMaps}?labelSelector=in%3Ddc-a`);
    expect(wet.json()).toMatchObject({ items: [{ metadata: { name: 'dc-a' } }] });
    const left = (await server.send('GET', `${configMaps}?labelSelector=in`)).json() as { items: unknown[] };
    expect(left.items).toHaveLength(1);
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] };
    expect((await server.send('DELETE', `${configMaps}/dc-b`, { body })).status).toBe(200);
    expect((await server.send('GET', `${configMaps}/dc-b`)).status).toBe(200);
  });
});

describe('representations', () => {
  beforeAll(async () => {
    await server.send('POST', configMaps, {
      body: { metadata: { name: 'shown', labels: { form: 'yes' } }, data: { a: '"{}"' } },
    });
  });
  const list = `${configMaps}?labelSelector=form`;
  const accept = (type: string) => ({ headers: { accept: type } });

  it('is compact JSON by default, and pretty for curl and browsers', async () => {
    const plain = await server.send('GET', `${configMaps}/shown`);
    expect(plain.text.trimEnd().split('\n')).toHaveLength(1);
    for (const url of [`${configMaps}/shown`, list, '/api/v1/nodes']) {
      const compact = await server.send('GET', url);
      const asked = await server.send('GET', `${url}${url.includes('?') ? '&' : '?'}pretty=true`);
      // The same value, as the platform indents it.
      expect(asked.text).toBe(JSON.stringify(compact.json(), undefined, 2));
      const curl = await server.send('GET', url, { headers: { 'user-agent': 'curl/8.0' } });
      expect(curl.text).toBe(asked.text);
    }
  });

  it('is YAML if accepted, lists in the recorded order of keys', async () => {
    const one = await server.send('GET', list, accept('application/yaml'));
    expect(one.headers['content-type']).toBe('application/yaml');
    expect(one.text).toMatch(
      /^apiVersion: v1\nitems:\n- data:\n {4}a: '"\{\}"'\n {2}metadata:\n {4}creationTimestamp: ".*"\n/,
    );
    expect(one.text).toMatch(/\nkind: ConfigMapList\nmetadata:\n {2}resourceVersion: "\d+"\n$/);
    const none = await server.send('GET', '/api/v1/nodes', accept('application/yaml'));
    expect(none.text).toMatch(/^apiVersion: v1\nitems: \[\]\nkind: NodeList\nmetadata:\n {2}resourceVersion: "\d+"\n$/);
    const failed = await server.send('GET', '/api/v1/nodes/x', accept('application/yaml'));
    expect([failed.headers['content-type'], failed.text]).toEqual([
      'application/yaml',
      expect.stringContaining('code: 404'),
    ]);
  });

  it('is a Table or PartialObjectMetadata', async () => {
    const asTable = accept('application/json;as=Table;g=meta.k8s.io;v=v1, application/json');
    expect((await server.send('GET', list, asTable)).json()).toMatchObject({
      kind: 'Table',
      columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }],
      rows: [{ cells: ['shown', 1, expect.any(String)], object: { kind: 'PartialObjectMetadata' } }],
    });
    expect((await server.send('GET', `${list}&includeObject=Bogus`, asTable)).json()).toMatchObject({ code: 400 });
    const partial = accept('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1');
    const body = (await server.send('GET', list, partial)).json() as { items: { [key: string]: unknown }[] };
    expect(Object.keys(body.items[0] ?? {})).toEqual(['kind', 'apiVersion', 'metadata']);
    const older = accept('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1');
    const one = await server.send('GET', `${configMaps}/shown`, older);
    expect(one.json()).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1beta1' });
  });

  it.each([
    ['GET', list, 'PartialObjectMetadata', 'is a list (*core.ConfigMapList)'],
    ['GET', `${configMaps}/shown`, 'PartialObjectMetadataList', 'is not a list (*core.ConfigMap)'],
    ['GET', '/apis/events.k8s.io/v1/events', 'PartialObjectMetadata', 'is a list (*core.EventList)'],
    [
      'DELETE',
      '/apis/apps/v1/namespaces/default/deployments',
      'PartialObjectMetadata',
      'is a list (*apps.DeploymentList)',
    ],
  ])('%s %s is no %s', async (method, url, kind, what) => {
    const answer = await server.send(method, url, accept(`application/json;as=${kind};g=meta.k8s.io;v=v1`));
    const why = `you requested ${kind}, but the requested object ${what}`;
    expect(answer.json()).toEqual(failure(406, 'NotAcceptable', why));
  });

  it('of an error is negotiated among all media types', async () => {
    const of = async (header: string) =>
      (await server.send('GET', `${configMaps}/absent`, accept(header))).headers['content-type'];
    expect(await of('text/html, application/yaml')).toBe('application/yaml');
    expect(await of('application/json;as=Table;g=meta.k8s.io;v=v1, application/yaml')).toBe('application/yaml');
    expect(await of('application/yaml;as=Table;g=meta.k8s.io;v=v1')).toBe('application/json');
    const protobuf = 'application/vnd.kubernetes.protobuf';
    expect(await of(`${protobuf};stream=watch`)).toBe(protobuf);
    expect(await of(`application/yaml;stream=watch, ${protobuf};stream=watch`)).toBe(protobuf);
    expect(await of(`${protobuf};stream=other`)).toBe('application/json');
  });

  it('is 406 for unknown ones, as recorded', async () => {
    const html = await server.send('GET', list, accept('text/html'));
    expect(html.json()).toEqual(
      failure(
        406,
        'NotAcceptable',
        '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
        {},
      ),
    );
    expect((await server.send('GET', list, accept('text/html, application/json'))).status).toBe(200);
    // The way to one object is not that to a watch.
    const one = await server.send('GET', `${configMaps}/shown`, accept('text/html'));
    expect(one.json()).toMatchObject({
      message:
        '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    });
    expect((await server.send('GET', `${list}&watch=1`, accept('application/yaml'))).status).toBe(406);
  });

  it('has no kind and apiVersion in the items of a list, as recorded', async () => {
    const body = (await server.send('GET', list)).json() as { items: { [key: string]: unknown }[] };
    expect(Object.keys(body.items[0] ?? {})).toEqual(['metadata', 'data']);
  });
});

describe('limits and errors', () => {
  it('limits requests in flight, watches separately, and health checks not at all', async () => {
    const busy = await makeFixture({ limits: { readOnly: 0, mutating: 5, longRunning: 1 } });
    const answer = await busy.send('GET', configMaps, { token: 'jane' });
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '1']);
    expect([answer.headers['content-type'], answer.text]).toEqual([
      'text/plain; charset=utf-8',
      'Too many requests, please try again later.\n',
    ]);
    expect((await busy.send('POST', configMaps, { body: { metadata: { name: 'x' } } })).status).toBe(201);
    expect((await busy.send('GET', '/readyz')).status).toBe(200);
    const first = await busy.handler(requestOf('GET', `${configMaps}?watch=1`));
    expect(first.status).toBe(200);
    expect(usedOf(busy.inFlight)).toMatchObject({ readOnly: 0, mutating: 0, longRunning: 1, proxied: 0 });
    expect((await busy.send('GET', `${configMaps}?watch=1`)).status).toBe(429);
    await (first.body as AsyncIterableIterator<never>)[Symbol.asyncIterator]().return?.();
    expect(busy.inFlight.limits.longRunning.used).toBe(0);
    await busy.close();
  });

  it('logs an unexpected error and gives the client its number only', async () => {
    const errors: unknown[] = [];
    const broken = await makeFixture();
    const secret = new TypeError('token abc');
    const registry = broken.registry as { get: unknown };
    registry.get = () => Promise.reject(secret);
    const answer = await broken.send('GET', `${configMaps}/x`);
    expect(answer.json()).toMatchObject({ code: 500, reason: 'InternalError' });
    expect(answer.text).toMatch(/Internal error occurred: unexpected failure \d+/);
    expect(answer.text).not.toContain('abc');
    errors.push(...broken.errors.map(({ fields }) => fields['error']));
    expect(errors).toEqual([secret]);
    // The cause of a failure that is known is told the same way.
    registry.get = () =>
      Promise.reject(new StatusError(503, 'ServiceUnavailable', 'later', undefined, { cause: secret }));
    expect((await broken.send('GET', `${configMaps}/x`)).text).not.toContain('abc');
    expect(broken.errors.at(-1)?.fields['error']).toBe(secret);
    await broken.close();
  });

  it('logs each request once, without query and credentials', async () => {
    server.requests.length = 0;
    await server.send('GET', `${configMaps}?labelSelector=secret`, { headers: { 'user-agent': 'test/1' } });
    expect(server.requests).toEqual([
      {
        method: 'GET',
        path: configMaps,
        verb: 'list',
        user: 'admin',
        address: '',
        agent: 'test/1',
        status: 200,
        size: expect.any(Number),
        milliseconds: expect.any(Number),
      },
    ]);
  });
});

describe('Audit-Id', () => {
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const idOf = async (url: string, headers = {}, token = 'admin') =>
    (await server.send('GET', url, { headers, token })).headers['audit-id'];

  it('is a new UUID on every response', async () => {
    const urls = [configMaps, `${configMaps}/none`, '/apis/apps/v1', '/version', '/nothing', '/healthz', '/openapi/v2'];
    const ids = await Promise.all(urls.map((url) => idOf(url)));
    for (const id of ids) expect(id).toMatch(uuid);
    expect(new Set(ids).size).toBe(urls.length);
    expect(await idOf(configMaps, {}, 'nobody')).toMatch(uuid);
    expect(await idOf('/%')).toMatch(uuid);
  });

  it('is that of the client, if it is a valid header value', async () => {
    expect(await idOf(configMaps, { 'audit-id': 'mine: 1' })).toBe('mine: 1');
    expect(await idOf(configMaps, { 'audit-id': 'x'.repeat(256) })).toBe('x'.repeat(256));
    for (const bad of ['', 'x'.repeat(257), 'ü', 'a\tb'])
      expect(await idOf(configMaps, { 'audit-id': bad })).toMatch(uuid);
  });
});

describe('a response that the client is slow to read', () => {
  it.each([
    ['fails after a minute', 60_000, true, /takes too long to read/],
    ['has a second more for each 512 KiB that have been read', 59_000, true, 'sent'],
    ['goes on within the process, whose clock may be set', 600_000, false, 'sent'],
  ])('%s', async (_, elapsedMs, isRemote, outcome) => {
    const clock = drivenClock();
    const slow = await makeFixture({ clock });
    const path = '/api/v1/namespaces/default/configmaps';
    for (const name of ['a', 'b']) {
      await slow.send('POST', path, { body: { metadata: { name }, data: { text: 'x'.repeat(600_000) } } });
    }
    const { body } = await slow.handler({ ...requestOf('GET', path), ...(isRemote ? { whenOver: () => {} } : {}) });
    const chunks = (body as AsyncIterable<Chunk>)[Symbol.asyncIterator]();
    const first = await chunks.next();
    expect(first.value.length).toBeGreaterThan(512 * 1024);
    clock.advance(elapsedMs + 1_500);
    const next = chunks.next().then(
      () => 'sent',
      ({ message }) => message,
    );
    expect(await next).toEqual(outcome instanceof RegExp ? expect.stringMatching(outcome) : outcome);
    expect(usedOf(slow.inFlight)).toMatchObject({ unread: outcome === 'sent' ? expect.any(Number) : 0 });
    await slow.close();
  });
});
