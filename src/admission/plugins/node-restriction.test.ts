import { describe, expect, it } from 'vitest';
import { at, defaultFeatures, type JsonObject } from '../../meta/index.ts';
import { fakeInitializer, names, old, outcome, requestFor, type StoredObject, stored } from '../testing/initializer.ts';
import type { AdmissionOperation, AdmissionRequest, PluginInitializer } from '../types.ts';
import { nodeRestriction } from './node-restriction.ts';

// Cases and messages of the reference server.

const mynode = { name: 'system:node:mynode', groups: ['system:nodes'] };
const mirror = { 'kubernetes.io/config.mirror': 'true' };
const owner = { apiVersion: 'v1', kind: 'Node', name: 'mynode', uid: 'mynode-uid', controller: true };

/** A pod on a node, and its request. */
function pod(name: string, nodeName: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { metadata: { name, uid: `${name}-uid`, ...metadata }, spec: { ...(nodeName && { nodeName }), ...spec } };
}
const mirrorPod = (spec: JsonObject = {}, metadata: JsonObject = {}, nodeName = 'mynode') =>
  pod('p', nodeName, spec, { annotations: mirror, ownerReferences: [owner], ...metadata });

const existing = [
  stored('nodes', 'mynode', { metadata: { uid: 'mynode-uid' } }),
  ...['mypod', 'otherpod', 'unboundpod'].map((name, i) =>
    stored('pods', name, pod(name, ['mynode', 'othernode', ''][i] ?? ''), 'ns'),
  ),
];

async function ask(
  operation: AdmissionOperation,
  resource: string,
  object: JsonObject | undefined,
  part: Partial<AdmissionRequest> = {},
  given: Partial<PluginInitializer> = {},
): Promise<string | undefined> {
  const plugin = nodeRestriction({ ...fakeInitializer(existing, () => true), ...given });
  const [whole = '', subresource = ''] = resource.split('/');
  const request = requestFor(whole, object ?? {}, {
    operation,
    subresource,
    namespace: 'ns',
    user: mynode,
    name: (at(object, 'metadata', 'name') as string | undefined) ?? 'x',
    ...part,
    ...(object === undefined && { object: undefined }),
  });
  const found = await outcome(plugin, request);
  return typeof found === 'string' ? found : undefined;
}

describe('who is restricted', () => {
  const write = (name: string, ...groups: string[]) =>
    ask('UPDATE', 'nodes', { metadata: { name: 'other' } }, { user: { name, groups } });
  it('is a node: its name has the prefix, and it is in the group', async () => {
    expect(await write('bob')).toBeUndefined();
    expect(await write('bob', 'system:nodes')).toBeUndefined();
    expect(await write('system:node:mynode')).toBeUndefined();
    expect(await write('system:node:mynode', 'system:nodes')).toBe(
      'node "mynode" is not allowed to modify node "other"',
    );
  });

  it('is a node without a name', async () => {
    const why = 'could not determine node from user "system:node:"';
    expect(await write('system:node:', 'system:nodes')).toBe(why);
  });

  it('is restricted in these resources alone', () => {
    const { handles } = nodeRestriction(fakeInitializer());
    const place = (operation: AdmissionOperation, resource: string) => ({ operation, resource, subresource: '' });
    expect(handles?.(place('CREATE', 'configmaps'))).toBe(false);
    expect(handles?.(place('CONNECT', 'pods'))).toBe(false);
    for (const resource of ['pods', 'leases.coordination.k8s.io', 'csinodes.storage.k8s.io']) {
      expect(handles?.(place('DELETE', resource))).toBe(true);
    }
  });
});

describe('pods', () => {
  const only = 'node "mynode" can only create pods with';
  it.each<[string, JsonObject, string | undefined]>([
    ['a mirror pod on the node', mirrorPod(), undefined],
    [
      'a pod that is not a mirror pod',
      pod('p', 'mynode'),
      'pod does not have "kubernetes.io/config.mirror" annotation, node "mynode" can only create mirror pods',
    ],
    ['a mirror pod on another node', mirrorPod({}, {}, 'othernode'), `${only} spec.nodeName set to itself`],
    ['a mirror pod on no node', mirrorPod({}, {}, ''), `${only} spec.nodeName set to itself`],
    ['no owner', mirrorPod({}, { ownerReferences: [] }), `${only} an owner reference set to itself`],
    [
      'two owners',
      mirrorPod({}, { ownerReferences: [owner, owner] }),
      `${only} a single owner reference set to itself`,
    ],
    [
      'another owner',
      mirrorPod({}, { ownerReferences: [{ ...owner, name: 'othernode' }] }),
      `${only} an owner reference set to itself`,
    ],
    [
      'an owner of another kind',
      mirrorPod({}, { ownerReferences: [{ ...owner, kind: 'Pod' }] }),
      `${only} an owner reference set to itself`,
    ],
    [
      'an owner that is not a controller',
      mirrorPod({}, { ownerReferences: [{ ...owner, controller: false }] }),
      `${only} a controller owner reference set to itself`,
    ],
    [
      'an owner whose deletion it blocks',
      mirrorPod({}, { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
      'node "mynode" must not set blockOwnerDeletion on an owner reference',
    ],
    [
      'an owner with another uid',
      mirrorPod({}, { ownerReferences: [{ ...owner, uid: 'x' }] }),
      'node mynode UID mismatch: expected x got mynode-uid',
    ],
  ])('creates %s', async (_, object, refused) => {
    expect(await ask('CREATE', 'pods', object)).toBe(refused);
  });

  const volumes = (source: JsonObject): JsonObject => ({ volumes: [{ name: 'v', ...source }] });
  const sources = (source: JsonObject) => volumes({ projected: { sources: [source] } });
  const env = (source: JsonObject) => ({ containers: [{ name: 'c', env: [{ name: 'e', valueFrom: source }] }] });
  it.each<[string, JsonObject, string | undefined]>([
    ['a service account', { serviceAccountName: 'foo' }, 'serviceaccounts'],
    ['a secret volume', volumes({ secret: { secretName: 'foo' } }), 'secrets'],
    ['a secret in the environment', env({ secretKeyRef: { name: 's', key: 'k' } }), 'secrets'],
    ['a secret to pull images', { imagePullSecrets: [{ name: 's' }] }, 'secrets'],
    ['a projected secret', sources({ secret: { name: 's' } }), 'secrets'],
    ['a config map volume', volumes({ configMap: { name: 'foo' } }), 'configmaps'],
    ['a config map in the environment', env({ configMapKeyRef: { name: 'c', key: 'k' } }), 'configmaps'],
    [
      'a whole config map in the environment',
      { initContainers: [{ name: 'c', envFrom: [{ configMapRef: { name: 'c' } }] }] },
      'configmaps',
    ],
    ['a projected config map', sources({ configMap: { name: 's' } }), 'configmaps'],
    ['a resource claim', { resourceClaims: [{ name: 'c', resourceClaimName: 'e' }] }, 'resourceclaims'],
    ['a trust bundle', sources({ clusterTrustBundle: { name: 'foo', path: 'x' } }), 'clustertrustbundles'],
    ['a token', sources({ serviceAccountToken: { path: 'x' } }), 'serviceaccounts (via projected volumes)'],
    ['a claim', volumes({ persistentVolumeClaim: { claimName: 'foo' } }), 'persistentvolumeclaims'],
    ['an ephemeral volume', volumes({ ephemeral: {} }), 'persistentvolumeclaims (via ephemeral volumes)'],
    ['a CSI volume', volumes({ csi: { driver: 'd' } }), 'csidrivers (via CSI volumes)'],
    ['a Glusterfs volume', volumes({ glusterfs: { endpoints: 'e', path: 'p' } }), 'endpoints (via glusterFS volumes)'],
    ['a path of the host', volumes({ hostPath: { path: '/' } }), undefined],
    ['the downward API', sources({ downwardAPI: {} }), undefined],
  ])('of a node reference no other objects: %s', async (_, spec, resource) => {
    const refused = resource === undefined ? undefined : `node "mynode" can not create pods that reference ${resource}`;
    expect(await ask('CREATE', 'pods', mirrorPod(spec))).toBe(refused);
  });

  it('are created by nodes that exist', async () => {
    const found = await ask('CREATE', 'pods', mirrorPod(), {}, { objects: fakeInitializer().objects });
    expect(found).toBe('?? node "mynode" not found');
  });

  it.each<[AdmissionOperation, string, string, string | undefined]>([
    ['UPDATE', 'pods', 'mypod', 'unexpected operation "UPDATE", node "mynode" can only create and delete mirror pods'],
    ['DELETE', 'pods', 'mypod', undefined],
    ['DELETE', 'pods', 'otherpod', 'node "mynode" can only delete pods with spec.nodeName set to itself'],
    ['DELETE', 'pods', 'unboundpod', 'node "mynode" can only delete pods with spec.nodeName set to itself'],
    ['DELETE', 'pods', 'nopod', '?? pod "nopod" not found'],
    ['CREATE', 'pods/eviction', 'mypod', undefined],
    ['CREATE', 'pods/eviction', 'otherpod', 'node mynode can only evict pods with spec.nodeName set to itself'],
    ['CREATE', 'pods/eviction', 'unboundpod', 'node mynode can only evict pods with spec.nodeName set to itself'],
    ['CREATE', 'pods/eviction', 'nopod', '?? pod "nopod" not found'],
    ['UPDATE', 'pods/eviction', 'mypod', 'unexpected operation UPDATE'],
    [
      'CREATE',
      'pods/binding',
      'mypod',
      `unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`,
    ],
    [
      'UPDATE',
      'pods/ephemeralcontainers',
      'mypod',
      `unexpected pod subresource "ephemeralcontainers", only 'status' and 'eviction' are allowed`,
    ],
    ['CREATE', 'pods/status', 'mypod', 'unexpected operation "CREATE"'],
    ['DELETE', 'pods/status', 'mypod', 'unexpected operation "DELETE"'],
  ])('%s of %s %s', async (operation, resource, name, refused) => {
    const object = operation === 'DELETE' ? undefined : pod(name, 'mynode');
    const oldObject = operation === 'UPDATE' ? old(pod(name, 'mynode')) : undefined;
    expect(await ask(operation, resource, object, { name, oldObject })).toBe(refused);
  });

  const labelled = (labels: JsonObject) => pod('mypod', 'mynode', {}, { labels });
  const claimed = (...claims: JsonObject[]) => ({
    ...pod('mypod', 'mynode'),
    status: { resourceClaimStatuses: claims },
  });
  it.each<[string, JsonObject, JsonObject, string | undefined]>([
    ['its own pod', pod('mypod', 'mynode'), { ...pod('mypod', 'mynode'), status: { phase: 'Running' } }, undefined],
    [
      'another pod',
      pod('otherpod', 'othernode'),
      pod('otherpod', 'othernode'),
      'node "mynode" can only update pod status for pods with spec.nodeName set to itself',
    ],
    [
      'an added label',
      labelled({ a: 'x' }),
      labelled({ a: 'x', b: 'y' }),
      'node "mynode" cannot update labels through pod status',
    ],
    [
      'a removed label',
      labelled({ a: 'x' }),
      pod('mypod', 'mynode'),
      'node "mynode" cannot update labels through pod status',
    ],
    [
      'a resource claim',
      claimed(),
      claimed({ name: 'c', resourceClaimName: 'e' }),
      'node "mynode" cannot update resource claim statues',
    ],
    [
      'the name of a resource claim',
      claimed({ name: 'c' }),
      claimed({ name: 'c', resourceClaimName: 'e' }),
      'node "mynode" cannot update resource claim statues',
    ],
    ['no resource claim', claimed({ name: 'c' }), claimed({ name: 'c' }), undefined],
  ])('have their status updated: %s', async (_, before, after, refused) => {
    expect(await ask('UPDATE', 'pods/status', after, { oldObject: old(before) })).toBe(refused);
  });
});

describe('the node', () => {
  const node = (spec: JsonObject = {}, metadata: JsonObject = {}) => ({
    metadata: { name: 'mynode', ...metadata },
    spec,
  });
  const config = (name: string) => ({ configSource: { configMap: { name } } });
  const taints = (value: string) => ({ taints: [{ key: 'k', value }] });
  const owners = (name: string) => ({ ownerReferences: [{ ...owner, name }] });

  it.each<[AdmissionOperation, string, string | undefined]>([
    ['CREATE', 'mynode', undefined],
    ['UPDATE', 'mynode', undefined],
    ['DELETE', 'mynode', undefined],
    ['CREATE', 'othernode', 'node "mynode" is not allowed to modify node "othernode"'],
    ['UPDATE', 'othernode', 'node "mynode" is not allowed to modify node "othernode"'],
    ['DELETE', 'othernode', 'node "mynode" is not allowed to modify node "othernode"'],
  ])('%s of %s', async (operation, name, refused) => {
    for (const resource of operation === 'UPDATE' ? ['nodes', 'nodes/status'] : ['nodes']) {
      const object = operation === 'DELETE' ? undefined : node({}, { name });
      const oldObject = operation === 'CREATE' ? undefined : old(node({}, { name }));
      expect(await ask(operation, resource, object, { name, oldObject })).toBe(refused);
    }
  });

  it.each<[string, JsonObject | undefined, JsonObject, string | undefined]>([
    [
      'created with a config source',
      undefined,
      node(config('a')),
      'node "mynode" is not allowed to create pods with a non-nil configSource',
    ],
    ['created with taints', undefined, node(taints('a')), undefined],
    [
      'with another config source',
      node(config('a')),
      node(config('b')),
      'node "mynode" is not allowed to update configSource to a new non-nil configSource',
    ],
    [
      'with a new config source',
      node(),
      node(config('b')),
      'node "mynode" is not allowed to update configSource to a new non-nil configSource',
    ],
    ['with the same config source', node(config('a')), node(config('a')), undefined],
    ['without its config source', node(config('a')), node(), undefined],
    ['with a new taint', node(), node(taints('a')), 'node "mynode" is not allowed to modify taints'],
    ['with another taint', node(taints('a')), node(taints('b')), 'node "mynode" is not allowed to modify taints'],
    ['without its taint', node(taints('a')), node(), 'node "mynode" is not allowed to modify taints'],
    ['with the same taint', node(taints('a')), node(taints('a')), undefined],
    ['with a new owner', node(), node({}, owners('a')), 'node "mynode" is not allowed to modify ownerReferences'],
    [
      'with another owner',
      node({}, owners('a')),
      node({}, owners('b')),
      'node "mynode" is not allowed to modify ownerReferences',
    ],
    ['without its owner', node({}, owners('a')), node(), 'node "mynode" is not allowed to modify ownerReferences'],
  ])('%s', async (_, before, after, refused) => {
    const operation = before === undefined ? 'CREATE' : 'UPDATE';
    expect(await ask(operation, 'nodes', after, { oldObject: before && old(before) })).toBe(refused);
  });

  const allowed = {
    'kubernetes.io/hostname': 'x',
    'kubernetes.io/os': 'x',
    'kubernetes.io/arch': 'x',
    'topology.kubernetes.io/zone': 'x',
    'topology.kubernetes.io/region': 'x',
    'failure-domain.beta.kubernetes.io/zone': 'x',
    'failure-domain.beta.kubernetes.io/region': 'x',
    'beta.kubernetes.io/instance-type': 'x',
    'node.kubernetes.io/instance-type': 'x',
    'beta.kubernetes.io/os': 'x',
    'beta.kubernetes.io/arch': 'x',
    'kubelet.kubernetes.io/foo': 'x',
    'foo.kubelet.kubernetes.io/foo': 'x',
    'node.kubernetes.io/foo': 'x',
    'foo.node.kubernetes.io/foo': 'x',
    'my.domain/label': 'x',
    plain: 'x',
    constructor: 'x',
  };
  const refusedLabels = [
    'foo.node-restriction.kubernetes.io/foo',
    'node-restriction.kubernetes.io/foo',
    'other.k8s.io/foo',
    'other.kubernetes.io/foo',
  ];
  const labels = (...keys: string[]) => Object.fromEntries(keys.map((key) => [key, 'x']));
  const refusedList = refusedLabels.join(', ');
  it.each<[string, JsonObject | undefined, JsonObject, string | undefined]>([
    ['created with labels of kubelets and others', undefined, allowed, undefined],
    [
      'created with labels of the product',
      undefined,
      { ...allowed, ...labels(...refusedLabels) },
      `node "mynode" is not allowed to set the following labels: ${refusedList}`,
    ],
    ['with labels of kubelets added', {}, allowed, undefined],
    ['with labels of kubelets removed', allowed, {}, undefined],
    [
      'with labels of the product added',
      {},
      labels(...refusedLabels),
      `is not allowed to modify labels: ${refusedList}`,
    ],
    [
      'with labels of the product removed',
      labels(...refusedLabels),
      {},
      `is not allowed to modify labels: ${refusedList}`,
    ],
    [
      'with another value',
      { 'other.k8s.io/foo': 'y' },
      labels('other.k8s.io/foo'),
      'is not allowed to modify labels: other.k8s.io/foo',
    ],
    ['with labels of the product kept', labels(...refusedLabels), { ...labels(...refusedLabels), a: 'b' }, undefined],
  ])('%s', async (_, before, after, refused) => {
    const operation = before === undefined ? 'CREATE' : 'UPDATE';
    const oldObject = before && old(node({}, { labels: before }));
    expect(await ask(operation, 'nodes', node({}, { labels: after }), { oldObject })).toBe(refused);
  });
});

describe('claims', () => {
  const claim = (status: JsonObject, metadata: JsonObject = {}, spec: JsonObject = { volumeName: 'v' }) => ({
    metadata: { name: 'c', resourceVersion: '1', ...metadata },
    spec,
    status,
  });
  const other = (fields: string) =>
    `node "mynode" is not allowed to update fields other than status.quantity and status.conditions: ${fields}`;
  it.each<[string, JsonObject, string | undefined]>([
    ['capacity and conditions', claim({ capacity: { storage: '2Gi' }, conditions: [{ type: 'Resizing' }] }), undefined],
    [
      'allocated resources',
      claim({ allocatedResources: { storage: '2Gi' }, allocatedResourceStatuses: { storage: 'x' } }),
      undefined,
    ],
    ['version and managed fields', claim({}, { resourceVersion: '', managedFields: [{ manager: 'm' }] }), undefined],
    ['phase', claim({ phase: 'Lost' }), other('status.phase')],
    [
      'labels and finalizers',
      claim({}, { labels: { a: 'b' }, finalizers: ['x/y'] }),
      other('metadata.labels, metadata.finalizers'),
    ],
    ['spec', claim({}, {}, { volumeName: 'w' }), other('spec')],
  ])('%s', async (_, object, refused) => {
    const oldObject = old(claim({}));
    expect(await ask('UPDATE', 'persistentvolumeclaims/status', object, { oldObject })).toBe(refused);
  });

  it('keep their allocated resources while the gate RecoverVolumeExpansionFailure is off', async () => {
    const given = { features: { ...defaultFeatures, RecoverVolumeExpansionFailure: false } };
    const object = claim({ allocatedResources: { storage: '2Gi' } });
    const refused = await ask('UPDATE', 'persistentvolumeclaims/status', object, { oldObject: old(claim({})) }, given);
    expect(refused).toBe(other('status.allocatedResources'));
  });

  it('are written in their status alone', async () => {
    for (const operation of ['CREATE', 'UPDATE', 'DELETE'] as const) {
      const refused = await ask(operation, 'persistentvolumeclaims', claim({}), { oldObject: old(claim({})) });
      expect(refused).toBe('may only update PVC status');
    }
  });
});

describe('tokens', () => {
  const tokenFor = (ref: JsonObject | undefined, ...audiences: string[]): JsonObject => ({
    metadata: { name: 'sa' },
    spec: { audiences, ...(ref && { boundObjectRef: ref }) },
  });
  const ref = (name: string, uid = `${name}-uid`) => ({ apiVersion: 'v1', kind: 'Pod', name, uid });
  const plain = { features: { ...defaultFeatures, ServiceAccountNodeAudienceRestriction: false } };
  it.each<[string, JsonObject | undefined, string | undefined]>([
    ['no object', undefined, 'node requested token not bound to a pod'],
    ['another kind', { ...ref('mypod'), kind: 'Secret' }, 'node requested token not bound to a pod'],
    ['another version', { ...ref('mypod'), apiVersion: 'v2' }, 'node requested token not bound to a pod'],
    ['a pod without a name', ref(''), 'node requested token not bound to a pod'],
    ['a pod without a uid', ref('mypod', ''), 'node requested token with a pod binding without a uid'],
    ['a pod that does not exist', ref('nopod'), '?? pod "nopod" not found'],
    [
      'a pod with another uid',
      ref('mypod', 'x'),
      'the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
    ],
    ['a pod on another node', ref('otherpod'), 'node requested token bound to a pod scheduled on a different node'],
    ['a pod on the node', ref('mypod'), undefined],
  ])('bound to %s', async (_, bound, refused) => {
    expect(await ask('CREATE', 'serviceaccounts/token', tokenFor(bound, 'a', 'b'), {}, plain)).toBe(refused);
  });

  it('are not concerned by writes of service accounts', async () => {
    expect(await ask('UPDATE', 'serviceaccounts', { metadata: { name: 'sa' } })).toBeUndefined();
    expect(await ask('CREATE', 'serviceaccounts', { metadata: { name: 'sa' } })).toBeUndefined();
  });

  const driver = (name: string) => stored('csidrivers', name, { spec: { tokenRequests: [{ audience: 'foo' }] } });
  const volume = (name: string, spec: JsonObject) => stored('persistentvolumes', name, { spec });
  const claim = (name: string, volumeName: string) =>
    stored('persistentvolumeclaims', name, { spec: { volumeName } }, 'ns');
  const all = [
    driver('csi.example'),
    driver('file.csi.azure.com'),
    claim('claim', 'pv'),
    claim('p-v', 'pv'),
    claim('legacy', 'azure'),
    volume('pv', { csi: { driver: 'csi.example' } }),
    volume('azure', { azureFile: { shareName: 's', secretName: 's' } }),
  ];
  const projected = (audience?: string) => ({
    projected: { sources: [{ serviceAccountToken: { path: 't', ...(audience && { audience }) } }] },
  });
  const denied = (audience: string) =>
    `audience "${audience}" not found in pod spec volume, system:node:mynode is not authorized to request tokens for this audience`;
  type Row = [
    title: string,
    source: JsonObject,
    audiences: string[],
    refused: string | undefined,
    known?: StoredObject[],
  ];
  it.each<Row>([
    ['the default audience', projected(), [], undefined],
    ['the default audience without a volume', {}, [], denied('')],
    ['the audience of a token volume', projected('foo'), ['foo'], undefined],
    ['another audience', projected('foo'), ['bar'], denied('bar')],
    ['two audiences', projected('foo'), ['foo', 'bar'], 'node may only request 0 or 1 audiences'],
    ['a CSI volume', { csi: { driver: 'csi.example' } }, ['foo'], undefined],
    ['another audience of a CSI volume', { csi: { driver: 'csi.example' } }, ['bar'], denied('bar')],
    ['a claim', { persistentVolumeClaim: { claimName: 'claim' } }, ['foo'], undefined],
    ['an ephemeral volume', { ephemeral: { volumeClaimTemplate: {} } }, ['foo'], undefined],
    ['a migrated volume', { azureFile: { shareName: 's', secretName: 's' } }, ['foo'], undefined],
    ['a claim of a migrated volume', { persistentVolumeClaim: { claimName: 'legacy' } }, ['foo'], undefined],
    [
      'an unknown claim',
      { persistentVolumeClaim: { claimName: 'claim' } },
      ['foo'],
      'error validating audience "foo": persistentvolumeclaim "claim" not found',
      [],
    ],
    [
      'a claim of an unknown volume',
      { persistentVolumeClaim: { claimName: 'claim' } },
      ['foo'],
      'error validating audience "foo": persistentvolume "pv" not found',
      [claim('claim', 'pv')],
    ],
    [
      'an unknown driver',
      { csi: { driver: 'csi.example' } },
      ['foo'],
      'error validating audience "foo": csidriver.storage.k8s.io "csi.example" not found',
      [],
    ],
  ])('for the audiences of the pod: %s', async (_, source, audiences, refused, known = all) => {
    const on = stored('pods', 'p', pod('p', 'mynode', { volumes: [{ name: 'v', ...source }] }), 'ns');
    const { objects } = fakeInitializer([on, ...known]);
    expect(await ask('CREATE', 'serviceaccounts/token', tokenFor(ref('p'), ...audiences), {}, { objects })).toBe(
      refused,
    );
  });

  it('for audiences that the node is authorized to request', async () => {
    const asked: unknown[] = [];
    const authorize: PluginInitializer['authorize'] = (user, attributes) => {
      asked.push([user.name, attributes]);
      return { allowed: true, reason: '' };
    };
    expect(
      await ask('CREATE', 'serviceaccounts/token', tokenFor(ref('mypod'), 'foo'), {}, { authorize }),
    ).toBeUndefined();
    const place = { group: '', version: 'v1', resource: 'foo', subresource: '', namespace: 'ns', name: 'sa' };
    expect(asked).toEqual([['system:node:mynode', { verb: 'request-serviceaccounts-token-audience', ...place }]]);
  });
});

describe('leases, CSINodes and ResourceSlices', () => {
  const leases = 'leases.coordination.k8s.io';
  const own = (name: string) => ({ metadata: { name } });
  it.each<[string, string, string | undefined]>([
    ['mynode', names.nodeLeaseNamespace, undefined],
    ['mynode', 'foo', 'can only access leases in the "kube-node-lease" system namespace'],
    ['foo', names.nodeLeaseNamespace, 'can only access node lease with the same name as the requesting node'],
  ])('a lease %s in %s', async (name, namespace, refused) => {
    expect(await ask('CREATE', leases, own(name), { namespace })).toBe(refused);
    expect(await ask('UPDATE', leases, own(name), { namespace, oldObject: old(own(name)) })).toBe(refused);
    expect(await ask('DELETE', leases, undefined, { namespace, name })).toBe(refused);
  });

  it.each([
    ['mynode', undefined],
    ['foo', 'can only access CSINode with the same name as the requesting node'],
  ])('a CSINode %s', async (name, refused) => {
    expect(await ask('CREATE', 'csinodes.storage.k8s.io', own(name))).toBe(refused);
    expect(await ask('DELETE', 'csinodes.storage.k8s.io', undefined, { name })).toBe(refused);
  });

  it.each<[string, JsonObject, boolean]>([
    ['of the node', { nodeName: 'mynode' }, true],
    ['of another node', { nodeName: 'other' }, false],
    ['of no node', {}, false],
  ])('a ResourceSlice %s', async (_, spec, allowed) => {
    const slice = { metadata: { name: 's' }, spec };
    const refused = (verb: string) =>
      allowed ? undefined : `can only ${verb} ResourceSlice with the same NodeName as the requesting node`;
    const resource = 'resourceslices.resource.k8s.io';
    expect(await ask('CREATE', resource, slice)).toBe(refused('create'));
    expect(await ask('DELETE', resource, undefined, { oldObject: old(slice) })).toBe(refused('delete'));
    // The authorizer decides on updates.
    expect(await ask('UPDATE', resource, slice, { oldObject: old(slice) })).toBeUndefined();
  });
});

describe('certificate signing requests', () => {
  const resource = 'certificatesigningrequests.certificates.k8s.io';
  const request = (signer: string) => ({
    metadata: { name: 'csr' },
    spec: { signerName: `kubernetes.io/${signer}`, request: '' },
  });
  const subject = (commonName: string | undefined) => ({
    requestedSubject: () => (commonName === undefined ? undefined : { commonName, organizations: [] }),
  });
  const wrong = 'can only create a node CSR with CN=system:node:mynode';
  it.each<[string, string, string | undefined, string | undefined]>([
    ['for the node', 'kubelet-serving', 'system:node:mynode', undefined],
    ['for another node', 'kubelet-serving', 'system:node:othernode', wrong],
    ['for a client that is another node', 'kube-apiserver-client-kubelet', 'system:node:othernode', wrong],
    ['without a name', 'kubelet-serving', '', wrong],
    ['of another signer', 'legacy-unknown', 'system:node:othernode', undefined],
    [
      'that cannot be read',
      'kubelet-serving',
      undefined,
      'unable to parse csr: it must be one CERTIFICATE REQUEST in PEM',
    ],
  ])('%s', async (_, signer, name, refused) => {
    expect(await ask('CREATE', resource, request(signer), {}, subject(name))).toBe(refused);
  });

  it('may be for any node with the gate AllowInsecureKubeletCertificateSigningRequests, and in updates', async () => {
    const other = subject('system:node:othernode');
    const features = { ...defaultFeatures, AllowInsecureKubeletCertificateSigningRequests: true };
    expect(await ask('CREATE', resource, request('kubelet-serving'), {}, { ...other, features })).toBeUndefined();
    const oldObject = old(request('kubelet-serving'));
    expect(await ask('UPDATE', resource, request('kubelet-serving'), { oldObject }, other)).toBeUndefined();
  });
});
