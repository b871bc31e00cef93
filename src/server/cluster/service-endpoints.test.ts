import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from '../../client/index.ts';
import { type ApiObject, isStatus } from '../../meta/index.ts';
import { openMemoryStore, type Store } from '../../store/index.ts';
import { type DrivenClock, drivenClock } from '../../store/testing/driven-clock.ts';
import { createServer, type OrchServer } from '../server.ts';
import type { ServerOptions } from '../settings/server-options.ts';
import { storeLink } from '../testing/store-link.ts';
import { leasedEndpoints, renewLease } from './endpoint-leases.ts';

// Keys, time to live and interval as in the lease endpoint reconciler of the reference server.
const servers: OrchServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const own = { namespace: 'default', name: 'kubernetes' };
const endpoints = { apiVersion: 'v1', resource: 'endpoints', ...own };
const slices = { apiVersion: 'discovery.k8s.io/v1', resource: 'endpointslices', namespace: 'default' };

const newCluster = () => {
  const clock = drivenClock();
  return { clock, store: openMemoryStore({ clock }) };
};

async function start({ clock, store }: { clock: DrivenClock; store: Store }, options: ServerOptions) {
  const link = storeLink(store);
  const settings = { apiDomain: 'k8s.io', securePort: 0, controllers: '-*', ...options };
  const server = await createServer(settings, { clock, store: link.store });
  servers.push(server);
  const { port } = await server.listen();
  return { ...server, link, clock, port, close: () => server.close() };
}

const found = async (client: Client) => {
  const held = await client.get<ApiObject>(endpoints).catch((error: unknown) => {
    if (!isStatus(error, 404)) throw error;
    return undefined;
  });
  return held?.['subsets'];
};
const addressesOf = async (client: Client) =>
  ((await found(client)) as { addresses: { ip: string }[] }[] | undefined)?.map(({ addresses }) =>
    addresses.map(({ ip }) => ip),
  );
/** The slices: name, address family, addresses and port. */
const slicesOf = async (client: Client) => {
  const { items } = await client.list<ApiObject>(slices);
  return items.map((item) => {
    const slice = item as ApiObject & { endpoints: { addresses: string[] }[] | null; ports: { port: number }[] };
    const addresses = (slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses);
    return [slice.metadata.name, slice['addressType'], addresses, slice.ports.map(({ port }) => port)];
  });
};
/** The driven clock moves on by ten seconds, and the reconcilers run, until the expectation holds. */
const later = (clock: DrivenClock, read: () => Promise<unknown>) =>
  expect.poll(async () => {
    const value = await read();
    clock.advance(1_000);
    return value;
  });

describe('the endpoints of the API service', () => {
  it('are the addresses of all servers; that of one is gone as soon as it is shut down', async () => {
    const cluster = newCluster();
    const [one, other] = ['192.0.2.8', '192.0.2.7'];
    const { client, port, close, clock } = await start(cluster, { advertiseAddress: one });
    expect(await addressesOf(client)).toEqual([[one]]);
    // A server on another machine.
    await renewLease(cluster.store, { ip: other, port });
    const both = { addresses: [{ ip: other }, { ip: one }], ports: [{ name: 'https', port, protocol: 'TCP' }] };
    await later(clock, () => found(client)).toEqual([both]);
    await later(clock, () => slicesOf(client)).toEqual([['kubernetes', 'IPv4', [other, one], [port]]]);
    await close();
    await renewLease(cluster.store, { ip: other, port });
    const reader = await start(cluster, { endpointReconcilerType: 'none' });
    expect(await addressesOf(reader.client)).toEqual([[other]]);
    expect(await slicesOf(reader.client)).toEqual([['kubernetes', 'IPv4', [other], [port]]]);
  });

  it('are none when the last server is shut down', async () => {
    const cluster = newCluster();
    const { port, close } = await start(cluster, { advertiseAddress: '192.0.2.7' });
    await close();
    const { client } = await start(cluster, { endpointReconcilerType: 'none' });
    expect(await found(client)).toBeUndefined();
    expect(await slicesOf(client)).toEqual([['kubernetes', 'IPv4', [], [port]]]);
  });

  it('have leases under the keys of the reference server, which differ between servers of a machine', async () => {
    const { store } = newCluster();
    for (const ip of ['192.0.2.7', '2001:db8::7']) {
      for (const port of [6443, 7443]) await renewLease(store, { ip, port });
    }
    const { entries } = await store.list({ prefix: '/' });
    const values = entries.map(({ key, value }) => [key, JSON.parse(Buffer.from(value).toString()) as unknown]);
    const lease = (ip: string, port: number) => ({
      kind: 'Endpoints',
      apiVersion: 'v1',
      subsets: [{ addresses: [{ ip }], ports: [{ name: 'https', port, protocol: 'TCP' }] }],
    });
    expect(values).toEqual([
      ['/masterleases/192.0.2.7', lease('192.0.2.7', 6443)],
      ['/masterleases/192.0.2.7:7443', lease('192.0.2.7', 7443)],
      ['/masterleases/2001:db8::7', lease('2001:db8::7', 6443)],
      ['/masterleases/[2001:db8::7]:7443', lease('2001:db8::7', 7443)],
    ]);
  });

  it('lose a server that has died within its lease, and get it back with its next renewal', async () => {
    const cluster = newCluster();
    const dead = await start(cluster, { advertiseAddress: '192.0.2.7' });
    const { clock, client } = await start(cluster, { advertiseAddress: '192.0.2.8' });
    const died = clock.now();
    dead.link.become('refused');
    await later(clock, () => addressesOf(client)).toEqual([['192.0.2.8']]);
    // The lease was renewed ten seconds before at the earliest; leases and reconcilers take a second each.
    expect(clock.now() - died).toBeGreaterThan(4_000);
    dead.link.become('up');
    await later(clock, () => addressesOf(client)).toHaveLength(2);
    expect((await addressesOf(client))?.flat().sort()).toEqual(['192.0.2.7', '192.0.2.8']);
  });

  it('of a machine with several servers, or of several families, are in slices of their own', async () => {
    const cluster = newCluster();
    const [a, b, c] = [
      await start(cluster, { advertiseAddress: '192.0.2.7' }),
      await start(cluster, { advertiseAddress: '192.0.2.7' }),
      await start(cluster, { advertiseAddress: '2001:db8::7' }),
    ];
    const expected = async (...started: { port: number; family: string; ip: string }[]) => {
      const sorted = started.toSorted((x, y) => x.port - y.port);
      const { client } = c;
      expect(await slicesOf(client)).toEqual(
        sorted
          .map(({ port, family, ip }, index) => {
            const name = index === 0 ? 'kubernetes' : `kubernetes-${family.toLowerCase()}-${port}`;
            return [name, family, [ip], [port]];
          })
          .toSorted(([x], [y]) => (String(x) < String(y) ? -1 : 1)),
      );
      expect(await addressesOf(client)).toEqual(sorted.map(({ ip }) => [ip]));
    };
    const of = ({ port }: { port: number }, ip: string) => ({ port, ip, family: ip.includes(':') ? 'IPv6' : 'IPv4' });
    await expected(of(a, '192.0.2.7'), of(b, '192.0.2.7'), of(c, '2001:db8::7'));
    await b.close();
    await expected(of(a, '192.0.2.7'), of(c, '2001:db8::7'));
    await a.close();
    await expected(of(c, '2001:db8::7'));
  });

  it('are complete when servers start at once', async () => {
    const cluster = newCluster();
    const ips = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];
    const started = await Promise.all(ips.map((advertiseAddress) => start(cluster, { advertiseAddress })));
    for (const { client } of started) expect((await addressesOf(client))?.flat().sort()).toEqual(ips);
    await Promise.all(started.slice(1).map(({ close }) => close()));
    expect(await addressesOf(started[0]!.client)).toEqual([['192.0.2.1']]);
    expect(await slicesOf(started[0]!.client)).toHaveLength(1);
  });

  it('ignore leases that cannot be read', async () => {
    const cluster = newCluster();
    const of = (ip: string, port: number) => JSON.stringify({ subsets: [{ addresses: [{ ip }], ports: [{ port }] }] });
    const ports = [0, -1, 1.5, 65_536, 1e9].map((port) => of('192.0.2.9', port));
    const large = of('192.0.2.9', 443).padEnd(17 * 1024);
    const values = ['', '{', '[]', '{"subsets":[{}]}', of('x', 1), large, ...ports];
    await cluster.store.commit(
      [],
      values.map((value, index) => ({ key: `/masterleases/${index}`, value: Buffer.from(value) })),
    );
    const { client } = await start(cluster, { advertiseAddress: '192.0.2.7' });
    expect(await addressesOf(client)).toEqual([['192.0.2.7']]);
  });

  it('are made of a thousand leases at most', async () => {
    const { store } = newCluster();
    const leases = Array.from({ length: 1_100 }, (_, i) => ({ ip: `192.0.${i >> 8}.${i % 256}`, port: 443 }));
    for (const lease of leases) await renewLease(store, lease);
    expect(await leasedEndpoints(store)).toHaveLength(1_000);
  });

  it('are left alone by a server that is told to', async () => {
    const cluster = newCluster();
    const { client, clock, close } = await start(cluster, {
      advertiseAddress: '192.0.2.7',
      endpointReconcilerType: 'none',
    });
    clock.advance(10_000);
    expect(await found(client)).toBeUndefined();
    expect(await slicesOf(client)).toEqual([]);
    await close();
    expect((await cluster.store.list({ prefix: '/masterleases/' })).entries).toEqual([]);
  });
});
