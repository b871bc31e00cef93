import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ApiObject } from '../../meta/index.ts';
import { until } from '../../meta/testing/until.ts';
import type { Resource } from '../../registry/index.ts';
import { openMemoryStore } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { silentLog } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';
import { defaultSettings } from '../settings/flags.ts';
import type { ServerOptions } from '../settings/server-options.ts';
import { createServiceReconciler } from './default-service.ts';

// Names, labels and fields as in the reference server's `pkg/controlplane`.
const servers: OrchServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
async function start(options: ServerOptions = {}, dependencies = {}): Promise<OrchServer> {
  const given = { apiDomain: 'k8s.io', securePort: 0, advertiseAddress: '192.0.2.7', ...options };
  const server = await createServer(given, dependencies);
  servers.push(server);
  return server;
}

const own = { namespace: 'default', name: 'kubernetes' };
const service = { apiVersion: 'v1', resource: 'services', ...own };
const endpoints = { apiVersion: 'v1', resource: 'endpoints', ...own };
const slice = { apiVersion: 'discovery.k8s.io/v1', resource: 'endpointslices', ...own };
const range = { apiVersion: 'networking.k8s.io/v1', resource: 'servicecidrs', name: 'kubernetes' };

describe('the service reconciler', () => {
  it('creates the service before the server listens', async () => {
    const { client } = await start({ securePort: 7443 });
    expect(await client.get(service)).toMatchObject({
      metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: {
        type: 'ClusterIP',
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1'],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        sessionAffinity: 'None',
        ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 7443 }],
      },
    });
    await expect(client.get(endpoints)).rejects.toMatchObject({ code: 404 });
  });

  it('creates endpoints and an endpoint slice with the address of the listener', async () => {
    const server = await start();
    const { port } = await server.listen();
    const { client } = server;
    expect(await client.get(service)).toMatchObject({ spec: { ports: [{ targetPort: port }] } });
    const ports = [{ name: 'https', port, protocol: 'TCP' }];
    expect(await client.get(endpoints)).toMatchObject({
      metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{ ip: '192.0.2.7' }], ports }],
    });
    expect(await client.get(slice)).toMatchObject({
      metadata: { labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.7'], conditions: { ready: true } }],
      ports,
    });
  });

  it('uses the names of the API domain', async () => {
    const { client } = await start({ apiDomain: 'orch.io' });
    expect(await client.get({ ...service, name: 'orch' })).toMatchObject({
      metadata: { labels: { component: 'apiserver', provider: 'orch' } },
    });
  });

  it('restores deleted and changed objects', async () => {
    const clock = drivenClock();
    const server = await start({}, { clock, store: openMemoryStore({ clock }) });
    await server.listen();
    const { client } = server;
    const { spec } = await client.get<ApiObject>(service);
    await client.delete(slice);
    const labels = { mine: 'x' };
    await client.patch(endpoints, 'merge', { metadata: { labels }, subsets: [{ addresses: [{ ip: '192.0.2.9' }] }] });
    clock.advance(10_000);
    const addresses = [{ ip: '192.0.2.7' }];
    await until(async () => {
      expect(await client.get(slice)).toMatchObject({ endpoints: [{ addresses: ['192.0.2.7'] }] });
      // Labels of other writers are kept.
      expect(await client.get(endpoints)).toMatchObject({ metadata: { labels }, subsets: [{ addresses }] });
    });
    // Changes of other writers to the service are kept.
    await client.patch(service, 'merge', { spec: { sessionAffinity: 'ClientIP' } });
    await client.delete(slice);
    clock.advance(10_000);
    await until(() => client.get(slice));
    expect(await client.get(service)).toMatchObject({ spec: { sessionAffinity: 'ClientIP' } });
    await client.delete(service);
    await until(async () => {
      clock.advance(10_000);
      expect((await client.get<ApiObject>(service))['spec']).toEqual(spec);
      expect(await client.get(endpoints)).toMatchObject({ subsets: [{ addresses }] });
    });
  });

  it('corrects the service at every start', async () => {
    const clock = drivenClock();
    const store = openMemoryStore({ clock });
    const first = await start({ securePort: 7443 }, { clock, store });
    await first.client.patch(service, 'merge', { spec: { sessionAffinity: 'ClientIP' } });
    const second = await start({ securePort: 8443 }, { clock, store });
    expect(await second.client.get(service)).toMatchObject({
      spec: { sessionAffinity: 'None', ports: [{ port: 443, targetPort: 8443 }] },
    });
  });

  it('creates no endpoints without a reachable address, and warns once', async () => {
    const { client, names } = await start();
    const warn = vi.fn();
    const keep = createServiceReconciler({
      registry: { find: () => ({}) as Resource },
      client,
      store: openMemoryStore({ clock: drivenClock() }),
      names,
      settings: defaultSettings,
      clock: drivenClock(),
      log: { ...silentLog, warn },
      interfaces: () => ({}),
      port: () => 7443,
    });
    await keep.reconcile();
    await keep.reconcile();
    expect(warn.mock.calls.map(([text]: unknown[]) => text)).toEqual([
      'the service of the API server has no endpoints, so that no other machine can reach it: set --advertise-address',
    ]);
    await expect(client.get(endpoints)).rejects.toMatchObject({ code: 404 });
  });

  it('skips resources that are not served', async () => {
    const runtimeConfig = { 'networking.k8s.io/v1': false, 'discovery.k8s.io/v1': false };
    const server = await start({ runtimeConfig });
    await server.listen();
    expect(await server.client.get(endpoints)).toMatchObject({ subsets: [{ addresses: [{ ip: '192.0.2.7' }] }] });
  });
});

describe('the default ServiceCIDR', () => {
  it('is created with a Ready condition at the start', async () => {
    const { client } = await start();
    expect(await client.get(range)).toMatchObject({
      spec: { cidrs: ['10.0.0.0/24'] },
      status: {
        conditions: [{ type: 'Ready', status: 'True', message: 'Kubernetes default Service CIDR is ready' }],
      },
    });
  });

  it('gets a second IP family added, and is not changed otherwise', async () => {
    const clock = drivenClock();
    const store = openMemoryStore({ clock });
    const [v4, v6] = ['10.0.0.0/24', 'fd00::/112'];
    const cidrs = async (serviceClusterIpRange: string[], warn = vi.fn()) => {
      const server = await start({ serviceClusterIpRange }, { clock, store, log: { ...silentLog, warn } });
      return (await server.client.get<ApiObject>(range))['spec'];
    };
    await cidrs([v4]);
    expect(await cidrs([v4, v6])).toEqual({ cidrs: ['10.0.0.0/24', 'fd00::/112'] });
    const warn = vi.fn();
    expect(await cidrs(['10.9.0.0/24'], warn)).toEqual({ cidrs: ['10.0.0.0/24', 'fd00::/112'] });
    expect(warn).toHaveBeenCalledWith(
      'the default ServiceCIDR differs from --service-cluster-ip-range; delete it to have it created again',
      { currentCidrs: ['10.0.0.0/24', 'fd00::/112'], cidrs: ['10.9.0.0/24'] },
    );
  });
});
