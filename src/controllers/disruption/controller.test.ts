import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import type { Pod } from '../shared/pods.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { replicaSetController } from '../workloads/replica-sets.ts';
import { disruptionController } from './controller.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const labels = { app: 'web' };
const spec = { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'example.com/app:1' }] };
const budget = { metadata: { namespace: 'default', name: 'kept' } };

async function start(limits: object) {
  cluster = await testCluster([disruptionController, replicaSetController]);
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
  await cluster.client.kind(kinds.podDisruptionBudgets).create({
    ...budget,
    spec: { selector: { matchLabels: labels }, ...limits },
  });
  await cluster.settle();
}
const addSet = async (replicas: number) => {
  const template = { metadata: { labels }, spec };
  await cluster.client.kind(kinds.replicaSets).create({
    metadata: { namespace: 'default', name: 'web' },
    spec: { replicas, selector: { matchLabels: labels }, template },
  });
  await cluster.settle();
};
const podsOf = () =>
  cluster.client
    .kind(kinds.pods)
    .list({ namespace: 'default' })
    .then(({ items }) => items);
const makeReady = async (pods: readonly Pod[], status: 'True' | 'False' = 'True') => {
  for (const pod of pods) {
    const conditions = [{ type: 'Ready', status }];
    await cluster.client
      .kind(kinds.pods)
      .subresource('status')
      .patch(pod.metadata, 'merge', { status: { phase: 'Running', conditions } });
  }
  await cluster.settle();
};
const evict = async ({ metadata: { name = '' } }: Pod) => {
  const place = { apiVersion: 'v1', resource: 'pods', namespace: 'default', name, subresource: 'eviction' };
  await cluster.client.create(place, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } });
  await cluster.settle();
};
const status = async () =>
  (await cluster.client.kind(kinds.podDisruptionBudgets).get({ namespace: 'default', name: 'kept' })).status;
const counts = async () => {
  const { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed } = (await status()) ?? {};
  return [currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed];
};

describe('disruption-controller', () => {
  it('counts the pods that are healthy, expected and needed', async () => {
    await start({ minAvailable: 2 });
    await addSet(3);
    expect(await counts()).toEqual([0, 2, 3, 0]);
    await makeReady(await podsOf());
    expect(await status()).toEqual({
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      disruptionsAllowed: 1,
      observedGeneration: 1,
      conditions: [
        {
          type: 'DisruptionAllowed',
          status: 'True',
          reason: 'SufficientPods',
          message: '',
          observedGeneration: 1,
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    });
    expect(cluster.logged).toEqual([]);
  });

  it.each([
    { limits: { minAvailable: '50%' }, expected: [5, 3, 5, 2] },
    { limits: { maxUnavailable: '30%' }, expected: [5, 3, 5, 2] },
    { limits: { maxUnavailable: 1 }, expected: [5, 4, 5, 1] },
    { limits: { maxUnavailable: 9 }, expected: [5, 0, 5, 5] },
    { limits: { minAvailable: 9 }, expected: [5, 9, 5, 0] },
  ])('of five pods by $limits', async ({ limits, expected }) => {
    await start(limits);
    await addSet(5);
    await makeReady(await podsOf());
    expect(await counts()).toEqual(expected);
  });

  it('allows an eviction, then none until the pod is replaced', async () => {
    await start({ minAvailable: 2 });
    await addSet(3);
    const [first, second] = await podsOf();
    await makeReady(await podsOf());
    await evict(first as Pod);
    expect((await counts())[3]).toBe(0);
    await expect(evict(second as Pod)).rejects.toMatchObject({ code: 429 });
    await makeReady(await podsOf());
    expect((await counts())[3]).toBe(1);
  });

  it('expects no more of a scale than its owner asks for', async () => {
    await start({ maxUnavailable: 0 });
    await addSet(2);
    await makeReady(await podsOf());
    expect(await counts()).toEqual([2, 2, 2, 0]);
    await cluster.client.kind(kinds.replicaSets).patch({ namespace: 'default', name: 'web' }, 'merge', {
      spec: { replicas: 1 },
    });
    await cluster.settle();
    expect(await counts()).toEqual([1, 1, 1, 0]);
  });

  it('expects no pods of owners other than controllers, and says so', async () => {
    await start({ maxUnavailable: 1 });
    await cluster.client.kind(kinds.pods).create({ metadata: { namespace: 'default', name: 'alone', labels }, spec });
    await cluster.settle();
    await makeReady(await podsOf());
    expect(await counts()).toEqual([1, 0, 0, 0]);
    const events = (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items;
    expect(new Set(events.map(({ reason }) => reason))).toEqual(new Set(['NoPods', 'UnmanagedPods']));
  });

  it('allows nothing when the scale of a controller is not known', async () => {
    await start({ maxUnavailable: 1 });
    const owner = { apiVersion: 'example.com/v1', kind: 'Thing', name: 'x', uid: 'u', controller: true };
    const metadata = { namespace: 'default', name: 'owned', labels, ownerReferences: [owner] };
    await cluster.client.kind(kinds.pods).create({ metadata, spec });
    await cluster.settle();
    expect((await status())?.conditions).toMatchObject([
      { status: 'False', reason: 'SyncFailed', message: 'found no controllers for pod "owned"' },
    ]);
  });

  it('forgets an eviction whose pod was not deleted in time', async () => {
    await start({ minAvailable: 1 });
    await addSet(2);
    await makeReady(await podsOf());
    const [pod] = await podsOf();
    const name = pod?.metadata.name ?? '';
    const actual = await cluster.client.kind(kinds.podDisruptionBudgets).get({ namespace: 'default', name: 'kept' });
    const disruptedPods = { [name]: '2026-01-01T00:00:00Z' };
    await cluster.client
      .kind(kinds.podDisruptionBudgets)
      .subresource('status')
      .update({ ...actual, status: { ...actual.status, disruptedPods } });
    await cluster.settle();
    expect(await counts()).toEqual([1, 1, 2, 0]);
    await cluster.advance(121_000);
    expect(await counts()).toEqual([2, 1, 2, 1]);
    expect((await status())?.disruptedPods).toBeUndefined();
  });

  it('removes the condition of a disruption when the pod stays', async () => {
    await start({ minAvailable: 1 });
    await addSet(1);
    const [pod] = await podsOf();
    const condition = { type: 'DisruptionTarget', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
    await cluster.client
      .kind(kinds.pods)
      .subresource('status')
      .patch((pod as Pod).metadata, 'merge', { status: { conditions: [condition] } });
    const targeted = async () => (await podsOf())[0]?.status?.conditions?.[0]?.status;
    await cluster.advance(119_000);
    expect(await targeted()).toBe('True');
    await cluster.advance(2_000);
    expect(await targeted()).toBe('False');
  });
});
