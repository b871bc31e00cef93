import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expandNames, type JsonObject, namesFor } from '../../meta/index.ts';
import { builtinResources } from '../../resources/index.ts';
import { type Fixture, makeFixture, requestOf } from '../testing/fixture.ts';

// A user without rights learns neither what exists nor what the server would make of the rest of the request.
const names = namesFor('k8s.io');
let server: Fixture;
beforeAll(async () => {
  server = await makeFixture();
});
afterAll(() => server.close());

interface Answered {
  readonly status: number;
  readonly body: string;
}

let bodiesRead = 0;

/** The response to a request of an anonymous user, whose body counts when it is read. */
async function refused(method: string, url: string, headers = {}): Promise<Answered> {
  const sent = { token: '', headers: { 'content-type': 'application/json', ...headers } };
  const counted = () => {
    bodiesRead += 1;
  };
  const { status, body } = await server.handler({
    ...requestOf(method, url, sent),
    body: async () => {
      counted();
      return Buffer.from('{');
    },
    stream: () => {
      counted();
      return undefined;
    },
  });
  expect(typeof body).toBe('string');
  return { status, body: body as string };
}

/** Every path of a resource: its collections, an object, the subresources, each as it is and with the prefix `watch/`. */
const paths = builtinResources.flatMap((definition) => {
  const group = expandNames(definition.group, names);
  return definition.versions.flatMap(({ version }) => {
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const collection = definition.namespaced ? `namespaces/default/${definition.plural}` : definition.plural;
    const subresources = ['', ...definition.subresources.map(({ name }) => `/${name}`)];
    const below = [
      ...(definition.namespaced ? [definition.plural] : []),
      collection,
      ...subresources.map((subresource) => `${collection}/x${subresource}`),
    ];
    return below.flatMap((path) => [`${root}/${path}`, `${root}/watch/${path}`]);
  });
});
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'get', 'LIST', '*'];
const requests = paths.flatMap((path): (readonly [method: string, url: string])[] => [
  ...methods.map((method) => [method, path] as const),
  ['GET', `${path}?watch=1`],
  ['POST', `${path}?dryRun=All&pretty=true`],
]);

async function allRefusals(): Promise<Map<string, Answered>> {
  const answers = new Map<string, Answered>();
  // One after another: they count as the requests of one user.
  for (const [method, url] of requests) answers.set(`${method} ${url}`, await refused(method, url));
  return answers;
}

const existing: readonly (readonly [path: string, object: JsonObject])[] = [
  ['/api/v1/namespaces', { metadata: { name: 'x' } }],
  ['/api/v1/nodes', { metadata: { name: 'x' } }],
  ['/api/v1/namespaces/default/configmaps', { metadata: { name: 'x' } }],
  ['/api/v1/namespaces/default/secrets', { metadata: { name: 'x' } }],
  ['/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'x' } }],
  ['/api/v1/namespaces/default/pods', { metadata: { name: 'x' }, spec: { containers: [{ name: 'c', image: 'i' }] } }],
  ['/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name: 'x' } }],
  ['/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', { metadata: { name: 'x' } }],
  ['/apis/coordination.k8s.io/v1/namespaces/default/leases', { metadata: { name: 'x' } }],
];

describe('a user without rights', () => {
  it('gets the same 403 for every verb of every resource, whether the object exists or not', async () => {
    expect(requests.length).toBeGreaterThan(5_000);
    const before = await allRefusals();
    for (const [request, { status }] of before) expect([request, status]).toEqual([request, 403]);
    for (const [path, body] of existing) {
      const { status, text } = await server.send('POST', path, { body });
      expect(status, text).toBe(201);
    }
    expect(await allRefusals()).toEqual(before);
    expect(bodiesRead).toBe(0);
  });

  const pods = '/api/v1/namespaces/default/pods';
  const podsForbidden = 'cannot list resource "pods" in API group "" in the namespace "default"';
  it.each([
    ['a field that is not selectable', `${pods}?fieldSelector=spec.x%3D1`],
    ['a field selector that cannot be parsed', `${pods}?fieldSelector=a`],
    ['a label selector that cannot be parsed', `${pods}?labelSelector=a+b`],
    ['a limit that is not a number', `${pods}?limit=x`],
    ['a resourceVersion that is not a number', `${pods}?resourceVersion=x&resourceVersionMatch=y`],
    ['a continue token that is none', `${pods}?continue=x`],
  ])('gets no hint of %s', async (_, url) => {
    const { status, body } = await refused('GET', url);
    expect([status, (JSON.parse(body) as JsonObject)['message']]).toEqual([
      403,
      `pods is forbidden: User "system:anonymous" ${podsForbidden}`,
    ]);
  });

  it.each([
    ['an unknown resource', '/api/v1/namespaces/default/widgets/x', 'get', 'widgets', '', 'default'],
    ['an unknown subresource', '/api/v1/namespaces/default/pods/x/y', 'get', 'pods/y', '', 'default'],
    ['an unknown version', '/apis/apps/v7/namespaces/default/deployments/x', 'get', 'deployments', 'apps', 'default'],
    ['an unknown group', '/apis/nope.org/v1/widgets/x', 'get', 'widgets', 'nope.org', ''],
    ['an unknown namespace', '/api/v1/namespaces/absent/pods/x', 'get', 'pods', '', 'absent'],
    ['a namespace that is not a name', '/api/v1/namespaces/A_%20/pods/x', 'get', 'pods', '', 'A_ '],
    ['a cluster-scoped resource in a namespace', '/api/v1/namespaces/default/nodes/x', 'get', 'nodes', '', 'default'],
    ['an object without its namespace', '/api/v1/pods/x', 'get', 'pods', '', ''],
    ['a resource that is off', '/apis/storage.k8s.io/v1beta1/csinodes/x', 'get', 'csinodes', 'storage.k8s.io', ''],
  ])('gets a 403 for %s', async (_, url, verb, resource, group, namespace) => {
    const { status, body } = await refused('GET', url);
    const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
    const what = `${resource.split('/')[0]}${group === '' ? '' : `.${group}`} "x"`;
    const why = `User "system:anonymous" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`;
    expect(JSON.parse(body)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `${what} is forbidden: ${why}`,
      reason: 'Forbidden',
      details: { name: 'x', ...(group === '' ? {} : { group }), kind: resource.split('/')[0] },
      code: 403,
    });
    expect(status).toBe(403);
  });

  it.each(['A_B', '%2e%2e', '-', 'a%20b', '%00', 'a'.repeat(4_000), '%F0%9F%98%80', 'constructor', '__proto__'])(
    'gets a 403 for the name %s',
    async (name) => {
      const found = await Promise.all(
        ['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => refused(method, `${pods}/${name}`)),
      );
      expect(found.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    },
  );

  it.each([
    ['/metrics', 'get'],
    ['/nope', 'get'],
    ['/api/v1', 'get'],
    ['/apis/nope.org/v1', 'get'],
    ['/debug/pprof/profile', 'get'],
  ])('gets a 403 without details for %s', async (path, verb) => {
    const { status, body } = await refused('GET', path);
    expect(status).toBe(403);
    expect(JSON.parse(body)).toMatchObject({
      message: `forbidden: User "system:anonymous" cannot ${verb} path "${path}"`,
      details: {},
    });
  });

  it('gets a 403 for a body that is too large, of an unknown type or malformed, and nothing of it is read', async () => {
    const before = bodiesRead;
    const types = ['application/json', 'application/yaml', 'application/x', 'application/apply-patch+yaml', ''];
    for (const type of types) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const headers = { 'content-type': type, 'content-length': '99999999999' };
        expect((await refused(method, `${pods}/x`, headers)).status).toBe(403);
      }
    }
    expect(bodiesRead).toBe(before);
  });
});

describe('the message of a 403', () => {
  // Text that a client chose is not to be taken for HTML, as in the reference server (responsewriters/errors.go).
  it('escapes &, < and > in what was asked, not in the name of the object', async () => {
    const { body } = await refused('GET', '/api/v1/namespaces/%3Cb%3E/p%26q/%3Ci%3E');
    expect(JSON.parse(body)).toMatchObject({
      message:
        'p&q "<i>" is forbidden: User "system:anonymous" cannot get resource "p&amp;q" in API group "" in the namespace "&lt;b&gt;"',
      details: { name: '<i>', kind: 'p&q' },
    });
    expect((await refused('GET', '/%3Cb%3E')).body).toContain('cannot get path \\"/&lt;b&gt;\\"');
  });

  it('ends with the reason of the authorizer', async () => {
    const authorize = () => ({ allowed: false, reason: 'RBAC: <x>' });
    const reasoned = await makeFixture({ authorize });
    const { json } = await reasoned.send('GET', '/api/v1/nodes', { token: 'jane' });
    expect(json()).toMatchObject({
      message:
        'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope: RBAC: <x>',
    });
    await reasoned.close();
  });
});
