import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../src/meta/testing/until.ts';
import { systemClock } from '../src/server/clock.ts';
import {
  type ApiObject,
  createServer,
  type OrchServer,
  openMemoryStore,
  type ServerOptions,
  type Store,
} from '../src/server/index.ts';
import { drivenClock } from '../src/store/testing/driven-clock.ts';

// Addresses and node ports of services, over the wire: two services never have the same one, what is refused takes
// nothing, and what is wrong is set right. Messages are those of the reference server.

const servers: OrchServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
async function start(settings: ServerOptions = {}, outside = {}): Promise<OrchServer> {
  const server = await createServer({ controllers: '-*', apiDomain: 'k8s.io', securePort: 0, ...settings }, outside);
  servers.push(server);
  return server;
}

type Spec = { [field: string]: ApiObject[string] };
interface Service extends ApiObject {
  spec: { clusterIP?: string; clusterIPs?: string[]; ports: { port: number; nodePort?: number }[] } & Spec;
}
const services = { apiVersion: 'v1', resource: 'services', namespace: 'default' };
const addresses = { apiVersion: 'networking.k8s.io/v1', resource: 'ipaddresses' };
const ranges = { apiVersion: 'networking.k8s.io/v1', resource: 'servicecidrs' };
const body = (name: string, spec: Spec): Service =>
  ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } }) as Service;
const create = ({ client }: OrchServer, name: string, spec: Spec = {}, options = {}) =>
  client.create(services, body(name, spec), options);
const addressNames = async ({ client }: OrchServer) =>
  inOrder((await client.list(addresses)).items.map(({ metadata }) => metadata.name ?? ''));
const inOrder = (texts: readonly string[]) => [...texts].sort((a, b) => (a < b ? -1 : 1));
const byNumber = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b);
const cidr = (address: string, prefix: number) => ({ serviceClusterIpRange: `${address}/${prefix}` });

describe('a cluster IP', () => {
  it('is allocated with the service, has an IPAddress object, and is released when the service is deleted', async () => {
    const server = await start();
    const { spec } = await create(server, 'a', { clusterIP: '10.0.0.9' });
    expect(spec).toMatchObject({ clusterIPs: ['10.0.0.9'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });
    expect(await server.client.get({ ...addresses, name: '10.0.0.9' })).toMatchObject({
      metadata: {
        labels: {
          'ipaddress.kubernetes.io/ip-family': 'IPv4',
          'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
        },
      },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 'a' } },
    });
    await server.client.delete({ ...services, name: 'a' });
    expect(await addressNames(server)).toEqual(['10.0.0.1']);
    await create(server, 'b', { clusterIP: '10.0.0.9' });
  });

  it('is kept until the finalizers of a deleted service are removed', async () => {
    const server = await start();
    const { client } = server;
    const place = { ...services, name: 'a' };
    const held = body('a', { clusterIP: '10.0.0.9' });
    held.metadata.finalizers = ['example.com/wait'];
    await client.create(services, held);
    await client.delete(place);
    expect(await addressNames(server)).toEqual(['10.0.0.1', '10.0.0.9']);
    const { metadata } = await client.get<Service>(place);
    // The update need not repeat the allocated cluster IP.
    await client.update(place, { ...body('a', {}), metadata: { ...metadata, finalizers: [] } });
    await expect(client.get(place)).rejects.toMatchObject({ code: 404 });
    expect(await addressNames(server)).toEqual(['10.0.0.1']);
  });

  it('is released by deletecollection and by a change of type', async () => {
    const server = await start();
    await Promise.all([create(server, 'a'), create(server, 'b'), create(server, 'c')]);
    const external = { type: 'ExternalName', externalName: 'example.com' };
    await server.client.patch({ ...services, name: 'a' }, 'merge', { spec: external });
    expect(await addressNames(server)).toHaveLength(3);
    await server.client.delete(services);
    expect(await addressNames(server)).toEqual([]);
  });

  it.each([
    ['10.0.0.1', 'provided IP is already allocated'],
    ['10.0.1.1', 'the provided network does not match the current range'],
    // The network and the broadcast address of the range are never allocated.
    ['10.0.0.0', 'the provided network does not match the current range'],
    ['10.0.0.255', 'the provided network does not match the current range'],
  ])('%s is rejected', async (clusterIP, why) => {
    const server = await start();
    await expect(create(server, 'a', { clusterIP })).rejects.toMatchObject({
      code: 422,
      message: `Service "a" is invalid: spec.clusterIPs: Invalid value: ["${clusterIP}"]: failed to allocate IP ${clusterIP}: ${why}`,
    });
  });

  it('is allocated from the upper band first', async () => {
    // Of 32 addresses 16 are reserved for explicit requests: .1 to .16; .31 is the broadcast address.
    const server = await start(cidr('10.0.0.0', 27));
    const made = await Promise.all(Array.from({ length: 14 }, (_, i) => create(server, `s${i}`)));
    const last = byNumber(made.map(({ spec }) => Number(spec.clusterIP?.split('.')[3])));
    expect(last).toEqual(Array.from({ length: 14 }, (_, i) => 17 + i));
    const { spec } = await create(server, 'low');
    expect(Number(spec.clusterIP?.split('.')[3])).toBeLessThan(17);
  });

  it('is allocated from every range that is ready', async () => {
    const server = await start(cidr('10.0.0.0', 29));
    const { client } = server;
    // The server itself has one of six.
    for (let i = 0; i < 5; i++) await create(server, `s${i}`);
    await expect(create(server, 'more')).rejects.toMatchObject({
      code: 500,
      message: 'Internal error occurred: failed to allocate a serviceIP: range is full',
    });
    const range = { apiVersion: ranges.apiVersion, kind: 'ServiceCIDR', metadata: { name: 'second' } };
    await client.create(ranges, { ...range, spec: { cidrs: ['10.7.0.0/28'] } });
    expect((await create(server, 'more')).spec.clusterIP).toMatch(/^10\.7\.0\.\d+$/);
    const conditions = [
      { type: 'Ready', status: 'False', reason: '', message: '', lastTransitionTime: '2024-01-01T00:00:00Z' },
    ];
    await client.patch({ ...ranges, name: 'second', subresource: 'status' }, 'merge', { status: { conditions } });
    await expect(create(server, 'less')).rejects.toMatchObject({ code: 500 });
  });

  it('is allocated for both IP families', async () => {
    const server = await start({ serviceClusterIpRange: ['10.0.0.0/24', 'fd00::/112'] });
    const { spec } = await create(server, 'a', { ipFamilyPolicy: 'RequireDualStack' });
    expect(spec.clusterIPs).toEqual([expect.stringMatching(/^10\.0\.0\./), expect.stringMatching(/^fd00::/)]);
    expect(await addressNames(server)).toEqual(inOrder(['10.0.0.1', ...(spec.clusterIPs ?? [])]));
    await server.client.patch({ ...services, name: 'a' }, 'merge', { spec: { ipFamilyPolicy: 'SingleStack' } });
    expect(await addressNames(server)).toEqual(inOrder(['10.0.0.1', spec.clusterIP ?? '']));
  });
});

it('the endpoints of a service are deleted with it', async () => {
  const server = await start();
  const { client } = server;
  const endpoints = { ...services, resource: 'endpoints' };
  for (const name of ['a', 'b']) {
    await client.create(endpoints, { apiVersion: 'v1', kind: 'Endpoints', metadata: { name } });
  }
  await create(server, 'a');
  await client.delete({ ...services, name: 'a' });
  expect((await client.list(endpoints)).items.map(({ metadata }) => metadata.name)).toEqual(['b']);
});

describe('a write that is not stored', () => {
  it('allocates nothing', async () => {
    const server = await start();
    await create(server, 'a');
    const before = await addressNames(server);
    // The type is validated after the allocation.
    await expect(create(server, 'b', { type: 'Odd' })).rejects.toMatchObject({ code: 422 });
    await expect(create(server, 'a', { type: 'NodePort' })).rejects.toMatchObject({ code: 409 });
    expect(await addressNames(server)).toEqual(before);
  });

  it('as a dry run returns values that are not allocated, as recorded', async () => {
    const store = openMemoryStore({ clock: systemClock });
    const server = await start({}, { store });
    const two = {
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'b' },
      ],
    };
    const { spec } = await create(server, 'a', { ...two, type: 'NodePort' }, { dryRun: true });
    expect(spec).toMatchObject({ clusterIP: '10.0.0.0', ports: [{ nodePort: 32769 }, { nodePort: 32770 }] });
    await expect(create(server, 'a', { clusterIP: '10.1.0.1' }, { dryRun: true })).rejects.toMatchObject({
      message: expect.stringContaining('provided IP 10.1.0.1 is not in the valid range') as string,
    });
    expect(await addressNames(server)).toEqual(['10.0.0.1']);
    expect((await store.list({ prefix: '/ranges/' })).entries).toEqual([]);
  });
});

describe('a node port', () => {
  it('is allocated with the service, and released when it is no longer needed', async () => {
    const server = await start({ serviceNodePortRange: '31000-31099' });
    const port = (nodePort: number) => ({ type: 'NodePort', ports: [{ port: 80, nodePort }] });
    await create(server, 'a', port(31080));
    const refused = (nodePort: number, why: string) => ({
      code: 422,
      message: `Service "b" is invalid: spec.ports[0].nodePort: Invalid value: ${nodePort}: ${why}`,
    });
    await expect(create(server, 'b', port(31080))).rejects.toMatchObject(
      refused(31080, 'provided port is already allocated'),
    );
    const outside = 'provided port is not in the valid range. The range of valid ports is 31000-31099';
    await expect(create(server, 'b', port(31100))).rejects.toMatchObject(refused(31100, outside));
    await server.client.patch({ ...services, name: 'a' }, 'merge', { spec: { type: 'ClusterIP' } });
    await create(server, 'b', port(31080));
    await server.client.delete({ ...services, name: 'b' });
    await create(server, 'c', port(31080));
  });

  it('is allocated from the upper band first', async () => {
    // Of 40 ports 16 are reserved for explicit requests.
    const server = await start({ serviceNodePortRange: '30000-30039' });
    const ports = Array.from({ length: 24 }, (_, i) => ({ port: i + 1, name: `p${i}` }));
    const { spec } = await create(server, 'a', { type: 'NodePort', ports });
    expect(byNumber(spec.ports.map(({ nodePort = 0 }) => nodePort))).toEqual(ports.map((_, i) => 30016 + i));
    expect((await create(server, 'b', { type: 'NodePort' })).spec.ports[0]?.nodePort).toBeLessThan(30016);
  });

  it('is allocated for each of many ports of a service', async () => {
    const server = await start();
    const ports = Array.from({ length: 500 }, (_, i) => ({ port: i + 1, name: `p${i}` }));
    const { spec } = await create(server, 'a', { type: 'NodePort', ports });
    expect(new Set(spec.ports.map(({ nodePort }) => nodePort)).size).toBe(500);
    await server.client.delete({ ...services, name: 'a' });
  });
});

describe('concurrent creates', () => {
  const creators = (server: OrchServer, from: number, count: number, spec: Spec = {}) =>
    Array.from({ length: count }, (_, i) => create(server, `s${from + i}`, spec));

  it('get distinct cluster IPs', async () => {
    // 62 addresses, of which the server has one.
    const server = await start(cidr('10.0.0.0', 26));
    const outcomes = await Promise.allSettled(creators(server, 0, 64));
    const made = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? (outcome.value.spec.clusterIP ?? '') : [],
    );
    expect(new Set(made).size).toBe(61);
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? outcome.reason : []));
    expect(refused).toMatchObject(new Array(3).fill({ message: expect.stringContaining('range is full') as string }));
    expect(await addressNames(server)).toEqual(inOrder(['10.0.0.1', ...made]));
  });

  it('get distinct cluster IPs and node ports on several servers over one store', async () => {
    const store: Store = openMemoryStore({ clock: systemClock });
    const settings = { serviceNodePortRange: '30000-30063' };
    const [one, two] = [await start(settings, { store }), await start(settings, { store })];
    const spec = { type: 'NodePort' };
    const made = await Promise.all([...creators(one, 0, 32, spec), ...creators(two, 32, 32, spec)]);
    expect(new Set(made.map(({ spec: { clusterIP } }) => clusterIP)).size).toBe(64);
    const ports = made.map((service) => service.spec.ports[0]?.nodePort ?? 0);
    expect(byNumber(ports)).toEqual(Array.from({ length: 64 }, (_, i) => 30000 + i));
    await expect(create(one, 'more', spec)).rejects.toMatchObject({
      message: 'Internal error occurred: failed to allocate a nodePort: range is full',
    });
  });

  it('with the same requested cluster IP succeed once', async () => {
    const server = await start();
    const spec = { type: 'NodePort', clusterIP: '10.0.0.77', ports: [{ port: 80, nodePort: 30077 }] };
    const outcomes = await Promise.allSettled(creators(server, 0, 16, spec));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('after a restart', () => {
  it('every allocation is kept', async () => {
    const settings = { store: 'lmdb', dataDir: join(mkdtempSync(join(tmpdir(), 'orch-')), 'data') } as const;
    const first = await createServer({ controllers: '-*', apiDomain: 'k8s.io', securePort: 0, ...settings });
    await create(first, 'a', { type: 'NodePort', clusterIP: '10.0.0.50', ports: [{ port: 80, nodePort: 30050 }] });
    const own = await first.client.get({ ...services, name: 'kubernetes' });
    await first.close();
    const second = await start(settings);
    expect(await second.client.get({ ...services, name: 'kubernetes' })).toEqual(own);
    await expect(create(second, 'b', { clusterIP: '10.0.0.50' })).rejects.toMatchObject({ code: 422 });
    const ports = [{ port: 80, nodePort: 30050 }];
    await expect(create(second, 'b', { type: 'NodePort', ports })).rejects.toMatchObject({ code: 422 });
  });
});

describe('repair', () => {
  const minutes = (count: number) => count * 60_000;
  const block = '/ranges/servicenodeports/00937';

  async function damaged() {
    const clock = drivenClock();
    const store = openMemoryStore({ clock });
    const server = await start({}, { clock, store });
    clock.advance(0);
    const spec = { type: 'NodePort', clusterIP: '10.0.0.50', ports: [{ port: 80, nodePort: 30000 }] };
    await create(server, 'a', spec);
    return { clock, store, server };
  }
  const labels = {
    'ipaddress.kubernetes.io/ip-family': 'IPv4',
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  };
  const address = (name: string, service: string): ApiObject => ({
    apiVersion: addresses.apiVersion,
    kind: 'IPAddress',
    metadata: { name, labels },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: service } },
  });

  it('releases what no service has, and restores the allocations of services', async () => {
    const { clock, store, server } = await damaged();
    const { client } = server;
    await client.delete({ ...addresses, name: '10.0.0.50' });
    await client.create(addresses, address('10.0.0.60', 'gone'));
    await client.create(addresses, address('10.0.0.61', 'a'));
    // Whoever else keeps addresses keeps them.
    const { metadata, ...other } = address('10.0.0.62', 'gone');
    await client.create(addresses, { ...other, metadata: { name: metadata.name ?? '' } } as ApiObject);
    // 30000 = 937 · 32 + 16; 29984 + 1 belongs to no one.
    expect(Buffer.from((await store.get(block)).entry?.value ?? []).toString()).toBe('10000');
    await store.commit([], [{ key: block, value: Buffer.from('2') }]);
    clock.advance(minutes(3));
    await until(async () => {
      expect(await addressNames(server)).toEqual(['10.0.0.1', '10.0.0.50', '10.0.0.62']);
      expect(Buffer.from((await store.get(block)).entry?.value ?? []).toString()).toBe('10000');
    });
    expect(await client.get({ ...addresses, name: '10.0.0.50' })).toMatchObject({
      metadata: { labels },
      spec: { parentRef: { name: 'a' } },
    });
  });

  it('releases no node port while a service cannot be decoded', async () => {
    const { clock, store, server } = await damaged();
    await store.commit([], [{ key: '/services/specs/default/odd', value: Buffer.from('{') }]);
    // The port that is known is entered again, the one that may be theirs stays.
    await store.commit([], [{ key: block, value: Buffer.from('2') }]);
    await server.client.create(addresses, address('10.0.0.60', 'odd'));
    await server.client.create(addresses, address('10.0.0.61', 'gone'));
    clock.advance(minutes(3));
    await until(async () => {
      expect(await addressNames(server)).toEqual(['10.0.0.1', '10.0.0.50', '10.0.0.60']);
      expect(Buffer.from((await store.get(block)).entry?.value ?? []).toString()).toBe('10002');
    });
  });
});
