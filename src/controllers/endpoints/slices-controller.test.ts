import { afterEach, describe, expect, it } from 'vitest';
import { garbageCollector } from '../garbage-collector/garbage-collector.ts';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { podNamed, podStatus } from '../testing/served-pods.ts';
import { endpointSlicesController } from './slices-controller.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const at = (name: string) => ({ metadata: { namespace: 'default', name } });
const service = (name: string, spec = {}) => ({
  ...at(name),
  spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }], ...spec },
});
const slicesOf = (name: string) =>
  cluster.client
    .kind(kinds.endpointSlices)
    .list({ namespace: 'default', labelSelector: `kubernetes.io/service-name=${name}` })
    .then(({ items }) => items);
const addresses = async (name: string) =>
  (await slicesOf(name)).map(({ endpoints }) =>
    (endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? []).sort(),
  );

async function start(server = {}) {
  cluster = await testCluster([endpointSlicesController, garbageCollector], { server });
  await cluster.client.kind(kinds.serviceAccounts).create(at('default'));
  const labels = { 'topology.kubernetes.io/zone': 'z1' };
  await cluster.client.kind(kinds.nodes).create({ metadata: { name: 'n1', labels } });
  return cluster.client;
}

async function addPod(name: string, ips: readonly string[], spec = {}) {
  await cluster.client.kind(kinds.pods).create(podNamed(name, undefined, spec));
  await setStatus(name, { ips });
}

async function setStatus(name: string, state: Parameters<typeof podStatus>[0]) {
  await cluster.client
    .kind(kinds.pods)
    .subresource('status')
    .patch(at(name).metadata, 'merge', { status: podStatus(state) });
  await cluster.settle();
}

describe('endpointslice-controller', () => {
  it('keeps a slice of the pods of a service, whose name stays', async () => {
    const client = await start();
    await client.kind(kinds.services).create(service('web'));
    await cluster.settle();
    const [empty] = await slicesOf('web');
    expect(await addresses('web')).toEqual([[]]);
    await addPod('a', ['10.1.0.1']);
    await addPod('b', ['10.1.0.2']);
    const [slice] = await slicesOf('web');
    expect(await addresses('web')).toEqual([['10.1.0.1', '10.1.0.2']]);
    expect(slice?.metadata.name).toBe(empty?.metadata.name);
    expect(slice?.endpoints?.[0]).toMatchObject({ nodeName: 'n1', zone: 'z1' });
    await setStatus('a', { ips: ['10.1.0.1'], ready: false, since: '2026-01-01T00:00:07Z' });
    const [changed] = await slicesOf('web');
    expect(changed?.metadata.annotations).toEqual({
      'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:07Z',
    });
    await client.kind(kinds.pods).delete(at('a').metadata, { gracePeriodSeconds: 0 });
    await cluster.settle();
    expect(await addresses('web')).toEqual([['10.1.0.2']]);
    expect(cluster.logged).toEqual([]);
  });

  it('has slices for each address family of the service, as long as it has it', async () => {
    const client = await start({ serviceClusterIpRange: '10.0.0.0/24,fd00::/112' });
    await client.kind(kinds.services).create(service('web', { ipFamilyPolicy: 'RequireDualStack' }));
    await addPod('a', ['10.1.0.1', 'fd00:1::1']);
    const types = async () => (await slicesOf('web')).map(({ addressType = '' }) => addressType).sort();
    expect(await types()).toEqual(['IPv4', 'IPv6']);
    expect((await addresses('web')).flat().sort()).toEqual(['10.1.0.1', 'fd00:1::1']);
    await client.kind(kinds.services).patch(at('web').metadata, 'merge', {
      spec: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'], clusterIPs: null },
    });
    await cluster.settle();
    expect(await types()).toEqual(['IPv4']);
  });

  it('restores slices that others change or delete, and leaves those of other managers alone', async () => {
    const client = await start();
    await client.kind(kinds.services).create(service('web'));
    await addPod('a', ['10.1.0.1']);
    const labels = { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': 'someone' };
    const own = { metadata: { namespace: 'default', name: 'own', labels }, addressType: 'IPv4', endpoints: [] };
    await client.kind(kinds.endpointSlices).create(own);
    const [slice] = (await slicesOf('web')).filter(({ metadata }) => metadata.name !== 'own');
    if (slice === undefined) throw new Error('no slice');
    await client.kind(kinds.endpointSlices).patch(slice.metadata, 'merge', { endpoints: [] });
    await cluster.advance(1_000);
    expect((await addresses('web')).flat()).toEqual(['10.1.0.1']);
    await client.kind(kinds.endpointSlices).delete(slice.metadata);
    await cluster.advance(1_000);
    expect((await addresses('web')).flat()).toEqual(['10.1.0.1']);
    expect(
      (await client.kind(kinds.endpointSlices).get({ namespace: 'default', name: 'own' })).metadata.generation,
    ).toBe(1);
  });

  it('makes no slices of services without selector and of external names', async () => {
    const client = await start();
    await client.kind(kinds.services).create(service('plain', { selector: null }));
    await client.kind(kinds.services).create(service('outside', { type: 'ExternalName', externalName: 'example.com' }));
    await addPod('a', ['10.1.0.1']);
    expect([await slicesOf('plain'), await slicesOf('outside')]).toEqual([[], []]);
  });

  it('writes only the slices of services that select the pod, and only when the change is visible', async () => {
    const client = await start();
    await client.kind(kinds.services).create(service('web'));
    await client.kind(kinds.services).create(service('other', { selector: { app: 'other' } }));
    await addPod('a', ['10.1.0.1']);
    await cluster.advance(2_000);
    const versions = async () =>
      [...(await slicesOf('web')), ...(await slicesOf('other'))].map(({ metadata }) => metadata.resourceVersion);
    const before = await versions();
    await client
      .kind(kinds.pods)
      .patch(at('a').metadata, 'merge', { metadata: { annotations: { note: '1' }, labels: { x: 'y' } } });
    await cluster.advance(2_000);
    expect(await versions()).toEqual(before);
    await setStatus('a', { ips: ['10.1.0.9'] });
    expect(await versions()).toEqual([expect.not.stringMatching(`^${before[0]}$`), before[1]]);
  });

  it('records that a node is missing, and adds its pods when it is there', async () => {
    const client = await start();
    await client.kind(kinds.services).create(service('web'));
    await addPod('a', ['10.1.0.1']);
    await addPod('b', ['10.1.0.2'], { nodeName: 'n2' });
    expect(await addresses('web')).toEqual([['10.1.0.1']]);
    const events = (await client.kind(kinds.events).list({ namespace: 'default' })).items;
    expect(events.map(({ reason, message, source }) => [source?.component, reason, message])).toEqual([
      [
        'endpoint-slice-controller',
        'FailedToUpdateEndpointSlices',
        'Error updating Endpoint Slices for Service default/web: skipping Pod b for Service default/web: Node n2 Not Found',
      ],
    ]);
    await client.kind(kinds.nodes).create({ metadata: { name: 'n2' } });
    await cluster.advance(2_000);
    expect(await addresses('web')).toEqual([['10.1.0.1', '10.1.0.2']]);
  });

  it('gives hints for the zone of endpoints to services that prefer close ones', async () => {
    const client = await start();
    await client.kind(kinds.services).create(service('web', { trafficDistribution: 'PreferClose' }));
    await addPod('a', ['10.1.0.1']);
    const hints = async () => (await slicesOf('web')).flatMap(({ endpoints }) => endpoints?.map((one) => one.hints));
    expect(await hints()).toEqual([{ forZones: [{ name: 'z1' }] }]);
    await client.kind(kinds.services).patch(at('web').metadata, 'merge', { spec: { trafficDistribution: null } });
    await cluster.settle();
    expect(await hints()).toEqual([undefined]);
  });

  it('gives hints by the share of zones to services that ask for them', async () => {
    const client = await start();
    const status = { allocatable: { cpu: '1' }, conditions: [{ type: 'Ready', status: 'True' }] };
    await client.kind(kinds.nodes).create({
      metadata: { name: 'n2', labels: { 'topology.kubernetes.io/zone': 'z2' } },
    });
    for (const name of ['n1', 'n2']) {
      await client.kind(kinds.nodes).subresource('status').patch({ name }, 'merge', { status });
    }
    const annotations = { 'service.kubernetes.io/topology-mode': 'Auto' };
    await client.kind(kinds.services).create({
      ...service('web'),
      metadata: { namespace: 'default', name: 'web', annotations },
    });
    await cluster.settle();
    await addPod('a', ['10.1.0.1']);
    await addPod('b', ['10.1.0.2'], { nodeName: 'n2' });
    const zones = async () =>
      (await slicesOf('web')).flatMap(({ endpoints }) =>
        (endpoints ?? []).map(({ hints }) => hints?.forZones?.[0]?.name),
      );
    expect((await zones()).join()).toMatch(/^(z1,z2|z2,z1)$/);
    await client.kind(kinds.nodes).delete({ name: 'n2' });
    await cluster.advance(1_000);
    expect(await zones()).toEqual([undefined]);
    const events = (await client.kind(kinds.events).list({ namespace: 'default' })).items;
    const enabled = 'Topology Aware Hints has been enabled, addressType: IPv4';
    expect(events.map(({ message }) => message)).toContain(enabled);
  });

  it('leaves slices to the garbage collector when the service is deleted', async () => {
    const client = await start();
    await client.kind(kinds.services).create(service('web'));
    await addPod('a', ['10.1.0.1']);
    await client.kind(kinds.services).delete(at('web').metadata);
    await cluster.advance(2_000);
    expect(await slicesOf('web')).toEqual([]);
    expect(cluster.logged).toEqual([]);
  });
});
