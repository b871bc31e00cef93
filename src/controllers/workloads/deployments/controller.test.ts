import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../../shared/kinds.ts';
import type { Pod } from '../../shared/pods.ts';
import { type TestCluster, type TestClusterOptions, testCluster } from '../../testing/cluster.ts';
import { replicaSetController } from '../replica-sets.ts';
import { deploymentController } from './controller.ts';
import type { ReplicaSet } from './model.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const labels = { app: 'web' };
const template = (image: number) => ({
  metadata: { labels },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: `example.com/app:${image}` }] },
});
const web = { metadata: { namespace: 'default', name: 'web' } };
const deployment = (spec = {}) => ({
  ...web,
  spec: { replicas: 2, selector: { matchLabels: labels }, template: template(1), ...spec },
});

async function start(
  spec = {},
  options: TestClusterOptions = {},
  controllers = [deploymentController, replicaSetController],
) {
  cluster = await testCluster(controllers, options);
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
  await cluster.client.kind(kinds.deployments).create(deployment(spec));
  await cluster.settle();
}
const change = async (spec: object, metadata: object = {}) => {
  await cluster.client.kind(kinds.deployments).patch(web.metadata, 'merge', {
    spec: { ...spec },
    metadata: { ...metadata },
  } as never);
  await cluster.settle();
};
const read = () => cluster.client.kind(kinds.deployments).get({ namespace: 'default', name: 'web' });
const setsOf = async () => {
  const sets = (await cluster.client.kind(kinds.replicaSets).list({ namespace: 'default' })).items;
  return sets.sort((a, b) => Number(revisionOf(a)) - Number(revisionOf(b)));
};
const revisionOf = ({ metadata }: { metadata: { annotations?: { [key: string]: string } } }) =>
  metadata.annotations?.['deployment.kubernetes.io/revision'];
/** The image and the replicas of each replica set. */
const sizes = async () =>
  Object.fromEntries(
    (await setsOf()).map(({ spec }) => [spec?.template?.spec?.containers?.[0]?.image?.at(-1), spec?.replicas]),
  );
const podsOf = async (image?: number): Promise<Pod[]> =>
  (await cluster.client.kind(kinds.pods).list({ namespace: 'default' })).items.filter(
    ({ metadata, spec }) =>
      metadata.deletionTimestamp === undefined &&
      (image === undefined || spec?.containers?.[0]?.image === `example.com/app:${image}`),
  );
const makeReady = async (pods: readonly Pod[]) => {
  const lastTransitionTime = new Date(cluster.clock.now()).toISOString().replace('.000', '');
  for (const pod of pods) {
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }] };
    await cluster.client.kind(kinds.pods).subresource('status').patch(pod.metadata, 'merge', { status });
  }
  await cluster.settle();
};
const conditions = async () =>
  Object.fromEntries(
    ((await read()).status?.conditions ?? []).map(({ type = '', status, reason, message }) => [
      type,
      [status, reason, message?.replace(/web-[a-z0-9]+/, 'web-?')],
    ]),
  );
const events = async () =>
  (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items
    .filter(({ involvedObject }) => involvedObject?.kind === 'Deployment')
    .map(({ reason, message }) => `${reason}: ${message?.replace(/web-[a-z0-9]+/, 'web-?')}`);

describe('a new deployment', () => {
  it('gets a replica set with the hash of its template, and reports its progress', async () => {
    await start();
    const [set, ...others] = await setsOf();
    const hash = set?.metadata.labels?.['pod-template-hash'] ?? '';
    expect(others).toEqual([]);
    expect(set?.metadata).toMatchObject({
      name: `web-${hash}`,
      labels: { app: 'web' },
      annotations: {
        'deployment.kubernetes.io/revision': '1',
        'deployment.kubernetes.io/desired-replicas': '2',
        'deployment.kubernetes.io/max-replicas': '3',
      },
      ownerReferences: [{ kind: 'Deployment', name: 'web', controller: true, blockOwnerDeletion: true }],
    });
    expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{4,10}$/);
    expect(set?.spec).toMatchObject({
      replicas: 2,
      selector: { matchLabels: { app: 'web', 'pod-template-hash': hash } },
    });
    expect(set?.spec?.template?.metadata?.labels).toEqual({ app: 'web', 'pod-template-hash': hash });
    expect((await read()).status).toMatchObject({
      replicas: 2,
      updatedReplicas: 2,
      unavailableReplicas: 2,
      observedGeneration: 1,
    });
    expect(await conditions()).toEqual({
      Available: ['False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.'],
      Progressing: ['True', 'ReplicaSetUpdated', 'ReplicaSet "web-?" is progressing.'],
    });
    await makeReady(await podsOf());
    expect(await conditions()).toEqual({
      Available: ['True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'],
      Progressing: ['True', 'NewReplicaSetAvailable', 'ReplicaSet "web-?" has successfully progressed.'],
    });
    expect(revisionOf(await read())).toBe('1');
    expect(await events()).toEqual(['ScalingReplicaSet: Scaled up replica set web-? from 0 to 2']);
    expect(cluster.logged).toEqual([]);
  });

  it('adopts a replica set with its template, and creates a deleted one again under its name', async () => {
    await start();
    const [set] = await setsOf();
    await cluster.client.kind(kinds.deployments).delete(web.metadata, { propagationPolicy: 'Orphan' });
    const patch = { metadata: { ownerReferences: null, labels: { app: 'web' } } };
    await cluster.client.kind(kinds.replicaSets).patch(set?.metadata ?? {}, 'merge', patch);
    await cluster.client.kind(kinds.deployments).patch(web.metadata, 'merge', { metadata: { finalizers: null } });
    await cluster.client.kind(kinds.deployments).create(deployment());
    await cluster.settle();
    const [adopted, ...others] = await setsOf();
    expect([adopted?.metadata.uid, others]).toEqual([set?.metadata.uid, []]);
    await cluster.client.kind(kinds.replicaSets).delete(adopted?.metadata ?? {});
    await cluster.settle();
    const [again] = await setsOf();
    expect(again?.metadata.name).toBe(adopted?.metadata.name);
    expect(again?.metadata.uid).not.toBe(adopted?.metadata.uid);
  });

  it('takes another name when its hash is that of another template', async () => {
    await start({ replicas: 0 });
    const [set] = await setsOf();
    const { metadata, spec } = set ?? { metadata: {} };
    await cluster.client.kind(kinds.deployments).delete(web.metadata, { propagationPolicy: 'Orphan' });
    await cluster.client.kind(kinds.replicaSets).delete(metadata);
    await cluster.client.kind(kinds.replicaSets).create({
      metadata: { namespace: 'default', name: metadata.name ?? '', labels: metadata.labels ?? {} },
      spec: { ...spec, template: { ...spec?.template, spec: { ...template(2).spec } } },
    });
    await cluster.client.kind(kinds.deployments).patch(web.metadata, 'merge', { metadata: { finalizers: null } });
    await cluster.client.kind(kinds.deployments).create(deployment({ replicas: 0 }));
    await cluster.advance(1_000);
    expect((await read()).status?.collisionCount).toBe(1);
    expect(await setsOf()).toHaveLength(2);
  });
});

describe('a rolling update', () => {
  it('keeps to maxSurge and maxUnavailable at each step', async () => {
    await start({ replicas: 4, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } });
    await makeReady(await podsOf());
    await change({ template: template(2) });
    expect(await sizes()).toEqual({ 1: 3, 2: 2 });
    await makeReady(await podsOf(2));
    expect(await sizes()).toEqual({ 1: 1, 2: 4 });
    await makeReady(await podsOf(2));
    expect(await sizes()).toEqual({ 1: 0, 2: 4 });
    expect((await conditions())['Progressing']).toEqual([
      'True',
      'NewReplicaSetAvailable',
      'ReplicaSet "web-?" has successfully progressed.',
    ]);
    expect(revisionOf(await read())).toBe('2');
  });

  it('keeps enough pods available while the status of a replica set is older than its scale', async () => {
    await start({ replicas: 4, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } }, {}, [
      deploymentController,
    ]);
    const reportAvailable = async (image: number, availableReplicas: number) => {
      const isOfImage = ({ spec }: ReplicaSet) => spec?.template?.spec?.containers?.[0]?.image?.endsWith(`:${image}`);
      const set = (await setsOf()).find(isOfImage);
      const status = { replicas: availableReplicas, readyReplicas: availableReplicas, availableReplicas };
      await cluster.client
        .kind(kinds.replicaSets)
        .subresource('status')
        .patch(set?.metadata ?? {}, 'merge', { status });
      await cluster.settle();
    };
    await reportAvailable(1, 4);
    await change({ template: template(2) });
    expect(await sizes()).toEqual({ 1: 3, 2: 2 });
    // The status of the old replica set still counts four pods, of which one ends.
    await reportAvailable(2, 1);
    expect(await sizes()).toEqual({ 1: 2, 2: 3 });
  });

  it('takes unavailable pods of the old template first, and can be taken back', async () => {
    await start({ replicas: 3, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
    await makeReady(await podsOf());
    await change({ template: template(2) });
    expect(await sizes()).toEqual({ 1: 3, 2: 1 });
    await change({ template: template(3) });
    // The pod of the second template was never available: the third takes its place.
    expect(await sizes()).toEqual({ 1: 3, 2: 0, 3: 1 });
    await change({ template: template(1) });
    expect(await sizes()).toEqual({ 1: 3, 2: 0, 3: 0 });
    const [first] = (await setsOf()).filter(({ spec }) => spec?.replicas === 3);
    expect(first?.metadata.annotations).toMatchObject({
      'deployment.kubernetes.io/revision': '4',
      'deployment.kubernetes.io/revision-history': '1',
    });
  });

  it('reports that it does not progress within its deadline', async () => {
    await start({ progressDeadlineSeconds: 10 });
    await cluster.advance(12_000);
    expect((await conditions())['Progressing']).toEqual([
      'False',
      'ProgressDeadlineExceeded',
      'ReplicaSet "web-?" has timed out progressing.',
    ]);
    await makeReady(await podsOf());
    expect((await conditions())['Progressing']?.[1]).toBe('NewReplicaSetAvailable');
  });

  it('keeps the revisions of the history limit', async () => {
    await start({ replicas: 0, revisionHistoryLimit: 1 });
    for (const image of [2, 3, 4]) await change({ template: template(image) });
    await cluster.advance(1_000);
    expect((await setsOf()).map(revisionOf)).toEqual(['3', '4']);
  });

  it('goes back to a revision that an annotation names', async () => {
    await start({ replicas: 0 });
    await change({ template: template(2) });
    await change({}, { annotations: { 'deprecated.deployment.rollback.to': '1' } });
    const { spec, metadata } = await read();
    expect(spec?.template?.spec?.containers?.[0]?.image).toBe('example.com/app:1');
    expect(metadata.annotations).not.toHaveProperty('deprecated.deployment.rollback.to');
    expect(spec?.template?.metadata?.labels).toEqual({ app: 'web' });
    expect(await events()).toContain('DeploymentRollback: Rolled back deployment "web" to revision 1');
  });
});

describe('scaling', () => {
  it('during a rollout is in proportion to the replica sets', async () => {
    await start({ replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } });
    await makeReady(await podsOf());
    await change({ template: template(2) });
    expect(await sizes()).toEqual({ 1: 8, 2: 5 });
    // 18 pods in the proportion of 8 to 5.
    await change({ replicas: 15 });
    expect(await sizes()).toEqual({ 1: 11, 2: 7 });
  });

  it('to zero and back leaves one replica set', async () => {
    await start();
    await change({ replicas: 0 });
    expect(await podsOf()).toEqual([]);
    await change({ replicas: 3 });
    expect(await sizes()).toEqual({ 1: 3 });
  });
});

describe('a paused deployment', () => {
  it('scales, but does not roll out until it is resumed', async () => {
    await start();
    await makeReady(await podsOf());
    await change({ paused: true });
    expect((await conditions())['Progressing']).toEqual(['Unknown', 'DeploymentPaused', 'Deployment is paused']);
    await change({ template: template(2), replicas: 3 });
    expect(await sizes()).toEqual({ 1: 3 });
    await change({ paused: false });
    expect(Object.keys(await sizes())).toEqual(['1', '2']);
  });
});

describe('a recreation', () => {
  it('begins when the last old pod is gone', async () => {
    await start({ strategy: { type: 'Recreate' } });
    const [first, second] = await podsOf();
    const hold = { metadata: { finalizers: ['example.com/hold'] } };
    await cluster.client.kind(kinds.pods).patch((first as Pod).metadata, 'merge', hold);
    await change({ template: template(2), strategy: { type: 'Recreate', rollingUpdate: null } });
    expect(second).toBeDefined();
    expect(await sizes()).toEqual({ 1: 0 });
    await cluster.client.kind(kinds.pods).patch((first as Pod).metadata, 'merge', { metadata: { finalizers: null } });
    await cluster.settle();
    expect(await sizes()).toEqual({ 1: 0, 2: 2 });
  });
});

describe('a failure of its replica set', () => {
  it('is a condition of the deployment', async () => {
    await start({ replicas: 0 });
    const { client } = cluster;
    const hard = { 'count/pods': '0' };
    await client
      .kind(kinds.resourceQuotas)
      .create({ metadata: { namespace: 'default', name: 'none' }, spec: { hard } });
    const quota = await client.kind(kinds.resourceQuotas).get({ namespace: 'default', name: 'none' });
    await client
      .kind(kinds.resourceQuotas)
      .subresource('status')
      .update({ ...quota, status: { hard, used: hard } });
    await change({ replicas: 1 });
    expect((await conditions())['ReplicaFailure']).toEqual([
      'True',
      'FailedCreate',
      expect.stringContaining('exceeded quota: none'),
    ]);
    await client.kind(kinds.resourceQuotas).delete(quota.metadata);
    await cluster.advance(60_000);
    expect((await conditions())['ReplicaFailure']).toBeUndefined();
    expect(await podsOf()).toHaveLength(1);
  });
});
