import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Client, createClient, httpsTransport } from '../../client/index.ts';
import type { ApiObject } from '../../meta/index.ts';
import { until } from '../../meta/testing/until.ts';
import { openMemoryStore, type Store } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { systemClock } from '../clock.ts';
import { type Dependencies, type Log, silentLog } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';
import type { ServerOptions } from '../settings/server-options.ts';
import { storeLink } from '../testing/store-link.ts';

// Several servers over one store, each with a link of its own.
const servers: OrchServer[] = [];
const folders: string[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});
const folder = () => {
  const path = mkdtempSync(join(tmpdir(), 'orch-replica-'));
  folders.push(path);
  return path;
};

async function start(store: Store, options: ServerOptions = {}, injected: Partial<Dependencies> = {}) {
  const settings = { apiDomain: 'k8s.io', securePort: 0, controllers: '-*', advertiseAddress: '192.0.2.7', ...options };
  const link = storeLink(store, { lateMs: 15 });
  const server = await createServer(settings, { store: link.store, ...injected });
  servers.push(server);
  return { ...server, link };
}
const newStore = () => openMemoryStore({ clock: systemClock });

const apiServices = { apiVersion: 'apiregistration.k8s.io/v1', resource: 'apiservices' };
const definitions = { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions' };
const leases = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases', namespace: 'kube-system' };
const namespaces = { apiVersion: 'v1', resource: 'namespaces' };
const accounts = { apiVersion: 'v1', resource: 'serviceaccounts', namespace: 'default' };
const names = (list: { readonly items: readonly ApiObject[] }) => list.items.map(({ metadata }) => metadata.name);

const statusOf = async (client: Client, url: string) =>
  (await client.request({ method: 'GET', url, headers: {} })).status;

/** A token of a new service account, and what a server says of it. */
async function tokenOf(client: Client) {
  const metadata = { generateName: 'account-' };
  const account = await client.create<ApiObject>(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  const place = { ...accounts, name: account.metadata.name ?? '', subresource: 'token' };
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} };
  const { status } = (await client.create<ApiObject>(place, request)) as ApiObject & { status: { token: string } };
  const review = async (other: Client) => {
    const spec = { token: status.token };
    const reviews = { apiVersion: 'authentication.k8s.io/v1', resource: 'tokenreviews' };
    const answer = await other.create<ApiObject>(reviews, { ...request, kind: 'TokenReview', spec });
    return answer['status'];
  };
  return { token: status.token, review };
}

describe('the keys that a server generates', () => {
  const read = (path: string, name: string) => readFileSync(join(path, name), 'utf8');

  it('are those of the store: the administrator of one server is that of all, also after a restart', async () => {
    const store = newStore();
    const [one, other] = [folder(), folder()];
    const started = await Promise.all([start(store, { dataDir: one }), start(store, { dataDir: other })]);
    const addresses = await Promise.all(started.map((server) => server.listen()));
    expect(read(other, 'ca.crt')).toBe(read(one, 'ca.crt'));
    for (const path of [one, other]) expect(readdirSync(path)).not.toContain('ca.key');
    for (const { url } of addresses) {
      for (const path of [one, other]) {
        const certificate = { cert: read(path, 'admin.crt'), key: read(path, 'admin.key') };
        const transport = httpsTransport({ server: url, ca: read(path, 'ca.crt'), certificate });
        const client = createClient({ transport });
        expect(names(await client.list(namespaces))).toContain('kube-system');
        transport.close();
      }
    }
    await Promise.all(servers.splice(0).map((server) => server.close()));
    const third = folder();
    await (await start(store, { dataDir: third })).listen();
    expect(read(third, 'ca.crt')).toBe(read(one, 'ca.crt'));
  });

  it('are not read through the API', async () => {
    const store = newStore();
    const server = await start(store, { authorizationMode: ['AlwaysAllow'] });
    await server.listen();
    const { client } = server;
    const { token } = await tokenOf(client);
    const { entries } = await store.list({ prefix: '/keys/' });
    expect(entries.map(({ key }) => key)).toEqual(['/keys/certificate-authority', '/keys/service-account-signing-key']);
    for (const url of ['/api/v1/keys', '/apis/keys/v1', '/keys/certificate-authority', '/keys']) {
      const { status } = await client.request({ method: 'GET', url, headers: { authorization: `Bearer ${token}` } });
      expect(status).toBe(404);
    }
  });

  it('sign tokens that every server accepts', async () => {
    const store = newStore();
    const [first, second] = await Promise.all([start(store), start(store)]);
    const { token, review } = await tokenOf(first.client);
    expect(token).not.toBe('');
    expect(await review(second.client)).toMatchObject({ authenticated: true });
    const created = await Promise.all([tokenOf(first.client), tokenOf(second.client)]);
    for (const one of created) {
      for (const { client } of [first, second]) expect(await one.review(client)).toMatchObject({ authenticated: true });
    }
  });

  it('begin with those of the data directory, and do not replace others in one', async () => {
    const dataDir = folder();
    const embedded = await createServer({ apiDomain: 'k8s.io', securePort: 0, store: 'lmdb', dataDir });
    await embedded.listen();
    await embedded.close();
    const authority = read(dataDir, 'ca.crt');
    const moved = await start(newStore(), { dataDir });
    await moved.listen();
    expect(read(dataDir, 'ca.crt')).toBe(authority);
    const elsewhere = newStore();
    await (await start(elsewhere)).listen();
    await expect((await start(elsewhere, { dataDir })).listen()).rejects.toThrow(
      /ca\.key is the key of another authority than that of the store: choose another --data-dir/,
    );
    expect(read(dataDir, 'ca.crt')).toBe(authority);
  });

  it.each(['', 'x', '[]', '{"cert":"x"}', '{"cert":"x","key":"y"}'])(
    'are not replaced when they are damaged: %j',
    async (damage) => {
      const store = newStore();
      const key = '/keys/certificate-authority';
      const value = Buffer.from(damage);
      await store.commit([], [{ key, value }]);
      const server = await start(store);
      await expect(server.listen()).rejects.toThrow(/certificate-authority.*restore it from a backup/);
      expect(Buffer.from((await store.get(key)).entry?.value ?? []).toString()).toBe(damage);
    },
  );
});

describe('the start of several servers at once', () => {
  /** The calls of a log that are warnings or errors. */
  const noisy = () => {
    const calls: string[] = [];
    const log: Log = { ...silentLog, warn: (message) => calls.push(message), error: (message) => calls.push(message) };
    return { calls, log };
  };

  it('creates what every cluster has once, without a word of conflicts', async () => {
    const store = newStore();
    const logs = Array.from({ length: 4 }, noisy);
    const started = await Promise.all(logs.map(({ log }) => start(store, {}, { log })));
    await Promise.all(started.map((server) => server.listen()));
    for (const server of started) {
      const transport = server.client.request.bind(server.client);
      await expect.poll(async () => (await transport({ method: 'GET', url: '/readyz', headers: {} })).status).toBe(200);
      await expect.poll(async () => names(await server.client.list(apiServices))).toContain('v1.apps');
    }
    const alone = newStore();
    const single = await start(alone);
    await single.listen();
    await expect.poll(async () => names(await single.client.list(apiServices))).toContain('v1.apps');
    const keysOf = async (of: Store) => {
      const keys = (await of.list({ prefix: '/' })).entries.map(({ key }) => key);
      return keys.filter((key) => !/^\/(?:(?:master)?leases|endpointslices)\//.test(key)).sort();
    };
    await until(async () => expect(await keysOf(store)).toEqual(await keysOf(alone)));
    await expect.poll(async () => names(await started[0]!.client.list(leases))).toHaveLength(4);
    expect(logs.flatMap(({ calls }) => calls)).toEqual([]);
  });
});

describe('the APIServices', () => {
  const definition = (group: string) => ({
    apiVersion: definitions.apiVersion,
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      names: { plural: 'things', kind: 'Thing' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });

  it('of what only other servers serve yet are kept', async () => {
    const store = newStore();
    const clocks = [drivenClock(), drivenClock()] as const;
    const [old, young] = await Promise.all([
      start(store, {}, { clock: clocks[0] }),
      start(store, {}, { clock: clocks[1] }),
    ]);
    const listed = async () => names(await young.client.list(apiServices));
    /** Runs the self-registration, the identity lease of which is renewed last. */
    const register = async (index: 0 | 1) => {
      clocks[index].advance(10_000);
      const renewTime = new Date(clocks[index].now()).toISOString().replace('Z', '000Z');
      await expect
        .poll(async () => JSON.stringify(await young.client.list(leases)))
        .toContain(JSON.stringify(renewTime));
    };
    await register(0);
    clocks[1].advance(1);
    await register(1);
    // It has to register again, and does not know yet what the other serves.
    await young.client.create(definitions, definition('first.example.com'));
    await expect.poll(() => statusOf(old.client, '/apis/first.example.com/v1')).toBe(200);
    const release = old.link.holdWatches('/apiextensions.k8s.io/customresourcedefinitions/');
    await young.client.create(definitions, definition('second.example.com'));
    await young.client.create(apiServices, {
      apiVersion: apiServices.apiVersion,
      kind: 'APIService',
      metadata: { name: 'v9.apps', labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
      spec: { group: 'apps', version: 'v9', groupPriorityMinimum: 17_800, versionPriority: 90 },
    });
    clocks[1].advance(3);
    await register(1);
    expect(await listed()).toContain('v1.second.example.com');
    clocks[0].advance(5);
    const registered = register(0);
    // The missing part arrives when it has seen all APIServices.
    setTimeout(release, 200);
    await registered;
    expect(await listed()).toEqual(
      expect.arrayContaining(['v1.first.example.com', 'v1.second.example.com', 'v9.apps']),
    );
  });
});
