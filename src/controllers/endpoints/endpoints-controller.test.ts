import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { podNamed, podStatus } from '../testing/served-pods.ts';
import { endpointsController } from './endpoints-controller.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const at = (name: string) => ({ metadata: { namespace: 'default', name } });
const service = (name: string, spec = {}, labels = { team: 'a' }) => ({
  metadata: { namespace: 'default', name, labels },
  spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }], ...spec },
});
const endpointsOf = (name: string) => cluster.client.kind(kinds.endpoints).find({ namespace: 'default', name });
const ips = async (name: string) =>
  (await endpointsOf(name))?.subsets?.map(({ addresses }) => addresses?.map(({ ip }) => ip));

async function start() {
  cluster = await testCluster([endpointsController]);
  await cluster.client.kind(kinds.serviceAccounts).create(at('default'));
  return cluster.client;
}

async function addPod(name: string, ip: string, labels?: { [key: string]: string }, state = {}) {
  await cluster.client.kind(kinds.pods).create(podNamed(name, labels));
  await setStatus(name, { ips: [ip], ...state });
}

async function setStatus(name: string, state: Parameters<typeof podStatus>[0]) {
  await cluster.client
    .kind(kinds.pods)
    .subresource('status')
    .patch(at(name).metadata, 'merge', { status: podStatus(state) });
  await cluster.settle();
}

describe('endpoints-controller', () => {
  it('creates endpoints of a service, with its labels', async () => {
    const client = await start();
    const { metadata } = await client.kind(kinds.services).create(service('web'));
    await client.kind(kinds.services).create(service('bare', { clusterIP: 'None' }));
    await cluster.settle();
    expect((await endpointsOf('web'))?.metadata).toMatchObject({
      labels: { team: 'a', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': metadata.creationTimestamp },
    });
    expect((await endpointsOf('bare'))?.metadata.labels).toMatchObject({ 'service.kubernetes.io/headless': '' });
    expect(await endpointsOf('web')).not.toHaveProperty('subsets');
    expect(cluster.logged).toEqual([]);
  });

  it('follows pods: their readiness, labels and deletion', async () => {
    const client = await start();
    await client.kind(kinds.services).create(service('web'));
    await addPod('a', '10.1.0.1');
    await addPod('b', '10.1.0.2', { app: 'other' });
    expect(await ips('web')).toEqual([['10.1.0.1']]);
    await client.kind(kinds.pods).patch(at('b').metadata, 'merge', { metadata: { labels: { app: 'web' } } });
    await cluster.settle();
    expect(await ips('web')).toEqual([['10.1.0.1', '10.1.0.2']]);
    await client.kind(kinds.pods).patch(at('a').metadata, 'merge', { metadata: { labels: { app: 'other' } } });
    await setStatus('b', { ips: ['10.1.0.2'], ready: false, since: '2026-01-01T00:00:07Z' });
    const endpoints = await endpointsOf('web');
    expect(endpoints?.subsets?.[0]?.notReadyAddresses?.map(({ ip }) => ip)).toEqual(['10.1.0.2']);
    expect(endpoints?.metadata.annotations).toEqual({
      'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:07Z',
    });
    await client.kind(kinds.pods).delete(at('b').metadata, { gracePeriodSeconds: 0 });
    await cluster.settle();
    const empty = await endpointsOf('web');
    expect(empty).not.toHaveProperty('subsets');
    expect(empty?.metadata.annotations ?? {}).toEqual({});
  });

  it('follows the selector, labels and ports of the service', async () => {
    const client = await start();
    await client.kind(kinds.services).create(service('web'));
    await addPod('a', '10.1.0.1');
    await addPod('b', '10.1.0.2', { app: 'other' });
    const spec = { selector: { app: 'other' }, ports: [{ port: 80, protocol: 'TCP', targetPort: 9000 }] };
    await client.kind(kinds.services).patch(at('web').metadata, 'merge', { metadata: { labels: { team: 'b' } }, spec });
    await cluster.settle();
    const endpoints = await endpointsOf('web');
    expect(await ips('web')).toEqual([['10.1.0.2']]);
    expect(endpoints?.subsets?.[0]?.ports).toEqual([{ port: 9000, protocol: 'TCP' }]);
    expect(endpoints?.metadata.labels?.['team']).toBe('b');
  });

  it('writes nothing for an invisible change of a pod, nor for other services', async () => {
    const client = await start();
    await client.kind(kinds.services).create(service('web'));
    await client.kind(kinds.services).create(service('other', { selector: { app: 'other' } }));
    await addPod('a', '10.1.0.1');
    const versions = async () => [
      (await endpointsOf('web'))?.metadata.resourceVersion,
      (await endpointsOf('other'))?.metadata.resourceVersion,
    ];
    const [web, other] = await versions();
    await client
      .kind(kinds.pods)
      .patch(at('a').metadata, 'merge', { metadata: { annotations: { note: '1' }, labels: { x: 'y' } } });
    await cluster.settle();
    expect(await versions()).toEqual([web, other]);
    await setStatus('a', { ips: ['10.1.0.9'] });
    expect(await versions()).toEqual([expect.not.stringMatching(`^${web}$`), other]);
  });

  it('leaves endpoints of services without selector and of external names alone', async () => {
    const client = await start();
    await client.kind(kinds.services).create(service('plain', { selector: null }));
    await client.kind(kinds.services).create(service('outside', { type: 'ExternalName', externalName: 'example.com' }));
    await client.kind(kinds.endpoints).create({ ...at('plain'), subsets: [{ addresses: [{ ip: '192.0.2.1' }] }] });
    await addPod('a', '10.1.0.1');
    expect(await ips('plain')).toEqual([['192.0.2.1']]);
    expect(await endpointsOf('outside')).toBeUndefined();
  });

  it('deletes endpoints with their service, and creates those again that were deleted', async () => {
    const client = await start();
    await client.kind(kinds.services).create(service('web'));
    await cluster.settle();
    await client.kind(kinds.endpoints).delete(at('web').metadata);
    await cluster.settle();
    expect(await endpointsOf('web')).toBeDefined();
    await client.kind(kinds.services).delete(at('web').metadata);
    await cluster.settle();
    expect(await endpointsOf('web')).toBeUndefined();
    expect(cluster.logged).toEqual([]);
  });

  it('deletes endpoints without a service at its start, but no records of leader elections', async () => {
    const client = await start();
    const leader = {
      namespace: 'default',
      name: 'leader',
      annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' },
    };
    await client.kind(kinds.endpoints).create({ metadata: leader });
    await client.kind(kinds.endpoints).create(at('left'));
    await cluster.settle();
    expect(await endpointsOf('left')).toBeDefined();
    await cluster.restart(async () => {});
    expect(await endpointsOf('left')).toBeUndefined();
    expect(await endpointsOf('leader')).toBeDefined();
  });

  it('marks endpoints that have more addresses than fit, as long as they have', async () => {
    const client = await start();
    // Each port has all pods but one, and so a subset of its own.
    const all = Array.from({ length: 40 }, (_, i) => `port${i}`);
    const ports = all.map((name, i) => ({ name, port: 80 + i, targetPort: name }));
    await client.kind(kinds.services).create(service('web', { ports }));
    for (const [i, missing] of all.entries()) {
      const own = all.flatMap((name, j) => (name === missing ? [] : [{ name, containerPort: 8000 + j }]));
      const containers = [{ name: 'c', image: 'example.com/app:1', ports: own }];
      await client.kind(kinds.pods).create(podNamed(`p${i}`, undefined, { containers }));
      await client
        .kind(kinds.pods)
        .subresource('status')
        .patch(at(`p${i}`).metadata, 'merge', { status: podStatus({ ips: [`10.1.0.${i}`] }) });
    }
    await cluster.settle();
    const endpoints = await endpointsOf('web');
    expect(endpoints?.metadata.annotations).toMatchObject({ 'endpoints.kubernetes.io/over-capacity': 'truncated' });
    expect(endpoints?.subsets).toHaveLength(40);
    expect(endpoints?.subsets?.flatMap(({ addresses }) => addresses ?? [])).toHaveLength(1000);
    await client
      .kind(kinds.services)
      .patch(at('web').metadata, 'merge', { spec: { ports: [{ port: 80, targetPort: 'port0' }] } });
    await cluster.settle();
    const few = await endpointsOf('web');
    expect(few?.subsets?.[0]?.addresses).toHaveLength(39);
    expect(few?.metadata.annotations ?? {}).toEqual({});
  });

  it('records a failure on the endpoints', async () => {
    const client = await start();
    await client.kind(kinds.services).create(service('web', {}, { team: 'a' }));
    await cluster.settle();
    const quota = { metadata: { namespace: 'default', name: 'q' }, spec: { hard: { 'count/endpoints': '1' } } };
    await client.kind(kinds.resourceQuotas).create(quota);
    const status = { hard: { 'count/endpoints': '1' }, used: { 'count/endpoints': '1' } };
    await client.kind(kinds.resourceQuotas).subresource('status').patch(at('q').metadata, 'merge', { status });
    await client.kind(kinds.services).create(service('second'));
    await cluster.settle();
    const events = (await client.kind(kinds.events).list({ namespace: 'default' })).items;
    expect(
      events.map(({ reason, source, involvedObject }) => [reason, source?.component, involvedObject?.kind]),
    ).toContainEqual(['FailedToCreateEndpoint', 'endpoint-controller', 'Endpoints']);
    expect(events[0]?.message).toContain('Failed to create endpoint for service default/second: ');
  });
});
