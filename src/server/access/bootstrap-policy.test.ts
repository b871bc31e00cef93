import { afterEach, describe, expect, it } from 'vitest';
import type { ApiObject, Clock, JsonObject } from '../../meta/index.ts';
import { openMemoryStore, type Store } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { storeWith } from '../../store/testing/store-with.ts';
import { systemClock } from '../clock.ts';
import { createServer, type OrchServer } from '../server.ts';
import type { ServerOptions } from '../settings/server-options.ts';

const servers: OrchServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
async function start(store: Store, options: ServerOptions = {}, clock: Clock = systemClock): Promise<OrchServer> {
  const server = await createServer(
    { controllers: '-*', apiDomain: 'k8s.io', securePort: 0, ...options },
    { store, clock },
  );
  servers.push(server);
  return server;
}

const kinds = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'];
const placeOf = (resource: string) => ({ apiVersion: 'rbac.authorization.k8s.io/v1', resource });
const rbacKey = /^\/(cluster)?role(binding)?s\//;
const clusterRole = (name: string) => ({ ...placeOf('clusterroles'), name });
const clusterRoleBinding = (name: string) => ({ ...placeOf('clusterrolebindings'), name });

async function everything({ client }: OrchServer): Promise<ApiObject[]> {
  const lists = await Promise.all(kinds.map((resource) => client.list(placeOf(resource))));
  return lists.flatMap(({ items }) => items);
}

/** A memory store that can be closed by one of its servers only, and that counts commits to roles and bindings. */
function sharedStore() {
  const store = openMemoryStore({ clock: systemClock });
  const commits: string[][] = [];
  const shared = storeWith(store, {
    commit: (compares, writes) => {
      const keys = writes.map(({ key }) => key).filter((key) => rbacKey.test(key));
      if (keys.length > 0) commits.push(keys);
      return store.commit(compares, writes);
    },
    close: () => Promise.resolve(),
  });
  return { store: shared, commits };
}

describe('the default roles and bindings', () => {
  it('are there when the server has started, written in two commits', async () => {
    const { store, commits } = sharedStore();
    const server = await start(store);
    const all = await everything(server);
    expect(all.length).toBeGreaterThan(120);
    expect(commits.flat().filter((key) => !/\/(admin|edit|view)$/.test(key)).length).toBeGreaterThan(120);
    expect(commits.filter((keys) => keys.length > 1)).toHaveLength(2);
    expect(all.map(({ metadata }) => metadata.labels?.['kubernetes.io/bootstrapping'])).toEqual(
      all.map(() => 'rbac-defaults'),
    );
    const [entry] = (await server.client.get(clusterRole('cluster-admin'))).metadata.managedFields ?? [];
    expect(entry).toMatchObject({ manager: 'kube-apiserver', operation: 'Update' });
  });

  it('are not written again when nothing is missing', async () => {
    const { store, commits } = sharedStore();
    const before = await everything(await start(store));
    const written = commits.length;
    const after = await everything(await start(store));
    expect(commits).toHaveLength(written);
    expect(after).toEqual(before);
  });

  it('get back what was removed, and keep what was added', async () => {
    const { store } = sharedStore();
    const { client } = await start(store);
    const own = { verbs: ['get'], apiGroups: ['example.org'], resources: ['things'] };
    await client.delete(clusterRole('system:discovery'));
    await client.patch(clusterRole('system:basic-user'), 'merge', { rules: [own] });
    const bound = await client.get<ApiObject & { roleRef: JsonObject }>(clusterRoleBinding('system:monitoring'));
    await client.delete(clusterRoleBinding('system:monitoring'));
    const { name, labels = {} } = bound.metadata;
    await client.create(placeOf('clusterrolebindings'), {
      ...bound,
      metadata: { ...(name === undefined ? {} : { name }), labels },
      roleRef: { ...bound.roleRef, name: 'cluster-admin' },
    });

    await start(store);
    expect(await client.get(clusterRole('system:discovery'))).toMatchObject({
      metadata: { labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } },
    });
    const basic = await client.get<ApiObject & { rules: JsonObject[] }>(clusterRole('system:basic-user'));
    expect(basic.rules).toHaveLength(4);
    expect(basic.rules[0]).toEqual(own);
    expect(await client.get(clusterRoleBinding('system:monitoring'))).toMatchObject({
      roleRef: { name: 'system:monitoring' },
      subjects: [{ kind: 'Group', name: 'system:monitoring' }],
    });
  });

  it('stay as they are where the annotation says so', async () => {
    const { store } = sharedStore();
    const { client } = await start(store);
    const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
    const changed = await client.patch(clusterRole('system:basic-user'), 'merge', {
      metadata: { annotations },
      rules: [],
    });
    await start(store);
    expect(await client.get(clusterRole('system:basic-user'))).toEqual(changed);
  });

  it('are the same from two servers that start at once, each created once', async () => {
    const { store, commits } = sharedStore();
    const [one, two] = await Promise.all([start(store), start(store)]);
    const all = await everything(one);
    expect(await everything(two)).toEqual(all);
    const alone = await everything(await start(sharedStore().store));
    const names = (objects: readonly ApiObject[]) =>
      objects.map(({ kind, metadata: { namespace = '', name } }) => [kind, namespace, name]);
    expect(names(all)).toEqual(names(alone));
    expect(commits.length).toBeLessThan(30);
  });

  it('are left out where their resource is not served', async () => {
    const { store } = sharedStore();
    const runtimeConfig = { 'rbac.authorization.k8s.io/v1/clusterrolebindings': false };
    const { client } = await start(store, { runtimeConfig });
    expect((await client.list(placeOf('clusterroles'))).items.length).toBeGreaterThan(60);
    await expect(client.list(placeOf('clusterrolebindings'))).rejects.toMatchObject({ code: 404 });
  });

  it('are attempted again where a stored role cannot be read, and the server is not ready until then', async () => {
    const { store } = sharedStore();
    const key = '/clusterroles/broken';
    await store.commit([], [{ key, value: Buffer.from('{') }]);
    const clock = drivenClock();
    const server = await start(store, {}, clock);
    const hook = async () => {
      const url = '/readyz/poststarthook/rbac/bootstrap-roles';
      return (await server.client.request({ method: 'GET', url, headers: {} })).status;
    };
    expect(await hook()).toBe(500);
    await store.commit([], [{ key }]);
    clock.advance(10_000);
    await expect.poll(hook).toBe(200);
    expect((await everything(server)).length).toBeGreaterThan(120);
  });
});
