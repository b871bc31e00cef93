import { afterEach, expect, it } from 'vitest';
import type { Client } from '../../client/index.ts';
import { type ApiObject, isStatus } from '../../meta/index.ts';
import { openMemoryStore, type Store } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { systemClock } from '../clock.ts';
import { type Dependencies, silentLog } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';
import { storeLink } from '../testing/store-link.ts';

// Operations that begin through one of two servers go on through the other one. Their watches are late.
const servers: OrchServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(store: Store, injected: Partial<Dependencies> = {}): Promise<OrchServer> {
  const link = storeLink(store, { lateMs: 15 });
  const settings = { apiDomain: 'k8s.io', controllers: '-*' };
  const server = await createServer(settings, { store: link.store, ...injected });
  servers.push(server);
  return server;
}
async function two(): Promise<[Client, Client]> {
  const store = openMemoryStore({ clock: systemClock });
  const [one, other] = await Promise.all([start(store), start(store)]);
  return [one.client, other.client];
}

const maps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
const services = { apiVersion: 'v1', resource: 'services', namespace: 'default' };
const addresses = { apiVersion: 'networking.k8s.io/v1', resource: 'ipaddresses' };
const service = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { type: 'NodePort', selector: { app: name }, ports: [{ port: 80 }] },
});
const names = ({ items }: { readonly items: readonly ApiObject[] }) => items.map(({ metadata }) => metadata.name);

it('a list is continued', async () => {
  const clients = await two();
  const written = Array.from({ length: 7 }, (_, index) => `map-${index}`);
  for (const [index, name] of written.entries()) {
    await clients[index % 2]?.create(maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
  }
  const read: (string | undefined)[] = [];
  let token: string | undefined;
  for (let page = 0; page === 0 || token; page++) {
    const list = await (clients[page % 2] as Client).list<ApiObject>(maps, {
      limit: 2,
      ...(token === undefined ? {} : { continue: token }),
    });
    read.push(...names(list));
    token = list.metadata.continue;
    // The list is that of its first page.
    if (page === 0) await clients[0].delete({ ...maps, name: 'map-6' });
  }
  expect(read).toEqual(written);
});

it('a custom type is defined, served and deleted', async () => {
  const [one, other] = await two();
  const definitions = { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions' };
  const things = { apiVersion: 'example.com/v1', resource: 'things', namespace: 'default' };
  const thing = (name: string) => ({ apiVersion: things.apiVersion, kind: 'Thing', metadata: { name } });
  await one.create(definitions, {
    apiVersion: definitions.apiVersion,
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'things', kind: 'Thing' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  const made = () => other.create(things, thing('a')).catch((error: unknown) => isStatus(error, 404));
  await expect.poll(made).toMatchObject({ kind: 'Thing' });
  await expect.poll(() => one.get({ ...things, name: 'a' }).catch(() => undefined)).toMatchObject({ kind: 'Thing' });
  await other.delete({ ...definitions, name: 'things.example.com' });
  for (const client of [one, other]) {
    const gone = () => client.list(things).catch((error: unknown) => isStatus(error, 404));
    await expect.poll(gone).toBe(true);
    await expect.poll(async () => names(await client.list(definitions))).toEqual([]);
  }
});

it('addresses and node ports are allocated, each to one service', async () => {
  const clients = await two();
  const made = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      (clients[index % 2] as Client).create<ApiObject>(services, service(`service-${index}`)),
    ),
  );
  const specs = made.map(({ spec }) => spec as { clusterIP: string; ports: { nodePort: number }[] });
  expect(new Set(specs.map(({ clusterIP }) => clusterIP)).size).toBe(30);
  expect(new Set(specs.map(({ ports }) => ports[0]?.nodePort)).size).toBe(30);
});

it('rights that are granted through one server hold for the other', async () => {
  const [one, other] = await two();
  const rbac = 'rbac.authorization.k8s.io';
  const review = async (client: Client) => {
    const reviews = { apiVersion: 'authorization.k8s.io/v1', resource: 'subjectaccessreviews' };
    const resourceAttributes = { namespace: 'default', verb: 'get', resource: 'pods' };
    const answer = await client.create<ApiObject>(reviews, {
      apiVersion: reviews.apiVersion,
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: { user: 'jane', resourceAttributes },
    });
    return (answer['status'] as { allowed: boolean }).allowed;
  };
  expect([await review(one), await review(other)]).toEqual([false, false]);
  const bindings = { apiVersion: `${rbac}/v1`, resource: 'rolebindings', namespace: 'default' };
  // A default role.
  await one.create(bindings, {
    apiVersion: bindings.apiVersion,
    kind: 'RoleBinding',
    metadata: { name: 'jane' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'system:kube-scheduler' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'jane' }],
  });
  for (const client of [one, other]) await expect.poll(() => review(client)).toBe(true);
  await other.delete({ ...bindings, name: 'jane' });
  for (const client of [one, other]) await expect.poll(() => review(client)).toBe(false);
});

it('allocations are repaired once, although every server compares them', async () => {
  const clock = drivenClock();
  const store = openMemoryStore({ clock });
  const repair = 'the cluster IP of a service was not allocated to it';
  let repairs = 0;
  // Requests that are in flight when the clock advances are slow, or time out: their warnings do not count.
  const warn = (message: string) => {
    if (message === repair) repairs++;
  };
  const log = { ...silentLog, warn };
  const [one, other] = await Promise.all([start(store, { clock, log }), start(store, { clock, log })]);
  const { spec } = await one.client.create<ApiObject>(services, service('a'));
  const { clusterIP } = spec as { clusterIP: string };
  await store.commit([], [{ key: `/ipaddresses/${clusterIP}` }]);
  const held = () => other.client.get({ ...addresses, name: clusterIP }).catch(() => undefined);
  expect(await held()).toBeUndefined();
  clock.advance(180_000);
  await expect.poll(held).toMatchObject({ spec: { parentRef: { name: 'a' } } });
  // The next run of both finds nothing to do.
  clock.advance(180_000);
  await expect.poll(() => one.client.get({ ...services, name: 'a' })).toMatchObject({ spec: { clusterIP } });
  expect(repairs).toBe(1);
});
