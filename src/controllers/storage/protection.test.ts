import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../meta/index.ts';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { claimProtectionController } from './claim-protection.ts';
import type { Volume } from './pod-claims.ts';
import { volumeProtectionController } from './volume-protection.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await testCluster([claimProtectionController, volumeProtectionController]);
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
});
afterEach(async () => {
  expect(cluster.logged).toEqual([]);
  await cluster.close();
});

const resources = { requests: { storage: '1Gi' } };
const claimSpec = { accessModes: ['ReadWriteOnce' as const], storageClassName: '', resources };
const at = (name: string) => ({ metadata: { namespace: 'default', name } });
const addClaim = (name: string) =>
  cluster.client.kind(kinds.persistentVolumeClaims).create({ ...at(name), spec: claimSpec });
const deleteClaim = (name: string) => cluster.client.kind(kinds.persistentVolumeClaims).delete(at(name).metadata);
const claimVolume = (claimName: string): Volume => ({ name: claimName, persistentVolumeClaim: { claimName } });
async function addPod(name: string, volumes: Volume[], { nodeName = 'node', finalizers = [] as string[] } = {}) {
  const containers = [{ name: 'c', image: 'example.com/app:1' }];
  const spec = { automountServiceAccountToken: false, containers, volumes, ...(nodeName === '' ? {} : { nodeName }) };
  const metadata = { ...at(name).metadata, finalizers };
  return cluster.client.kind(kinds.pods).create({ metadata, spec });
}
const setStatus = (name: string, status: Json) =>
  cluster.client.kind(kinds.pods).subresource('status').patch(at(name).metadata, 'merge', { status });
async function claims() {
  await cluster.settle();
  return (await cluster.client.kind(kinds.persistentVolumeClaims).list({ namespace: 'default' })).items.map(
    ({ metadata }) => metadata.name,
  );
}

describe('persistentvolumeclaim-protection-controller', () => {
  it('adds the finalizer to claims without it', async () => {
    await addClaim('data');
    await cluster.client
      .kind(kinds.persistentVolumeClaims)
      .patch(at('data').metadata, 'merge', { metadata: { finalizers: null } });
    await cluster.settle();
    const { metadata } = await cluster.client
      .kind(kinds.persistentVolumeClaims)
      .get({ namespace: 'default', name: 'data' });
    expect(metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  });

  it('lets claims go that no scheduled pod uses, each in its namespace', async () => {
    await cluster.client.kind(kinds.namespaces).create({ metadata: { name: 'team' } });
    await cluster.client.kind(kinds.persistentVolumeClaims).create({
      metadata: { namespace: 'team', name: 'used' },
      spec: claimSpec,
    });
    for (const name of ['used', 'unused', 'unscheduled']) await addClaim(name);
    await addPod('user', [claimVolume('used'), { name: 'scratch', emptyDir: {} }]);
    await addPod('waiting', [claimVolume('unscheduled')], { nodeName: '' });
    for (const name of ['used', 'unused', 'unscheduled']) await deleteClaim(name);
    await cluster.client.kind(kinds.persistentVolumeClaims).delete({ namespace: 'team', name: 'used' });
    expect(await claims()).toEqual(['used']);
    expect((await cluster.client.kind(kinds.persistentVolumeClaims).list({ namespace: 'team' })).items).toEqual([]);
  });

  it('keeps a claim until the pod is gone, though it has ended', async () => {
    await addClaim('data');
    await addPod('user', [claimVolume('data')]);
    await deleteClaim('data');
    await setStatus('user', { phase: 'Succeeded' });
    expect(await claims()).toEqual(['data']);
    await cluster.client.kind(kinds.pods).delete(at('user').metadata, { gracePeriodSeconds: 0 });
    expect(await claims()).toEqual([]);
  });

  it('keeps a claim that is used by a pod the informer has not received yet', async () => {
    await addClaim('data');
    const { metadata } = await addPod('user', [claimVolume('data')]);
    await cluster.settle();
    cluster.controllers.informers.started(kinds.pods)?.forget('default', 'user', metadata.uid ?? '');
    await deleteClaim('data');
    for (let turn = 0; turn < 100 || !cluster.controllers.isIdle(); turn++) await nextTurn();
    expect(
      await cluster.client.kind(kinds.persistentVolumeClaims).find({ namespace: 'default', name: 'data' }),
    ).toBeDefined();
  });

  it.each([
    { title: 'of the pod, until it has been shut down', owned: true, before: ['user-tmp'], after: [] },
    { title: 'of somebody else', owned: false, before: [], after: [] },
  ])('keeps a claim for an ephemeral volume $title', async ({ owned, before, after }) => {
    const volumeClaimTemplate = { spec: claimSpec };
    const pod = await addPod('user', [{ name: 'tmp', ephemeral: { volumeClaimTemplate } }], {
      finalizers: ['example.com/hold'],
    });
    const { name = '', uid = '' } = pod.metadata;
    const reference = { apiVersion: 'v1', kind: 'Pod', name, uid, controller: true };
    const metadata = { ...at('user-tmp').metadata, ownerReferences: owned ? [reference] : [] };
    await cluster.client.kind(kinds.persistentVolumeClaims).create({ metadata, spec: claimSpec });
    await deleteClaim('user-tmp');
    expect(await claims()).toEqual(before);
    await cluster.client.kind(kinds.pods).delete(at('user').metadata, { gracePeriodSeconds: 0 });
    expect(await claims()).toEqual(after);
  });
});

describe('persistentvolume-protection-controller', () => {
  const volume = (name: string) => ({
    metadata: { name },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce' as const], hostPath: { path: '/data' } },
  });
  const phase = (name: string, value: string) =>
    cluster.client
      .kind(kinds.persistentVolumes)
      .subresource('status')
      .patch({ name }, 'merge', { status: { phase: value } });
  const names = async () => {
    await cluster.settle();
    return (await cluster.client.kind(kinds.persistentVolumes).list()).items.map(({ metadata }) => metadata.name);
  };

  it('adds the finalizer to volumes without it', async () => {
    await cluster.client.kind(kinds.persistentVolumes).create(volume('disk'));
    const place = { metadata: { name: 'disk' } };
    await cluster.client
      .kind(kinds.persistentVolumes)
      .patch(place.metadata, 'merge', { metadata: { finalizers: null } });
    await cluster.settle();
    const { metadata } = await cluster.client.kind(kinds.persistentVolumes).get({ name: 'disk' });
    expect(metadata.finalizers).toEqual(['kubernetes.io/pv-protection']);
  });

  it('keeps volumes that are being deleted while they are bound', async () => {
    for (const name of ['bound', 'free']) await cluster.client.kind(kinds.persistentVolumes).create(volume(name));
    await phase('bound', 'Bound');
    for (const name of ['bound', 'free']) await cluster.client.kind(kinds.persistentVolumes).delete({ name });
    expect(await names()).toEqual(['bound']);
    await phase('bound', 'Released');
    expect(await names()).toEqual([]);
  });
});
