import { afterEach, describe, expect, it } from 'vitest';
import { certificateRequest, commonName, organization } from '../../pki/testing/certificate-request.ts';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { certificateApprover } from './approving.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const user = 'system:node:a';
const signer = 'kubernetes.io/kube-apiserver-client-kubelet';
const role = (name: string) => `system:certificates.k8s.io:certificatesigningrequests:${name}`;

const bind = async (name: string) => {
  const place = { apiVersion: 'rbac.authorization.k8s.io/v1', resource: 'clusterrolebindings' };
  const object = {
    apiVersion: place.apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { generateName: 'nodes-' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:nodes' }],
  };
  await cluster.client.create(place, object);
};

/** The conditions of a request by the node `a`, who may create requests and has these roles. */
async function conditionsOf(roles: readonly string[], more: { cn?: string; signer?: string; usages?: string[] } = {}) {
  cluster = await testCluster([certificateApprover]);
  for (const name of ['system:node-bootstrapper', ...roles.map(role)]) await bind(name);
  const { cn = user, signer: signerName = signer, usages = ['client auth', 'digital signature'] } = more;
  const request = certificateRequest({ subject: [organization('system:nodes'), commonName(cn)] });
  const spec = { request: Buffer.from(request).toString('base64'), signerName, usages };
  await cluster
    .as(user, ['system:nodes'])
    .kind(kinds.certificateSigningRequests)
    .create({ metadata: { name: 'csr' }, spec });
  await cluster.settle();
  return conditions();
}

const conditions = async () => {
  const { status } = await cluster.client.kind(kinds.certificateSigningRequests).get({ name: 'csr' });
  return status?.conditions?.map(({ type, status: value, reason, message }) => ({
    type,
    status: value,
    reason,
    message,
  }));
};

const approved = (message: string) => [{ type: 'Approved', status: 'True', reason: 'AutoApproved', message }];
const own = approved('Auto approving self kubelet client certificate after SubjectAccessReview.');
const other = approved('Auto approving kubelet client certificate after SubjectAccessReview.');

describe('certificatesigningrequest-approving-controller', () => {
  it.each([
    ['its own certificate', ['selfnodeclient', 'nodeclient'], {}, own],
    ['its own certificate as that of any node', ['nodeclient'], {}, other],
    ['the certificate of another node', ['selfnodeclient', 'nodeclient'], { cn: 'system:node:b' }, other],
  ])('approves that a node who may do so asks for %s', async (_, roles, more, expected) => {
    expect(await conditionsOf(roles, more)).toEqual(expected);
    expect(cluster.logged).toEqual([]);
  });

  it.each([
    ['a node may not ask', [], {}],
    ['a node may ask for its own certificate only', ['selfnodeclient'], { cn: 'system:node:b' }],
    ['the common name is not that of a node', ['selfnodeclient', 'nodeclient'], { cn: 'mike' }],
    ['there are other usages', ['selfnodeclient', 'nodeclient'], { usages: ['client auth', 'server auth'] }],
    ['there is another signer', ['selfnodeclient', 'nodeclient'], { signer: 'kubernetes.io/kubelet-serving' }],
  ])('does not approve when %s', async (_, roles, more) => {
    expect(await conditionsOf(roles, more)).toBeUndefined();
    expect(cluster.logged).toEqual([]);
  });

  it('approves a request once it is permitted', async () => {
    expect(await conditionsOf([])).toBeUndefined();
    await cluster.advance(1_000);
    await bind(role('nodeclient'));
    await cluster.advance(4_000);
    expect(await conditions()).toEqual(other);
  });
});
