import { afterEach, expect, it } from 'vitest';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { openMemoryStore } from '../../store/index.ts';
import { storeWith } from '../../store/testing/store-with.ts';
import { systemClock } from '../clock.ts';
import { createServer, type OrchServer } from '../server.ts';
import type { ServerOptions } from '../settings/server-options.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** Servers of one store. */
function cluster() {
  const store = openMemoryStore({ clock: systemClock });
  open.push(store);
  return async (options: ServerOptions = {}) => {
    const kept = storeWith(store, { close: () => Promise.resolve() });
    const server = await createServer(
      { apiDomain: 'k8s.io', controllers: '-*', authorizationMode: 'Node,RBAC', ...options },
      { store: kept },
    );
    open.push(server);
    return server;
  };
}

async function send({ client }: OrchServer, node: string, method: string, url: string, body?: JsonObject) {
  const as = { 'impersonate-user': `system:node:${node}`, 'impersonate-group': 'system:nodes' };
  const response = await client.request({
    method,
    url,
    headers: { ...(node === '' ? {} : as), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  return { status: response.status, body: JSON.parse(text) as ApiObject & { message?: string } };
}

const core = '/api/v1/namespaces/default';
const pod = (name: string, secretName: string, nodeName?: string) => ({
  metadata: { name },
  spec: {
    ...(nodeName === undefined ? {} : { nodeName }),
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', secret: { secretName } }],
  },
});

async function fill(server: OrchServer) {
  await send(server, '', 'POST', `${core}/serviceaccounts`, { metadata: { name: 'default' } });
  for (const name of ['mine', 'other']) await send(server, '', 'POST', `${core}/secrets`, { metadata: { name } });
  expect((await send(server, '', 'POST', `${core}/pods`, pod('p', 'mine', 'n'))).status).toBe(201);
}

const readsOf = async (server: OrchServer, node: string, ...secrets: readonly string[]) =>
  Promise.all(secrets.map(async (name) => (await send(server, node, 'GET', `${core}/secrets/${name}`)).status));

it('a node reads the secrets of its pods from when they are bound until they are deleted, on every server', async () => {
  const start = cluster();
  const [server, replica] = [await start(), await start()];
  await fill(server);
  for (const one of [server, replica]) {
    await expect.poll(() => readsOf(one, 'n', 'mine', 'other')).toEqual([200, 403]);
    expect(await readsOf(one, 'm', 'mine')).toEqual([403]);
  }
  await send(replica, '', 'POST', `${core}/pods`, pod('q', 'other'));
  expect(await readsOf(server, 'n', 'other')).toEqual([403]);
  const binding = { metadata: { name: 'q' }, target: { kind: 'Node', name: 'n' } };
  expect((await send(replica, '', 'POST', `${core}/pods/q/binding`, binding)).status).toBe(201);
  await expect.poll(() => readsOf(server, 'n', 'mine', 'other')).toEqual([200, 200]);
  await send(replica, '', 'DELETE', `${core}/pods/p?gracePeriodSeconds=0`);
  await expect.poll(() => readsOf(server, 'n', 'mine', 'other')).toEqual([403, 200]);
  const denied = await send(server, 'n', 'GET', `${core}/secrets/mine`);
  expect(denied.body.message).toContain("no relationship found between node 'n' and this object");
});

it('a server that starts again knows what its nodes use', async () => {
  const start = cluster();
  const first = await start();
  await fill(first);
  await first.close();
  expect(await readsOf(await start(), 'n', 'mine', 'other')).toEqual([200, 403]);
});

it('a node lists its own pods only, unless AuthorizeNodeWithSelectors is off', async () => {
  const start = cluster();
  const server = await start();
  await fill(server);
  const statusOf = async (to: OrchServer, query: string) => (await send(to, 'n', 'GET', `/api/v1/pods${query}`)).status;
  expect(await statusOf(server, '?fieldSelector=spec.nodeName%3Dn')).toBe(200);
  expect(await statusOf(server, '?fieldSelector=spec.nodeName%3Dm')).toBe(403);
  expect(await statusOf(server, '')).toBe(403);
  const old = await start({ featureGates: { AuthorizeNodeWithSelectors: false } });
  expect(await statusOf(old, '')).toBe(200);
});

it('a node reads all endpoints', async () => {
  const server = await cluster()();
  expect((await send(server, 'n', 'GET', '/api/v1/endpoints')).status).toBe(200);
});
