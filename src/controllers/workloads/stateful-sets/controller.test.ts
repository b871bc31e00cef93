import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../../shared/kinds.ts';
import type { Pod } from '../../shared/pods.ts';
import { type TestCluster, type TestClusterOptions, testCluster } from '../../testing/cluster.ts';
import { statefulSetController } from './controller.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const labels = { app: 'db' };
const template = (version: string) => ({
  metadata: { labels, annotations: { version } },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'c', image: 'example.com/db:1' }],
  },
});
const db = { metadata: { namespace: 'default', name: 'db' } };
const set = (spec = {}) => ({
  ...db,
  spec: { replicas: 3, serviceName: 'db', selector: { matchLabels: labels }, template: template('1'), ...spec },
});
const volumeClaimTemplates = [
  {
    metadata: { name: 'data', labels: { kept: 'yes' } },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } },
  },
];

async function start(spec = {}, options: TestClusterOptions = {}) {
  cluster = await testCluster([statefulSetController], options);
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
  await cluster.client.kind(kinds.statefulSets).create(set(spec));
  await cluster.settle();
}
const change = async (spec: object) => {
  await cluster.client.kind(kinds.statefulSets).patch(db.metadata, 'merge', { spec: { ...spec } } as never);
  await cluster.settle();
};
const podsOf = async (): Promise<Pod[]> => {
  const pods = (await cluster.client.kind(kinds.pods).list({ namespace: 'default' })).items;
  return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
};
const names = async () => (await podsOf()).map(({ metadata }) => metadata.name);
const versions = async () =>
  Object.fromEntries((await podsOf()).map(({ metadata }) => [metadata.name, metadata.annotations?.['version']]));
const makeReady = async (...pods: string[]) => {
  const lastTransitionTime = new Date(cluster.clock.now()).toISOString().replace('.000', '');
  for (const name of pods) {
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }] };
    const at = { metadata: { namespace: 'default', name } };
    await cluster.client.kind(kinds.pods).subresource('status').patch(at.metadata, 'merge', { status });
    await cluster.settle();
  }
};
const status = async () =>
  (await cluster.client.kind(kinds.statefulSets).get({ namespace: 'default', name: 'db' })).status;
const claims = async () =>
  (await cluster.client.kind(kinds.persistentVolumeClaims).list({ namespace: 'default' })).items.map(
    ({ metadata }) => metadata,
  );
const events = async () =>
  (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items.map(
    ({ reason, message }) => `${reason}: ${message}`,
  );

describe('pods of a stateful set', () => {
  it('have an identity, a subdomain and claims', async () => {
    await start({ volumeClaimTemplates });
    const [pod] = await podsOf();
    const { currentRevision } = (await status()) ?? {};
    expect(pod?.metadata).toMatchObject({
      name: 'db-0',
      labels: {
        app: 'db',
        'apps.kubernetes.io/pod-index': '0',
        'statefulset.kubernetes.io/pod-name': 'db-0',
        'controller-revision-hash': currentRevision,
      },
      ownerReferences: [{ kind: 'StatefulSet', name: 'db', controller: true }],
    });
    expect(pod?.spec).toMatchObject({ hostname: 'db-0', subdomain: 'db' });
    expect(pod?.spec?.volumes).toEqual([{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } }]);
    expect(await claims()).toMatchObject([{ name: 'data-db-0', labels: { app: 'db', kept: 'yes' } }]);
    expect(await events()).toEqual([
      'SuccessfulCreate: Create Claim data-db-0 Pod db-0 in StatefulSet db success',
      'SuccessfulCreate: Create Pod db-0 in StatefulSet db successful',
    ]);
    expect(cluster.logged).toEqual([]);
  });

  it('are created one after the other, each when those before it are ready', async () => {
    await start();
    expect(await names()).toEqual(['db-0']);
    await makeReady('db-0');
    expect(await names()).toEqual(['db-0', 'db-1']);
    await makeReady('db-1');
    await makeReady('db-2');
    expect(await status()).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      observedGeneration: 1,
      collisionCount: 0,
    });
  });

  it('are created one after the other, however many the set wants', async () => {
    await start({ replicas: 2 ** 31 - 1 });
    expect(await names()).toEqual(['db-0']);
    await makeReady('db-0');
    expect(await names()).toEqual(['db-0', 'db-1']);
  });

  it('are created together by the policy Parallel', async () => {
    await start({ podManagementPolicy: 'Parallel' });
    expect(await names()).toEqual(['db-0', 'db-1', 'db-2']);
    await change({ replicas: 0 });
    expect(await names()).toEqual([]);
  });

  it('come back under their names when they are deleted or have failed', async () => {
    await start({ replicas: 2 });
    await makeReady('db-0', 'db-1');
    await cluster.client.kind(kinds.pods).delete({ namespace: 'default', name: 'db-0' });
    await cluster.settle();
    expect(await names()).toEqual(['db-0', 'db-1']);
    await makeReady('db-0');
    const second = { metadata: { namespace: 'default', name: 'db-1' } };
    await cluster.client
      .kind(kinds.pods)
      .subresource('status')
      .patch(second.metadata, 'merge', { status: { phase: 'Failed' } });
    await cluster.settle();
    expect((await podsOf())[1]?.status?.phase).toBe('Pending');
  });

  it('begin with the first ordinal', async () => {
    await start({ replicas: 2, podManagementPolicy: 'Parallel', ordinals: { start: 5 } });
    expect(await names()).toEqual(['db-5', 'db-6']);
    await change({ ordinals: { start: 6 } });
    expect(await names()).toEqual(['db-6', 'db-7']);
  });

  it('are scaled away from the last on, and their claims stay', async () => {
    await start({ volumeClaimTemplates });
    await makeReady('db-0', 'db-1', 'db-2');
    await change({ replicas: 1 });
    expect(await names()).toEqual(['db-0']);
    expect((await claims()).map(({ name }) => name)).toEqual(['data-db-0', 'data-db-1', 'data-db-2']);
  });

  it('wait with scaling down until the others are ready', async () => {
    await start();
    await makeReady('db-0', 'db-1', 'db-2');
    const first = { metadata: { namespace: 'default', name: 'db-0' } };
    const conditions = [{ type: 'Ready', status: 'False' }];
    await cluster.client
      .kind(kinds.pods)
      .subresource('status')
      .patch(first.metadata, 'merge', { status: { conditions } });
    await change({ replicas: 1 });
    expect(await names()).toEqual(['db-0', 'db-1', 'db-2']);
    await makeReady('db-0');
    expect(await names()).toEqual(['db-0']);
  });

  it('count as available after minReadySeconds, and the next one waits for that', async () => {
    await start({ replicas: 2, minReadySeconds: 30 });
    await makeReady('db-0');
    expect(await names()).toEqual(['db-0']);
    await cluster.advance(30_000);
    expect(await names()).toEqual(['db-0', 'db-1']);
  });
});

describe('a rolling update', () => {
  it('replaces the last pod first, and each when those after it are ready', async () => {
    await start();
    await makeReady('db-0', 'db-1', 'db-2');
    const before = (await status())?.currentRevision;
    await change({ template: template('2') });
    expect(await versions()).toEqual({ 'db-0': '1', 'db-1': '1', 'db-2': '2' });
    await makeReady('db-2');
    expect(await versions()).toEqual({ 'db-0': '1', 'db-1': '2', 'db-2': '2' });
    expect(await status()).toMatchObject({ currentRevision: before, updatedReplicas: 2, currentReplicas: 1 });
    await makeReady('db-1', 'db-0');
    const { currentRevision, updateRevision, ...counts } = (await status()) ?? {};
    expect(currentRevision).toBe(updateRevision);
    expect(currentRevision).not.toBe(before);
    expect(counts).toMatchObject({ currentReplicas: 3, updatedReplicas: 3, readyReplicas: 3 });
  });

  it('stops at the partition, also for pods that are recreated', async () => {
    await start({ updateStrategy: { rollingUpdate: { partition: 2 } } });
    await makeReady('db-0', 'db-1', 'db-2');
    await change({ template: template('2') });
    await makeReady('db-2');
    expect(await versions()).toEqual({ 'db-0': '1', 'db-1': '1', 'db-2': '2' });
    await cluster.client.kind(kinds.pods).delete({ namespace: 'default', name: 'db-0' });
    await cluster.settle();
    expect((await versions())['db-0']).toBe('1');
  });

  it('by the strategy OnDelete waits for deletions', async () => {
    await start({ replicas: 1, updateStrategy: { type: 'OnDelete', rollingUpdate: null } });
    await makeReady('db-0');
    await change({ template: template('2') });
    expect(await versions()).toEqual({ 'db-0': '1' });
    await cluster.client.kind(kinds.pods).delete({ namespace: 'default', name: 'db-0' });
    await cluster.settle();
    expect(await versions()).toEqual({ 'db-0': '2' });
  });

  it('replaces as many at a time as may be unavailable', async () => {
    const server = { featureGates: { MaxUnavailableStatefulSet: true } };
    const { defaultFeatures } = await import('../../../meta/index.ts');
    const features = { ...defaultFeatures, MaxUnavailableStatefulSet: true };
    const updateStrategy = { rollingUpdate: { maxUnavailable: 2 } };
    await start({ podManagementPolicy: 'Parallel', updateStrategy }, { server, settings: { features } });
    await makeReady('db-0', 'db-1', 'db-2');
    await change({ template: template('2') });
    expect(await versions()).toEqual({ 'db-0': '1', 'db-1': '2', 'db-2': '2' });
  });

  it('keeps the revisions of the history limit, and reuses one with an equal template', async () => {
    await start({ replicas: 0, revisionHistoryLimit: 1 });
    for (const version of ['2', '3', '2']) await change({ template: template(version) });
    const revisions = (await cluster.client.kind(kinds.controllerRevisions).list({ namespace: 'default' })).items;
    const savedRevisions = revisions.map(({ revision, data }) => [
      revision,
      (data as { spec: { template: { metadata: { annotations: object } } } }).spec.template.metadata.annotations,
    ]);
    expect(new Map(savedRevisions as [number, object][])).toEqual(
      new Map([
        [3, { version: '3' }],
        [4, { version: '2' }],
      ]),
    );
  });
});

describe('claims with a retention policy', () => {
  it('are owned by the set, or by the pod that is scaled away', async () => {
    const policy = { whenDeleted: 'Delete', whenScaled: 'Delete' };
    await start({ replicas: 2, volumeClaimTemplates, persistentVolumeClaimRetentionPolicy: policy });
    await makeReady('db-0', 'db-1');
    const owners = async () =>
      (await claims()).map(({ name, ownerReferences }) => [name, ownerReferences?.map(({ kind }) => kind)]);
    expect(await owners()).toEqual([
      ['data-db-0', ['StatefulSet']],
      ['data-db-1', ['StatefulSet']],
    ]);
    const hold = { metadata: { finalizers: ['example.com/hold'] } };
    const last = { metadata: { namespace: 'default', name: 'db-1' } };
    await cluster.client.kind(kinds.pods).patch(last.metadata, 'merge', hold);
    await change({ replicas: 1 });
    expect(await owners()).toEqual([
      ['data-db-0', ['StatefulSet']],
      ['data-db-1', ['Pod']],
    ]);
    await change({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' } });
    expect((await owners())[0]).toEqual(['data-db-0', undefined]);
  });
});
