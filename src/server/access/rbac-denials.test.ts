import { afterAll, expect, it } from 'vitest';
import { silentLog } from '../dependencies.ts';
import { createLog } from '../observability/log.ts';
import { createServer } from '../server.ts';

// Texts are those of the reference server at its verbosity 5.

const lines: string[] = [];
const log = { ...silentLog, debug: (text: string) => void lines.push(text) };
const server = await createServer({ apiDomain: 'k8s.io', controllers: '-*' }, { log });
afterAll(() => server.close());

async function ask(user: string, method: string, url: string, body?: object): Promise<number> {
  const headers = { 'impersonate-user': user, 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
  lines.length = 0;
  const response = await server.client.request({ method, url, headers: user === '' ? {} : headers, ...sent });
  for await (const _ of response.body);
  return response.status;
}

const bob = 'RBAC: no rules authorize user "bob" with groups ["system:authenticated"] to';

it.each([
  ['GET', '/api/v1/secrets', '"list" resource "secrets" cluster-wide'],
  [
    'GET',
    '/apis/apps/v1/namespaces/n/deployments/x/scale',
    '"get" resource "deployments.apps/scale" named "x" in namespace "n"',
  ],
  ['GET', '/p', '"get" nonResourceURL "/p" cluster-wide'],
  ['DELETE', '/api/v1/namespaces/n/pods', '"deletecollection" resource "pods" in namespace "n"'],
])('a denial of RBAC is logged: %s %s', async (method, url, what) => {
  expect(await ask('bob', method, url)).toBe(403);
  expect(lines).toEqual([`${bob} ${what}`]);
  expect(await ask('', method, url)).not.toBe(403);
  expect(lines).toEqual([]);
});

it('so is that of an access review', async () => {
  const resourceAttributes = { verb: 'get', resource: 'pods', subresource: 'log', name: 'z' };
  const spec = { user: 'eve\n', groups: ['a', 'b"'], resourceAttributes };
  const url = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  expect(await ask('', 'POST', url, { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec })).toBe(
    201,
  );
  expect(lines).toEqual([
    'RBAC: no rules authorize user "eve\\n" with groups ["a" "b\\""] to "get" resource "pods/log" named "z" cluster-wide',
  ]);
});

it('and so are the questions of the escalation check', async () => {
  const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  const rules = [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['create'] }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  const subjects = [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }];
  await ask('', 'POST', `${roles}/roles`, { metadata: { name: 'writer' }, rules });
  await ask('', 'POST', `${roles}/rolebindings`, {
    metadata: { name: 'bob' },
    subjects,
    roleRef: { ...roleRef, kind: 'Role', name: 'writer' },
  });
  expect(await ask('bob', 'POST', `${roles}/rolebindings`, { metadata: { name: 'more' }, subjects, roleRef })).toBe(
    403,
  );
  expect(lines).toEqual([
    `${bob} "bind" resource "clusterroles.rbac.authorization.k8s.io" named "cluster-admin" in namespace "default"`,
  ]);
});

it('names a bounded part of what a review asks about', async () => {
  const long = 'x'.repeat(100_000);
  const spec = {
    user: long,
    groups: Array.from({ length: 1_000 }, (_, i) => `${i}`),
    nonResourceAttributes: { verb: 'get', path: `/${long}` },
  };
  await ask('', 'POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec });
  expect(lines).toHaveLength(1);
  expect(lines[0]?.length).toBeLessThan(5_000);
});

it('is a line of the level debug of the part auth', async () => {
  const written: string[] = [];
  const { part, levels } = await createLog({
    levels: { level: 'info', parts: new Map() },
    out: { write: (line) => written.push(line) },
  });
  const auth = part?.('auth');
  expect(auth?.debug).toBeUndefined();
  levels?.set('info,auth=debug');
  auth?.debug?.('RBAC: denied', {});
  expect(JSON.parse(written.at(-1) ?? '')).toMatchObject({ level: 'debug', part: 'auth', msg: 'RBAC: denied' });
  expect(part?.('http').debug).toBeUndefined();
});
