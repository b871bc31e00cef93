import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { podGarbageCollector } from './pod-garbage-collector.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

async function start(terminatedPodThreshold = 0) {
  cluster = await testCluster([podGarbageCollector], { settings: { terminatedPodThreshold } });
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
}
async function addPod(name: string, { nodeName = '', phase = '', finalizers = [] as string[] } = {}) {
  const metadata = { namespace: 'default', name, finalizers };
  const containers = [{ name: 'c', image: 'example.com/app:1' }];
  const spec = { automountServiceAccountToken: false, containers, ...(nodeName === '' ? {} : { nodeName }) };
  const pod = await cluster.client.kind(kinds.pods).create({ metadata, spec });
  if (phase !== '')
    await cluster.client.kind(kinds.pods).subresource('status').patch(pod.metadata, 'merge', { status: { phase } });
}
const names = async () =>
  (await cluster.client.kind(kinds.pods).list({ namespace: 'default' })).items.map(({ metadata }) => metadata.name);

describe('pod-garbage-collector-controller', () => {
  it('deletes the oldest ended pods beyond the threshold', async () => {
    await start(1);
    for (const name of ['first', 'second', 'third']) {
      await addPod(name, { phase: 'Succeeded' });
      await cluster.advance(1_000);
    }
    await addPod('running', { phase: 'Running' });
    await cluster.advance(20_000);
    expect(await names()).toEqual(['running', 'third']);
  });

  it('deletes pods of a node that has been gone for a while, and says why', async () => {
    await start();
    await addPod('lost', { nodeName: 'gone', phase: 'Running', finalizers: ['example.com/hold'] });
    await addPod('waiting');
    await cluster.advance(20_000);
    expect(await names()).toEqual(['lost', 'waiting']);
    await cluster.advance(60_000);
    const lost = await cluster.client.kind(kinds.pods).get({ namespace: 'default', name: 'lost' });
    expect(lost.metadata.deletionTimestamp).toBeDefined();
    expect(lost.status).toMatchObject({
      phase: 'Failed',
      conditions: [
        {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'DeletionByPodGC',
          message: 'PodGC: node no longer exists',
        },
      ],
    });
    expect(await names()).toContain('waiting');
  });

  it('leaves pods alone whose node comes in time', async () => {
    await start();
    await addPod('early', { nodeName: 'late', phase: 'Running' });
    await cluster.advance(30_000);
    await cluster.client.kind(kinds.nodes).create({ metadata: { name: 'late' } });
    await cluster.advance(120_000);
    expect(await names()).toEqual(['early']);
  });

  it('deletes unscheduled pods that are being deleted, and pods on nodes out of service', async () => {
    await start();
    await addPod('unscheduled', { finalizers: ['example.com/hold'] });
    const place = { metadata: { namespace: 'default', name: 'unscheduled' } };
    await cluster.client.kind(kinds.pods).delete(place.metadata);
    const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' as const }];
    await cluster.client.kind(kinds.nodes).create({ metadata: { name: 'broken' }, spec: { taints } });
    await addPod('stuck', { nodeName: 'broken', phase: 'Running' });
    await addPod('fine', { nodeName: 'broken', phase: 'Running' });
    await cluster.client.kind(kinds.pods).delete({ namespace: 'default', name: 'stuck' });
    await cluster.advance(20_000);
    expect(await names()).toEqual(['fine', 'unscheduled']);
    expect(
      (await cluster.client.kind(kinds.pods).get({ namespace: 'default', name: 'unscheduled' })).status?.phase,
    ).toBe('Failed');
  });
});
