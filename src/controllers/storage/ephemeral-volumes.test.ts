import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { ephemeralVolumeController } from './ephemeral-volumes.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await testCluster([ephemeralVolumeController]);
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
});
afterEach(() => cluster.close());

const claimSpec = {
  accessModes: ['ReadWriteOnce' as const],
  storageClassName: '',
  resources: { requests: { storage: '1Gi' } },
};
const volumeClaimTemplate = {
  metadata: { labels: { app: 'box' }, annotations: { 'example.com/note': 'kept' } },
  spec: claimSpec,
};
const at = (name: string) => ({ metadata: { namespace: 'default', name } });
async function addPod(name: string, finalizers: string[] = []) {
  const containers = [{ name: 'c', image: 'example.com/app:1' }];
  const volumes = [
    { name: 'scratch', emptyDir: {} },
    { name: 'tmp', ephemeral: { volumeClaimTemplate } },
  ];
  const metadata = { ...at(name).metadata, finalizers };
  const pod = await cluster.client.kind(kinds.pods).create({
    metadata,
    spec: { automountServiceAccountToken: false, containers, volumes },
  });
  return pod;
}
const claims = async () => {
  await cluster.settle();
  return cluster.client
    .kind(kinds.persistentVolumeClaims)
    .list({ namespace: 'default' })
    .then(({ items }) => items);
};
const eventsOf = async () =>
  (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items.map(
    ({ involvedObject, reason, message, source, type }) => [
      ...[involvedObject?.kind, involvedObject?.name, source?.component],
      ...[type, reason, message],
    ],
  );

describe('ephemeral-volume-controller', () => {
  it('creates a claim of the template for an ephemeral volume, which the pod owns', async () => {
    const pod = await addPod('box');
    const [claim, ...others] = await claims();
    expect(others).toEqual([]);
    expect(claim).toMatchObject({
      metadata: {
        name: 'box-tmp',
        labels: { app: 'box' },
        annotations: { 'example.com/note': 'kept' },
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'Pod',
            name: 'box',
            uid: pod.metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: claimSpec,
    });
    expect(cluster.logged).toEqual([]);
  });

  it('creates the claim again when it has been deleted, but not for a pod that is being deleted', async () => {
    await addPod('box', ['example.com/hold']);
    const [first] = await claims();
    const remove = async () => {
      await cluster.client.kind(kinds.persistentVolumeClaims).delete(at('box-tmp').metadata);
      await cluster.client.kind(kinds.persistentVolumeClaims).patch(at('box-tmp').metadata, 'merge', {
        metadata: { finalizers: null },
      });
    };
    await remove();
    const [second] = await claims();
    expect(second?.metadata.uid).toBeDefined();
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
    await cluster.client.kind(kinds.pods).delete(at('box').metadata, { gracePeriodSeconds: 0 });
    await remove();
    expect(await claims()).toEqual([]);
  });

  it('does not use the claim of somebody else, and says so until it is gone', async () => {
    await cluster.client.kind(kinds.persistentVolumeClaims).create({ ...at('box-tmp'), spec: claimSpec });
    await addPod('box');
    await cluster.settle();
    const text = 'PVC default/box-tmp was not created for pod default/box (pod is not owner)';
    const message = `ephemeral volume tmp: ${text}`;
    expect(await eventsOf()).toEqual([['Pod', 'box', 'ephemeral_volume', 'Warning', 'FailedBinding', message]]);
    expect((await claims()).map(({ metadata }) => metadata.ownerReferences)).toEqual([undefined]);
    await cluster.client.kind(kinds.persistentVolumeClaims).delete(at('box-tmp').metadata);
    await cluster.client.kind(kinds.persistentVolumeClaims).patch(at('box-tmp').metadata, 'merge', {
      metadata: { finalizers: null },
    });
    expect((await claims()).map(({ metadata }) => metadata.ownerReferences?.[0]?.name)).toEqual(['box']);
  });

  it('says why a claim cannot be created', async () => {
    const hard = { persistentvolumeclaims: '0' };
    await cluster.client.kind(kinds.resourceQuotas).create({ ...at('none'), spec: { hard } });
    await cluster.client
      .kind(kinds.resourceQuotas)
      .subresource('status')
      .patch(at('none').metadata, 'merge', { status: { hard, used: hard } });
    await addPod('box');
    await cluster.settle();
    const [event] = await eventsOf();
    expect(event?.at(-1)).toBe(
      'ephemeral volume tmp: create PVC box-tmp: persistentvolumeclaims "box-tmp" is forbidden: exceeded quota: none, ' +
        'requested: persistentvolumeclaims=1, used: persistentvolumeclaims=0, limited: persistentvolumeclaims=0',
    );
  });
});
