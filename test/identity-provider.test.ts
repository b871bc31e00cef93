import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { inProcessTransport } from '../src/client/index.ts';
import { makeCertificates } from '../src/http/testing/fixture.ts';
import type { ApiObject } from '../src/meta/index.ts';
import { createServer, type OrchServer } from '../src/server/index.ts';
import { newKey, startIdentityProvider } from './support/identity-provider.ts';

// A real identity provider, at which users log in without a browser.
const { ca, cert, key } = makeCertificates();
const client = 'orch';
const redirect = 'https://app.example.com/done';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function startProvider() {
  const groups = { jane: ['developers'], tom: [] };
  const provider = await startIdentityProvider({ tls: { cert, key }, client, groups });
  provider.allowRedirect(redirect);
  open.push(provider.close);
  return provider;
}

/** Logs a user in as a browser does, and returns the ID token. */
async function login(issuer: string, user: string): Promise<string> {
  const cookies = new Map<string, string>();
  const query = new URLSearchParams({
    client_id: client,
    redirect_uri: redirect,
    response_type: 'id_token',
    scope: 'openid',
    nonce: 'n',
    login_hint: user,
  });
  let url = new URL(`/auth?${query.toString()}`, issuer);
  for (let step = 0; step < 10; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const request = https.get(url, { ca, headers: { cookie }, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    for (const set of response.headers['set-cookie'] ?? []) {
      const [pair = ''] = set.split(';');
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const { location } = response.headers;
    if (location === undefined) throw new Error(`the provider answers with ${response.statusCode}`);
    if (location.startsWith(redirect))
      return new URLSearchParams(new URL(location).hash.slice(1)).get('id_token') ?? '';
    url = new URL(location, url);
  }
  throw new Error('the login does not end');
}

async function startServer(issuer: string): Promise<OrchServer> {
  const file = join(mkdtempSync(join(tmpdir(), 'orch-')), 'ca.crt');
  writeFileSync(file, ca);
  const server = await createServer({
    apiDomain: 'k8s.io',
    controllers: '-*',
    oidcIssuerUrl: issuer,
    oidcClientId: client,
    oidcCaFile: file,
    oidcUsernamePrefix: 'oidc:',
    oidcGroupsClaim: 'groups',
    oidcGroupsPrefix: 'oidc:',
  });
  open.push(() => server.close());
  return server;
}

async function statusOf({ handler }: OrchServer, token: string, method = 'GET') {
  const url = '/api/v1/namespaces/default/pods';
  const response = await inProcessTransport(handler)({ method, url, headers: { authorization: `Bearer ${token}` } });
  for await (const _ of response.body);
  return response.status;
}

/** Lets the developers of the provider read everything. */
const allowDevelopers = ({ client: admin }: OrchServer) =>
  admin.create<ApiObject>(
    { apiVersion: 'rbac.authorization.k8s.io/v1', resource: 'clusterrolebindings' },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'developers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:aggregate-to-view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'oidc:developers' }],
    },
  );

it('users of an identity provider may do what their groups may', async () => {
  const { issuer } = await startProvider();
  const server = await startServer(issuer);
  await allowDevelopers(server);
  const [jane, tom] = [await login(issuer, 'jane'), await login(issuer, 'tom')];
  await expect.poll(() => statusOf(server, jane)).toBe(200);
  expect(await statusOf(server, jane, 'DELETE')).toBe(403);
  expect(await statusOf(server, tom)).toBe(403);
  expect(await statusOf(server, `${jane.slice(0, -4)}AAAA`)).toBe(401);
});

it('a new key of the provider is noticed while requests run, and the old one forgotten', async () => {
  const { issuer, useKey } = await startProvider();
  const server = await startServer(issuer);
  await allowDevelopers(server);
  const before = await login(issuer, 'jane');
  await expect.poll(() => statusOf(server, before)).toBe(200);
  useKey(await newKey('second'));
  const statuses = new Set<number>();
  for (let i = 0; i < 5; i++) {
    const token = await login(issuer, 'jane');
    for (const status of await Promise.all([statusOf(server, token), statusOf(server, before)])) statuses.add(status);
  }
  expect([...statuses]).toEqual([200]);
});

it('the server starts before its provider, which may go and come back', async () => {
  const { issuer, leave, comeBack } = await startProvider();
  const jane = await login(issuer, 'jane');
  await leave();
  const server = await startServer(issuer);
  await allowDevelopers(server);
  expect(await statusOf(server, jane)).toBe(401);
  await comeBack();
  await expect.poll(() => statusOf(server, jane)).toBe(200);
  const tom = await login(issuer, 'tom');
  await leave();
  expect(await statusOf(server, jane)).toBe(200);
  expect(await statusOf(server, tom)).toBe(403);
});
