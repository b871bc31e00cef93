import { describe, expect, it } from 'vitest';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { fakeInitializer, old, outcome, requestFor, stored } from '../testing/initializer.ts';
import type { ResourceAttributes } from '../types.ts';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts';
import { claimResize } from './claim-resize.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { ownerReferencesPermission } from './owner-references.ts';
import { storageProtection } from './storage-protection.ts';

const isDefault = (key: string, time = '2024-01-01T00:00:00Z') => ({
  metadata: { annotations: { [key]: 'true' }, creationTimestamp: time },
});

describe('DefaultStorageClass', () => {
  const mark = 'storageclass.kubernetes.io/is-default-class';
  const resource = 'storageclasses.storage.k8s.io';
  const classes = [
    stored(resource, 'plain'),
    stored(resource, 'old', isDefault(mark)),
    stored(resource, 'young-b', isDefault(mark, '2025-01-01T00:00:00Z')),
    stored(resource, 'young-a', isDefault(mark, '2025-01-01T00:00:00Z')),
  ];
  const create = (claim: JsonObject, given = classes) =>
    outcome(defaultStorageClass(fakeInitializer(given)), requestFor('persistentvolumeclaims', claim));

  it('sets the newest default class, the first by name among those of the same age', async () => {
    expect(await create({ spec: {} })).toMatchObject({ spec: { storageClassName: 'young-a' } });
    expect(await create({ spec: {} }, classes.slice(0, 1))).not.toHaveProperty('spec.storageClassName');
  });

  it('does not change a claim with a class, even an empty one', async () => {
    expect(await create({ spec: { storageClassName: '' } })).toMatchObject({ spec: { storageClassName: '' } });
    const metadata = { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } };
    expect(await create({ metadata, spec: {} })).not.toHaveProperty('spec.storageClassName');
  });
});

describe('DefaultIngressClass', () => {
  const classes = [
    stored('ingressclasses.networking.k8s.io', 'a'),
    stored('ingressclasses.networking.k8s.io', 'b', isDefault('ingressclass.kubernetes.io/is-default-class')),
  ];
  const create = (ingress: JsonObject) =>
    outcome(defaultIngressClass(fakeInitializer(classes)), requestFor('ingresses.networking.k8s.io', ingress));

  it('applies to an ingress with neither the field nor the annotation', async () => {
    expect(await create({ spec: {} })).toMatchObject({ spec: { ingressClassName: 'b' } });
    expect(await create({ spec: { ingressClassName: 'a' } })).toMatchObject({ spec: { ingressClassName: 'a' } });
    const metadata = { annotations: { 'kubernetes.io/ingress.class': 'old' } };
    expect(await create({ metadata, spec: {} })).not.toHaveProperty('spec.ingressClassName');
  });
});

describe('StorageObjectInUseProtection', () => {
  it('adds the finalizer once', async () => {
    const create = (resource: string, metadata: JsonObject = {}) =>
      outcome(storageProtection(fakeInitializer()), requestFor(resource, { metadata }));
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

describe('PersistentVolumeClaimResize', () => {
  const classes = [
    stored('storageclasses.storage.k8s.io', 'grows', { allowVolumeExpansion: true }),
    stored('storageclasses.storage.k8s.io', 'fixed'),
  ];
  const claim = (storage: string, storageClassName: string, phase = 'Bound') => ({
    spec: { storageClassName, resources: { requests: { storage } } },
    status: { phase },
  });
  const grow = (before: JsonObject, after: JsonObject) =>
    outcome(
      claimResize(fakeInitializer(classes)),
      requestFor('persistentvolumeclaims', after, { oldObject: old(before) }),
    );
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

describe('certificate plugins', () => {
  const resource = 'certificatesigningrequests.certificates.k8s.io';
  const csr = (status: JsonObject = {}) => ({ spec: { signerName: 'example.com/s' }, status });
  const attributesSeen: ResourceAttributes[] = [];
  const allowing = (...signers: string[]) =>
    fakeInitializer([], (attributes) => {
      attributesSeen.push(attributes);
      return !signers.includes(attributes.name);
    });

  it('require permission to approve for the signer, or for its whole domain', async () => {
    const approve = (...signers: string[]) => {
      const part = { subresource: 'approval', oldObject: old(csr()) };
      return outcome(certificateApproval(allowing(...signers)), requestFor(resource, csr(), part));
    };
    expect(await approve('example.com/s')).toBeTypeOf('object');
    expect(await approve('example.com/*')).toBeTypeOf('object');
    expect(await approve()).toBe('user not permitted to approve requests with signerName "example.com/s"');
    expect(attributesSeen.at(-1)).toMatchObject({ verb: 'approve', group: 'certificates.k8s.io', resource: 'signers' });
  });

  it('require permission to sign for the signer', async () => {
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

  it('reject requests for the group system:masters', async () => {
    const ask = (signerName: string, organizations: readonly string[] | undefined) => {
      const plugin = certificateSubjectRestriction({
        ...fakeInitializer(),
        requestedSubject: () => organizations && { commonName: '', organizations },
      });
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

describe('OwnerReferencesPermissionEnforcement', () => {
  const owner = (more: JsonObject = {}) => ({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'o',
    uid: '1',
    ...more,
  });
  const write = (refuses: string, after: JsonObject[], before?: JsonObject[]) => {
    const initializer = fakeInitializer(
      [],
      ({ verb, resource, subresource }) => `${verb} ${resource}/${subresource}` === refuses,
    );
    const holding = (list: JsonObject[]) => ({ metadata: { ownerReferences: list } });
    const part = before === undefined ? {} : { oldObject: old(holding(before)) };
    return outcome(ownerReferencesPermission(initializer), requestFor('pods', holding(after), part));
  };
  const noDelete = 'delete pods/';
  const noFinalize = 'update replicasets/finalizers';

  it('requires permission to delete the object to change its owner references', async () => {
    const refused = "cannot set an ownerRef on a resource you can't delete: no rule allows it, <nil>";
    expect(await write(noDelete, [owner()], [])).toBe(refused);
    expect(await write(noDelete, [], [owner()])).toBe(refused);
    expect(await write(noDelete, [owner()], [owner()])).toBeTypeOf('object');
    expect(await write(noDelete, [owner()])).toBeTypeOf('object');
  });

  it('handles every subresource but pods/status', async () => {
    const initializer = fakeInitializer([], ({ verb }) => verb === 'delete');
    const part = (subresource: string) => ({ subresource, oldObject: old({}) });
    const object = { metadata: { ownerReferences: [owner()] } };
    const write = (resource: string) =>
      outcome(ownerReferencesPermission(initializer), requestFor(resource, object, part('status')));
    expect(await write('pods')).toBeTypeOf('object');
    expect(await write('deployments.apps')).toContain("a resource you can't delete");
  });

  it('requires permission to update the finalizers of the owner to set blockOwnerDeletion', async () => {
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
