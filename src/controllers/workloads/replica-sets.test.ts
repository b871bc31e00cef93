import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import type { Pod } from '../shared/pods.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { replicaSetController, replicationController } from './replica-sets.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const labels = { app: 'web' };
const template = {
  metadata: { labels },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'example.com/app:1' }] },
};
const set = (replicas: number, spec = {}) => ({
  metadata: { namespace: 'default', name: 'web' },
  spec: { replicas, selector: { matchLabels: labels }, template, ...spec },
});

async function start() {
  cluster = await testCluster([replicaSetController, replicationController]);
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
  return cluster.client;
}
const podsOf = async () => {
  const pods = (await cluster.client.kind(kinds.pods).list({ namespace: 'default', labelSelector: 'app=web' })).items;
  return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
};
const status = async () =>
  (await cluster.client.kind(kinds.replicaSets).get({ namespace: 'default', name: 'web' })).status;
const scale = async (replicas: number) => {
  await cluster.client.kind(kinds.replicaSets).patch(set(0).metadata, 'merge', { spec: { replicas } });
  await cluster.settle();
};
const makeReady = async (pod: Pod, since = cluster.clock.now()) => {
  const lastTransitionTime = new Date(since).toISOString().replace('.000', '');
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime }];
  await cluster.client
    .kind(kinds.pods)
    .subresource('status')
    .patch(pod.metadata, 'merge', { status: { phase: 'Running', conditions } });
  await cluster.settle();
};
const eventsOf = async (name: string) => {
  const events = (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items;
  return events
    .filter(({ involvedObject }) => involvedObject?.name === name)
    .map(({ reason, message, source }) => [source?.component, reason, message?.replace(/-[a-z0-9]{5}$/, '-?')]);
};

describe('replicaset-controller', () => {
  it('creates pods of the template, which it controls, and reports them in the status', async () => {
    const client = await start();
    const { metadata } = await client.kind(kinds.replicaSets).create(set(2));
    await cluster.settle();
    const pods = await podsOf();
    expect(pods).toHaveLength(2);
    expect(pods[0]?.metadata).toMatchObject({
      generateName: 'web-',
      labels,
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'web',
          uid: metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    });
    expect(await status()).toEqual({ replicas: 2, fullyLabeledReplicas: 2, observedGeneration: 1 });
    expect(await eventsOf('web')).toEqual([
      ['replicaset-controller', 'SuccessfulCreate', 'Created pod: web-?'],
      ['replicaset-controller', 'SuccessfulCreate', 'Created pod: web-?'],
    ]);
    expect(cluster.logged).toEqual([]);
  });

  it('adopts orphans that it selects, and releases pods that it no longer selects', async () => {
    const client = await start();
    const loose = { metadata: { namespace: 'default', name: 'loose', labels }, spec: template.spec };
    await client.kind(kinds.pods).create(loose);
    await client.kind(kinds.replicaSets).create(set(2));
    await cluster.settle();
    expect(await podsOf()).toHaveLength(2);
    expect(
      (await client.kind(kinds.pods).get({ namespace: 'default', name: 'loose' })).metadata.ownerReferences,
    ).toHaveLength(1);
    await client.kind(kinds.pods).patch(loose.metadata, 'merge', { metadata: { labels: { app: 'debug' } } });
    await cluster.settle();
    expect(
      (await client.kind(kinds.pods).get({ namespace: 'default', name: 'loose' })).metadata.ownerReferences,
    ).toBeUndefined();
    expect(await podsOf()).toHaveLength(2);
  });

  it('replaces pods that are deleted or have ended', async () => {
    const client = await start();
    await client.kind(kinds.replicaSets).create(set(2));
    await cluster.settle();
    const [first, second] = await podsOf();
    await client.kind(kinds.pods).delete((first as Pod).metadata, { gracePeriodSeconds: 0 });
    await client
      .kind(kinds.pods)
      .subresource('status')
      .patch((second as Pod).metadata, 'merge', { status: { phase: 'Failed' } });
    await cluster.settle();
    const pods = await podsOf();
    expect(pods.filter(({ status: { phase } = {} }) => phase !== 'Failed')).toHaveLength(2);
    expect((await status())?.replicas).toBe(2);
  });

  it('deletes pods that are not ready, and cheap ones, first', async () => {
    const client = await start();
    await client.kind(kinds.replicaSets).create(set(3));
    await cluster.settle();
    const [cheap, ready] = await podsOf();
    const cost = { 'controller.kubernetes.io/pod-deletion-cost': '-5' };
    await client.kind(kinds.pods).patch((cheap as Pod).metadata, 'merge', { metadata: { annotations: cost } });
    await makeReady(cheap as Pod);
    await makeReady(ready as Pod);
    expect(await status()).toMatchObject({ readyReplicas: 2, availableReplicas: 2 });
    await scale(2);
    expect(new Set((await podsOf()).map(({ metadata }) => metadata.name))).toEqual(
      new Set([cheap?.metadata.name, ready?.metadata.name]),
    );
    await scale(1);
    expect((await podsOf()).map(({ metadata }) => metadata.name)).toEqual([ready?.metadata.name]);
  });

  it('counts pods as available when they have been ready for minReadySeconds', async () => {
    const client = await start();
    await client.kind(kinds.replicaSets).create(set(1, { minReadySeconds: 30 }));
    await cluster.settle();
    const [pod] = await podsOf();
    await makeReady(pod as Pod);
    expect(await status()).toMatchObject({ readyReplicas: 1 });
    expect((await status())?.availableReplicas ?? 0).toBe(0);
    await cluster.advance(29_000);
    expect((await status())?.availableReplicas ?? 0).toBe(0);
    await cluster.advance(1_000);
    expect(await status()).toMatchObject({ availableReplicas: 1 });
  });

  it('reports a creation that fails as ReplicaFailure, tries again, and removes the condition', async () => {
    const client = await start();
    const hard = { 'count/pods': '0' };
    const quota = { metadata: { namespace: 'default', name: 'none' }, spec: { hard } };
    await client.kind(kinds.resourceQuotas).create(quota);
    await client
      .kind(kinds.resourceQuotas)
      .subresource('status')
      .update({
        ...(await client.kind(kinds.resourceQuotas).get({ namespace: 'default', name: 'none' })),
        status: { hard, used: { 'count/pods': '0' } },
      });
    await client.kind(kinds.replicaSets).create(set(3));
    await cluster.settle();
    expect((await status())?.conditions).toEqual([
      {
        type: 'ReplicaFailure',
        status: 'True',
        reason: 'FailedCreate',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        message: expect.stringContaining('exceeded quota: none'),
      },
    ]);
    // One creation is attempted at first, not three, and one more when the status has changed.
    expect((await eventsOf('web')).map(([, reason]) => reason)).toEqual(['FailedCreate', 'FailedCreate']);
    await client.kind(kinds.resourceQuotas).delete(quota.metadata);
    await cluster.advance(60_000);
    expect(await podsOf()).toHaveLength(3);
    expect((await status())?.conditions).toBeUndefined();
  });

  it('leaves the pods alone while it is being deleted', async () => {
    const client = await start();
    await client.kind(kinds.replicaSets).create(set(1));
    await cluster.settle();
    await client.kind(kinds.replicaSets).delete(set(1).metadata, { propagationPolicy: 'Orphan' });
    const [pod] = await podsOf();
    await client.kind(kinds.pods).delete((pod as Pod).metadata, { gracePeriodSeconds: 0 });
    await cluster.settle();
    expect(await podsOf()).toEqual([]);
  });
});

describe('replicationcontroller-controller', () => {
  it('keeps pods of replication controllers', async () => {
    const client = await start();
    const { metadata } = await client.kind(kinds.replicationControllers).create({
      metadata: { namespace: 'default', name: 'old' },
      spec: { replicas: 1, selector: labels, template },
    });
    await cluster.settle();
    const [pod] = await podsOf();
    expect(pod?.metadata.ownerReferences).toMatchObject([{ kind: 'ReplicationController', uid: metadata.uid }]);
    expect(await eventsOf('old')).toEqual([['replication-controller', 'SuccessfulCreate', 'Created pod: old-?']]);
  });
});
