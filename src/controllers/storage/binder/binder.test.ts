import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../../meta/index.ts';
import * as kinds from '../../shared/kinds.ts';
import { type TestCluster, testCluster } from '../../testing/cluster.ts';
import { claimProtectionController } from '../claim-protection.ts';
import type { Claim } from '../pod-claims.ts';
import { volumeProtectionController } from '../volume-protection.ts';
import { volumeBinderController } from './controller.ts';
import type { PersistentVolume } from './matching.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await testCluster([volumeBinderController, claimProtectionController, volumeProtectionController]);
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
});
afterEach(async () => {
  expect(cluster.logged).toEqual([]);
  await cluster.close();
});

type VolumeSpec = NonNullable<PersistentVolume['spec']>;
type ClaimSpec = NonNullable<Claim['spec']>;
const bound = 'pv.kubernetes.io/bound-by-controller';
const completed = 'pv.kubernetes.io/bind-completed';
const resources = (storage: string) => ({ requests: { storage } });

const addVolume = (name: string, spec: VolumeSpec = {}, metadata: PersistentVolume['metadata'] = {}) =>
  cluster.client.kind(kinds.persistentVolumes).create({
    metadata: { ...metadata, name },
    spec: {
      capacity: { storage: '5Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'class',
      ...(spec.nfs || spec.csi ? {} : { hostPath: { path: '/data' } }),
      ...spec,
    },
  });
const addClaim = (name: string, spec: ClaimSpec = {}, metadata: Claim['metadata'] = {}) =>
  cluster.client.kind(kinds.persistentVolumeClaims).create({
    metadata: { namespace: 'default', ...metadata, name },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'class', resources: resources('1Gi'), ...spec },
  });
const addClass = (
  name: string,
  more: { provisioner?: string; volumeBindingMode?: string; isDefault?: boolean } = {},
) => {
  const { provisioner = 'example.com/disks', volumeBindingMode = 'Immediate', isDefault = false } = more;
  const annotations = isDefault ? { 'storageclass.kubernetes.io/is-default-class': 'true' } : {};
  const metadata = { name, annotations };
  return cluster.client.kind(kinds.storageClasses).create({ metadata, provisioner, volumeBindingMode });
};
const claim = (name: string) => cluster.client.kind(kinds.persistentVolumeClaims).get({ namespace: 'default', name });
const volume = (name: string) => cluster.client.kind(kinds.persistentVolumes).get({ name });
const deleteClaim = (name: string) =>
  cluster.client.kind(kinds.persistentVolumeClaims).delete({ namespace: 'default', name });
const patchClaim = (name: string, patch: object) =>
  cluster.client.kind(kinds.persistentVolumeClaims).patch({ namespace: 'default', name }, 'merge', patch);
const patchVolume = (name: string, patch: object) =>
  cluster.client.kind(kinds.persistentVolumes).patch({ name }, 'merge', patch);
const phases = async () => {
  await cluster.settle();
  const state = ({ metadata, status }: Claim | PersistentVolume) => [metadata.name ?? '', status?.phase ?? ''] as const;
  return Object.fromEntries([
    ...(await cluster.client.kind(kinds.persistentVolumes).list()).items.map(state),
    ...(await cluster.client.kind(kinds.persistentVolumeClaims).list()).items.map(state),
  ]);
};
const recorded = async () => {
  await cluster.settle();
  const events = (await cluster.client.kind(kinds.events).list()).items;
  return events.map(({ involvedObject, type, reason, message }) => [involvedObject?.name, type, reason, message]);
};
const setPodStatus = (name: string, status: Json) =>
  cluster.client.kind(kinds.pods).subresource('status').patch({ namespace: 'default', name }, 'merge', { status });
async function addPod(name: string, claimName: string) {
  const spec = {
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'example.com/app:1' }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
  };
  await cluster.client.kind(kinds.pods).create({ metadata: { namespace: 'default', name }, spec });
}

describe('persistentvolume-binder-controller: binding', () => {
  it('binds a claim and a volume to each other', async () => {
    await addVolume('disk');
    expect(await phases()).toEqual({ disk: 'Available' });
    const { metadata } = await addClaim('data');
    expect(await phases()).toEqual({ disk: 'Bound', data: 'Bound' });
    const { namespace, name, uid } = metadata;
    expect(await claim('data')).toMatchObject({
      metadata: { annotations: { [bound]: 'yes', [completed]: 'yes' } },
      spec: { volumeName: 'disk' },
      status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '5Gi' } },
    });
    const { spec, metadata: ofVolume } = await volume('disk');
    expect(ofVolume.annotations).toEqual({ [bound]: 'yes' });
    expect(spec?.claimRef).toEqual({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      namespace,
      name,
      uid,
      resourceVersion: metadata.resourceVersion,
    });
    expect(await recorded()).toEqual([]);
  });

  const modes = (...accessModes: NonNullable<VolumeSpec['accessModes']>) => ({ accessModes });
  const size = (storage: string) => ({ capacity: { storage } });
  const labelled = { metadata: { labels: { tier: 'fast' } } };
  it.each<{
    title: string;
    volumes: { [name: string]: VolumeSpec & { metadata?: PersistentVolume['metadata'] } };
    spec?: ClaimSpec;
    expected: string | undefined;
  }>([
    { title: 'the smallest that fits', volumes: { a: size('3Gi'), b: size('2Gi'), c: size('1Gi') }, expected: 'b' },
    { title: 'none that is too small', volumes: { a: size('1Gi') }, expected: undefined },
    { title: 'one that is just large enough', volumes: { a: size('2Gi') }, expected: 'a' },
    {
      title: 'one with the fewest access modes, before the smallest',
      volumes: { a: { ...size('2Gi'), ...modes('ReadWriteOnce', 'ReadOnlyMany') }, b: size('9Gi') },
      expected: 'b',
    },
    {
      title: 'one with all of its access modes',
      volumes: { a: {}, b: modes('ReadOnlyMany'), c: modes('ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany') },
      spec: modes('ReadWriteOnce', 'ReadOnlyMany'),
      expected: 'c',
    },
    { title: 'one of its class', volumes: { a: { storageClassName: 'other' }, b: {} }, expected: 'b' },
    {
      title: 'one without a class',
      volumes: { a: {}, b: { storageClassName: '' } },
      spec: { storageClassName: '' },
      expected: 'b',
    },
    { title: 'one of its volume mode', volumes: { a: { volumeMode: 'Block' } }, expected: undefined },
    {
      title: 'one that its selector selects',
      volumes: { a: size('2Gi'), b: { ...size('3Gi'), ...labelled } },
      spec: { selector: { matchLabels: { tier: 'fast' } } },
      expected: 'b',
    },
    {
      title: 'one that is reserved for it, whatever its class and labels',
      volumes: { a: size('2Gi'), b: { storageClassName: '', claimRef: { namespace: 'default', name: 'data' } } },
      spec: { selector: { matchLabels: { tier: 'fast' } } },
      expected: 'b',
    },
    {
      title: 'none that is reserved for another',
      volumes: {
        a: { claimRef: { namespace: 'default', name: 'other' } },
        b: { claimRef: { namespace: 'x', name: 'data' } },
      },
      expected: undefined,
    },
    {
      title: 'none that is reserved for a former claim of its name',
      volumes: { a: { claimRef: { namespace: 'default', name: 'data', uid: 'former' } } },
      expected: undefined,
    },
  ])('chooses $title', async ({ volumes, spec, expected }) => {
    await addClass('class', { provisioner: 'example.com/none' });
    for (const [name, { metadata, ...rest }] of Object.entries(volumes)) await addVolume(name, rest, metadata);
    await cluster.settle();
    await addClaim('data', { resources: resources('2Gi'), ...spec });
    await cluster.settle();
    expect((await claim('data')).spec?.volumeName).toBe(expected);
  });

  it('gives one volume to one claim, and the others theirs when there is one', async () => {
    await addClass('class', { provisioner: 'example.com/none' });
    await addVolume('a');
    await cluster.settle();
    for (const name of ['x', 'y']) await addClaim(name);
    expect(await phases()).toEqual({ a: 'Bound', x: 'Bound', y: 'Pending' });
    await addVolume('b');
    expect(await phases()).toMatchObject({ b: 'Available', y: 'Pending' });
    await cluster.advance(15_000);
    expect(await phases()).toEqual({ a: 'Bound', b: 'Bound', x: 'Bound', y: 'Bound' });
  });

  it('marks only the bindings that it made itself', async () => {
    await addVolume('named');
    await addVolume('reserved', { claimRef: { namespace: 'default', name: 'second' }, storageClassName: '' });
    await cluster.settle();
    await addClaim('first', { volumeName: 'named' });
    await addClaim('second', { volumeName: 'reserved' });
    // The binder and the status of a volume may conflict, which is tried again after a moment.
    await cluster.advance(1_000);
    expect(await phases()).toEqual({ named: 'Bound', reserved: 'Bound', first: 'Bound', second: 'Bound' });
    expect((await claim('first')).metadata.annotations).toEqual({ [completed]: 'yes' });
    expect((await volume('named')).metadata.annotations).toEqual({ [bound]: 'yes' });
    expect((await claim('second')).metadata.annotations).toEqual({ [completed]: 'yes' });
    const { metadata, spec } = await volume('reserved');
    expect(metadata.annotations).toBeUndefined();
    expect(spec?.claimRef?.uid).toBe((await claim('second')).metadata.uid);
  });

  it('binds a claim to the volume that is reserved for it as soon as it is there', async () => {
    await addClaim('data', { storageClassName: '' });
    await addVolume('disk', { storageClassName: '', claimRef: { namespace: 'default', name: 'data' } });
    expect(await phases()).toEqual({ disk: 'Bound', data: 'Bound' });
  });

  it.each<[string, VolumeSpec, ClaimSpec, string]>([
    ['too small', {}, { resources: resources('9Gi') }, 'requested PV is too small'],
    ['of another class', { storageClassName: 'other' }, {}, 'storageClassName does not match'],
    ['of another volume mode', { volumeMode: 'Block' }, {}, 'incompatible volumeMode'],
    ['without an access mode', { accessModes: ['ReadOnlyMany'] }, {}, 'incompatible accessMode'],
  ])(
    'does not bind a claim to the volume that it names if it is %s, and says why',
    async (_, spec, expected, reason) => {
      await addVolume('disk', spec);
      await addClaim('data', { volumeName: 'disk', ...expected });
      expect(await phases()).toEqual({ disk: 'Available', data: 'Pending' });
      const message = `Cannot bind to requested volume "disk": ${reason}`;
      expect(await recorded()).toEqual([['data', 'Warning', 'VolumeMismatch', message]]);
    },
  );

  it('waits for the volume that a claim names, and says when it is that of another claim', async () => {
    await addClaim('late', { volumeName: 'disk' });
    await addClaim('early', { volumeName: 'other' });
    expect(await phases()).toEqual({ late: 'Pending', early: 'Pending' });
    await addVolume('disk');
    await addVolume('other', { claimRef: { namespace: 'default', name: 'somebody' } });
    // The claim and its volume are written at the same time: what conflicts is tried again.
    await cluster.advance(16_000);
    expect(await phases()).toEqual({ disk: 'Bound', late: 'Bound', other: 'Available', early: 'Pending' });
    const message = 'volume "other" already bound to a different claim.';
    expect(await recorded()).toContainEqual(['early', 'Warning', 'FailedBinding', message]);
  });
});

describe('persistentvolume-binder-controller: volume modes', () => {
  it('warns the volume and the claim when their volume modes differ', async () => {
    const { uid = '' } = (await addClaim('data', { storageClassName: '' })).metadata;
    await addVolume('disk', { volumeMode: 'Block', claimRef: { namespace: 'default', name: 'data', uid } });
    const texts = [
      'Cannot bind PersistentVolume to requested PersistentVolumeClaim "data" due to incompatible volumeMode.',
      'Cannot bind PersistentVolume "disk" to requested PersistentVolumeClaim due to incompatible volumeMode.',
    ];
    const events = await recorded();
    expect(events).toContainEqual(['disk', 'Warning', 'VolumeMismatch', texts[0]]);
    expect(events).toContainEqual(['data', 'Warning', 'VolumeMismatch', texts[1]]);
    expect(await phases()).toEqual({ disk: 'Pending', data: 'Pending' });
  });
});

describe('persistentvolume-binder-controller: claims without a volume', () => {
  it('reports that there is no volume and no class, and how often', async () => {
    await addClaim('data', { storageClassName: '' });
    const message = 'no persistent volumes available for this claim and no storage class is set';
    expect(await recorded()).toEqual([['data', 'Normal', 'FailedBinding', message]]);
    await cluster.advance(30_000);
    const [event] = (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items;
    expect(event).toMatchObject({ count: 3, source: { component: 'persistentvolume-controller' } });
  });

  it('waits for the first pod, then for its node, then for the provisioner', async () => {
    await addClass('class', { volumeBindingMode: 'WaitForFirstConsumer' });
    await addVolume('disk');
    await addClaim('data');
    await addPod('ended', 'data');
    await setPodStatus('ended', { phase: 'Succeeded' });
    const [first] = await recorded();
    const waits = 'waiting for first consumer to be created before binding';
    await cluster.advance(15_000);
    await addPod('user', 'data');
    await cluster.advance(15_000);
    await patchClaim('data', { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'node' } } });
    const events = await recorded();
    expect(first?.[3]).toMatch(/^waiting for/);
    expect(events).toContainEqual(['data', 'Normal', 'WaitForFirstConsumer', waits]);
    expect(events).toContainEqual(['data', 'Normal', 'WaitForPodScheduled', 'waiting for pod user to be scheduled']);
    expect(events).toContainEqual([
      'data',
      'Normal',
      'ExternalProvisioning',
      expect.stringMatching(/example\.com\/disks/),
    ]);
    expect(await phases()).toEqual({ disk: 'Available', data: 'Pending' });
  });

  it('asks the external provisioner of the class for a volume', async () => {
    await addClass('class');
    await addClaim('data');
    const message =
      "Waiting for a volume to be created either by the external provisioner 'example.com/disks' or manually by the " +
      'system administrator. If volume creation is delayed, please verify that the provisioner is running and ' +
      'correctly registered.';
    expect(await recorded()).toEqual([['data', 'Normal', 'ExternalProvisioning', message]]);
    expect((await claim('data')).metadata.annotations).toEqual({
      'volume.beta.kubernetes.io/storage-provisioner': 'example.com/disks',
      'volume.kubernetes.io/storage-provisioner': 'example.com/disks',
    });
    // The provisioner's part.
    const { metadata } = await claim('data');
    const claimRef = { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data', uid: metadata.uid ?? '' };
    await addVolume('pvc-1', { claimRef }, { annotations: { 'pv.kubernetes.io/provisioned-by': 'example.com/disks' } });
    expect(await phases()).toEqual({ 'pvc-1': 'Bound', data: 'Bound' });
  });

  it.each([
    ['missing', undefined, 'storageclass.storage.k8s.io "class" not found'],
    ['that provisions nothing', 'no-provisioner', 'no volume plugin matched name: kubernetes.io/no-provisioner'],
    ['of nfs', 'nfs', 'no provisionable volume plugin matched'],
  ])('says why the class, one %s, provisions no volume', async (_, name, message) => {
    if (name !== undefined) await addClass('class', { provisioner: `kubernetes.io/${name}` });
    await addClaim('data');
    expect(await recorded()).toEqual([['data', 'Warning', 'ProvisioningFailed', message]]);
  });

  it('gives claims without a class the default class when there is one', async () => {
    await cluster.client.kind(kinds.persistentVolumeClaims).create({
      metadata: { namespace: 'default', name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: resources('1Gi') },
    });
    await addClaim('none', { storageClassName: '' });
    await cluster.settle();
    await addClass('old', { isDefault: true });
    await cluster.advance(5_000);
    await addClass('new', { isDefault: true });
    await cluster.advance(15_000);
    expect((await claim('data')).spec?.storageClassName).toBe('new');
    expect((await claim('none')).spec?.storageClassName).toBe('');
  });
});

describe('persistentvolume-binder-controller: what is lost and released', () => {
  const boundPair = async (spec: VolumeSpec = {}, metadata: PersistentVolume['metadata'] = {}) => {
    await addVolume('disk', spec, metadata);
    await cluster.settle();
    await addClaim('data', spec.storageClassName === undefined ? {} : { storageClassName: spec.storageClassName });
    expect(await phases()).toEqual({ disk: 'Bound', data: 'Bound' });
  };

  it('keeps a bound volume that is being deleted until its claim is gone', async () => {
    await boundPair();
    await cluster.client.kind(kinds.persistentVolumes).delete({ name: 'disk' });
    expect(await phases()).toEqual({ disk: 'Bound', data: 'Bound' });
    await deleteClaim('data');
    expect(await phases()).toEqual({});
  });

  it('says when a claim has lost its volume, and takes back its capacity', async () => {
    await boundPair();
    await cluster.client.kind(kinds.persistentVolumes).delete({ name: 'disk' });
    await patchVolume('disk', { metadata: { finalizers: null } });
    expect(await phases()).toEqual({ data: 'Lost' });
    expect((await claim('data')).status).toEqual({ phase: 'Lost' });
    const message = 'Bound claim has lost its PersistentVolume. Data on the volume is lost!';
    expect(await recorded()).toEqual([['data', 'Warning', 'ClaimLost', message]]);
  });

  it('says when the volume of a bound claim has become that of another', async () => {
    await boundPair();
    await patchVolume('disk', { spec: { claimRef: { uid: 'another' } } });
    await patchClaim('data', { metadata: { annotations: { touched: 'yes' } } });
    const message = 'Two claims are bound to the same volume, this one is bound incorrectly';
    await cluster.settle();
    expect((await claim('data')).status?.phase).toBe('Lost');
    expect(await recorded()).toEqual([['data', 'Warning', 'ClaimMisbound', message]]);
  });

  it('binds a volume again whose reference to its claim was removed', async () => {
    await boundPair();
    await patchVolume('disk', { spec: { claimRef: null } });
    await cluster.settle();
    await patchClaim('data', { metadata: { annotations: { touched: 'yes' } } });
    await cluster.settle();
    expect((await volume('disk')).spec?.claimRef?.name).toBe('data');
    expect(await phases()).toEqual({ disk: 'Bound', data: 'Bound' });
  });

  const byPath = (path: string) => ({ hostPath: { path } });
  const nfs = { nfs: { server: 'example.com', path: '/data' } };
  const csi = { csi: { driver: 'example.com', volumeHandle: 'v' } };
  const provisionedBy = (name: string) => ({ annotations: { 'pv.kubernetes.io/provisioned-by': name } });
  it.each<{
    title: string;
    spec: VolumeSpec;
    metadata?: PersistentVolume['metadata'];
    expected: string | undefined;
    event?: [string, string];
  }>([
    { title: 'retained', spec: { persistentVolumeReclaimPolicy: 'Retain' }, expected: 'Released' },
    { title: 'left to its driver', spec: { persistentVolumeReclaimPolicy: 'Delete', ...csi }, expected: 'Released' },
    {
      title: 'left to its provisioner',
      spec: { persistentVolumeReclaimPolicy: 'Delete' },
      metadata: provisionedBy('example.com/disks'),
      expected: 'Released',
    },
    {
      title: 'failed without a plugin that deletes it',
      spec: { persistentVolumeReclaimPolicy: 'Delete', ...nfs },
      expected: 'Failed',
      event: [
        'VolumeFailedDelete',
        'error getting deleter volume plugin for volume "disk": no deletable volume plugin matched',
      ],
    },
    {
      title: 'failed with a path that may not be deleted',
      spec: { persistentVolumeReclaimPolicy: 'Delete', ...byPath('/data') },
      expected: 'Failed',
      event: ['VolumeFailedDelete', 'host_path deleter only supports /tmp/.+ but received provided /data'],
    },
    { title: 'deleted', spec: { persistentVolumeReclaimPolicy: 'Delete', ...byPath('/tmp/x') }, expected: undefined },
    {
      title: 'failed with a policy to recycle it',
      spec: { persistentVolumeReclaimPolicy: 'Recycle' },
      expected: 'Failed',
      event: ['VolumeFailedRecycle', 'No recycler plugin found for the volume!'],
    },
  ])('a volume without its claim is $title', async ({ spec, metadata, expected, event }) => {
    await boundPair(spec, metadata);
    await deleteClaim('data');
    expect(await phases()).toEqual(expected === undefined ? {} : { disk: expected });
    expect(await recorded()).toEqual(event === undefined ? [] : [['disk', 'Warning', ...event]]);
    if (event !== undefined) expect((await volume('disk')).status?.message).toBe(event[1]);
    await addClaim('data');
    await cluster.advance(15_000);
    expect(await phases()).toEqual(expected === undefined ? { data: 'Pending' } : { disk: expected, data: 'Pending' });
  });

  it.each([
    ['the controller', { [bound]: 'yes' }, undefined],
    ['its author', undefined, { namespace: 'default', name: 'data' }],
  ])('frees a volume that %s bound to a claim with another volume', async (_, annotations, remainingClaim) => {
    await boundPair();
    const { uid = '' } = (await claim('data')).metadata;
    await addVolume(
      'spare',
      { claimRef: { namespace: 'default', name: 'data', uid } },
      annotations ? { annotations } : {},
    );
    expect(await phases()).toEqual({ disk: 'Bound', data: 'Bound', spare: 'Available' });
    const { metadata, spec } = await volume('spare');
    expect(spec?.claimRef).toEqual(remainingClaim);
    expect(metadata.annotations).toBeUndefined();
  });
});
