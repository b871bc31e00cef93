import { describe, expect, it } from 'vitest';
import type { ApiObject, JsonObject } from '../meta/index.ts';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts';
import { claimResize } from './claim-resize.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { ownerReferencesPermission } from './owner-references.ts';
import { storageProtection } from './storage-protection.ts';
import { fakeWorld, held, old, outcome, requestFor } from './testing/world.ts';
import type { ResourceAttributes } from './types.ts';

const isDefault = (key: string, time = '2024-01-01T00:00:00Z') => ({
  metadata: { annotations: { [key]: 'true' }, creationTimestamp: time },
});

describe('default storage class', () => {
  const mark = 'storageclass.kubernetes.io/is-default-class';
  const resource = 'storageclasses.storage.k8s.io';
  const classes = [
    held(resource, 'plain'),
    held(resource, 'old', isDefault(mark)),
    held(resource, 'young-b', isDefault(mark, '2025-01-01T00:00:00Z')),
    held(resource, 'young-a', isDefault(mark, '2025-01-01T00:00:00Z')),
  ];
  const create = (claim: JsonObject, given = classes) =>
    outcome(defaultStorageClass(fakeWorld(given)), requestFor('persistentvolumeclaims', claim));

  it('is the youngest that is marked, by name when they are of one age', async () => {
    expect(await create({ spec: {} })).toMatchObject({ spec: { storageClassName: 'young-a' } });
    expect(await create({ spec: {} }, classes.slice(0, 1))).not.toHaveProperty('spec.storageClassName');
  });

  it('leaves claims alone that chose, also none', async () => {
    expect(await create({ spec: { storageClassName: '' } })).toMatchObject({ spec: { storageClassName: '' } });
    const metadata = { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } };
    expect(await create({ metadata, spec: {} })).not.toHaveProperty('spec.storageClassName');
  });
});

describe('default ingress class', () => {
  const classes = [
    held('ingressclasses.networking.k8s.io', 'a'),
    held('ingressclasses.networking.k8s.io', 'b', isDefault('ingressclass.kubernetes.io/is-default-class')),
  ];
  const create = (ingress: JsonObject) =>
    outcome(defaultIngressClass(fakeWorld(classes)), requestFor('ingresses.networking.k8s.io', ingress));

  it('is given to an ingress that names none in either way', async () => {
    expect(await create({ spec: {} })).toMatchObject({ spec: { ingressClassName: 'b' } });
    expect(await create({ spec: { ingressClassName: 'a' } })).toMatchObject({ spec: { ingressClassName: 'a' } });
    const metadata = { annotations: { 'kubernetes.io/ingress.class': 'old' } };
    expect(await create({ metadata, spec: {} })).not.toHaveProperty('spec.ingressClassName');
  });
});

describe('protection of storage in use', () => {
  it('puts the finalizer, once', async () => {
    const create = (resource: string, metadata: JsonObject = {}) =>
      outcome(storageProtection(fakeWorld()), requestFor(resource, { metadata }));
    const finalizersOf = async (resource: string, metadata?: JsonObject) =>
      ((await create(resource, metadata)) as ApiObject).metadata.finalizers;
    expect(await finalizersOf('persistentvolumes')).toEqual(['kubernetes.io/pv-protection']);
    expect(await finalizersOf('persistentvolumeclaims', { finalizers: ['a/b'] })).toEqual([
      'a/b',
      'kubernetes.io/pvc-protection',
    ]);
    const once = ['kubernetes.io/pvc-protection'];
    expect(await finalizersOf('persistentvolumeclaims', { finalizers: once })).toEqual(once);
    expect(await finalizersOf('pods')).toBeUndefined();
  });
});

describe('growth of claims', () => {
  const classes = [
    held('storageclasses.storage.k8s.io', 'grows', { allowVolumeExpansion: true }),
    held('storageclasses.storage.k8s.io', 'fixed'),
  ];
  const claim = (storage: string, storageClassName: string, phase = 'Bound') => ({
    spec: { storageClassName, resources: { requests: { storage } } },
    status: { phase },
  });
  const grow = (before: JsonObject, after: JsonObject) =>
    outcome(claimResize(fakeWorld(classes)), requestFor('persistentvolumeclaims', after, { oldObject: old(before) }));
  const unsupported =
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

  it.each([
    ['a class that allows it', claim('1Gi', 'grows'), claim('2Gi', 'grows'), undefined],
    ['not at all', claim('2Gi', 'fixed'), claim('2Gi', 'fixed'), undefined],
    [
      'unbound',
      claim('1Gi', 'grows', 'Pending'),
      claim('2Gi', 'grows', 'Pending'),
      'Only bound persistent volume claims can be expanded',
    ],
    ['a class that does not', claim('1Gi', 'fixed'), claim('2Gi', 'fixed'), unsupported],
    ['no class', claim('1Gi', ''), claim('2Gi', ''), unsupported],
    ['no such class', claim('1Gi', 'gone'), claim('2Gi', 'gone'), unsupported],
  ])('%s', async (_, before, after, message) => {
    const found = await grow(before, after);
    if (message === undefined) expect(found).toBeTypeOf('object');
    else expect(found).toBe(message);
  });
});

describe('certificates', () => {
  const resource = 'certificatesigningrequests.certificates.k8s.io';
  const csr = (status: JsonObject = {}) => ({ spec: { signerName: 'example.com/s' }, status });
  const wishes: ResourceAttributes[] = [];
  const allowing = (...signers: string[]) =>
    fakeWorld([], (wish) => {
      wishes.push(wish);
      return !signers.includes(wish.name);
    });

  it('are approved by who may for the signer, or for all of its domain', async () => {
    const approve = (...signers: string[]) => {
      const part = { subresource: 'approval', oldObject: old(csr()) };
      return outcome(certificateApproval(allowing(...signers)), requestFor(resource, csr(), part));
    };
    expect(await approve('example.com/s')).toBeTypeOf('object');
    expect(await approve('example.com/*')).toBeTypeOf('object');
    expect(await approve()).toBe('user not permitted to approve requests with signerName "example.com/s"');
    expect(wishes.at(-1)).toMatchObject({ verb: 'approve', group: 'certificates.k8s.io', resource: 'signers' });
  });

  it('are issued by who may sign for the signer', async () => {
    const sign = (status: JsonObject, ...signers: string[]) => {
      const part = { subresource: 'status', oldObject: old(csr()) };
      return outcome(certificateSigning(allowing(...signers)), requestFor(resource, csr(status), part));
    };
    const refused = 'user not permitted to sign requests with signerName "example.com/s"';
    expect(await sign({ certificate: 'YQ==' })).toBe(refused);
    expect(await sign({ conditions: [{ type: 'Failed' }] })).toBe(refused);
    expect(await sign({ certificate: 'YQ==' }, 'example.com/s')).toBeTypeOf('object');
    expect(await sign({})).toBeTypeOf('object');
  });

  it('never make administrators of the server', async () => {
    const ask = (signerName: string, organizations: readonly string[] | undefined) => {
      const plugin = certificateSubjectRestriction({ ...fakeWorld(), organizationsOf: () => organizations });
      return outcome(plugin, requestFor(resource, { spec: { signerName, request: '' } }));
    };
    const signer = 'kubernetes.io/kube-apiserver-client';
    expect(await ask(signer, ['a', 'system:masters'])).toBe(
      'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    );
    expect(await ask(signer, ['a'])).toBeTypeOf('object');
    expect(await ask('example.com/s', ['system:masters'])).toBeTypeOf('object');
    expect(await ask(signer, undefined)).toBe('failed to parse CSR: it cannot be read');
  });
});

describe('permission for owner references', () => {
  const owner = (more: JsonObject = {}) => ({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'o',
    uid: '1',
    ...more,
  });
  const write = (refuses: string, after: JsonObject[], before?: JsonObject[]) => {
    const world = fakeWorld([], ({ verb, resource, subresource }) => `${verb} ${resource}/${subresource}` === refuses);
    const holding = (list: JsonObject[]) => ({ metadata: { ownerReferences: list } });
    const part = before === undefined ? {} : { oldObject: old(holding(before)) };
    return outcome(ownerReferencesPermission(world), requestFor('pods', holding(after), part));
  };
  const noDelete = 'delete pods/';
  const noFinalize = 'update replicasets/finalizers';

  it('is that of deleting what is owned', async () => {
    const refused = "cannot set an ownerRef on a resource you can't delete: no rule allows it, <nil>";
    expect(await write(noDelete, [owner()], [])).toBe(refused);
    expect(await write(noDelete, [], [owner()])).toBe(refused);
    expect(await write(noDelete, [owner()], [owner()])).toBeTypeOf('object');
    expect(await write(noDelete, [owner()])).toBeTypeOf('object');
  });

  it('matters in every part of an object but the status of pods', async () => {
    const world = fakeWorld([], ({ verb }) => verb === 'delete');
    const part = (subresource: string) => ({ subresource, oldObject: old({}) });
    const object = { metadata: { ownerReferences: [owner()] } };
    const write = (resource: string) =>
      outcome(ownerReferencesPermission(world), requestFor(resource, object, part('status')));
    expect(await write('pods')).toBeTypeOf('object');
    expect(await write('deployments.apps')).toContain("a resource you can't delete");
  });

  it('is that of finalizing who is held up', async () => {
    const blocking = owner({ blockOwnerDeletion: true });
    expect(await write(noFinalize, [blocking])).toBe(
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: no rule allows it, <nil>",
    );
    expect(await write(noFinalize, [blocking, owner({ uid: '2' })], [blocking])).toBeTypeOf('object');
    expect(await write(noFinalize, [owner()])).toBeTypeOf('object');
    expect(await write('', [owner({ kind: 'Unknown', blockOwnerDeletion: true })])).toBe(
      'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion apps/v1 Kind Unknown: no matches for kind "Unknown" in version "apps/v1"',
    );
  });
});
