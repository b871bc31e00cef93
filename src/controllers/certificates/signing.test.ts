import { X509Certificate } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { issueCertificate } from '../../pki/index.ts';
import {
  certificateRequest,
  commonName,
  organization,
  type TestRequest,
} from '../../pki/testing/certificate-request.ts';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { certificateSigner } from './signing.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const [start, day, minute] = [Date.UTC(2026, 0, 1), 86_400_000, 60_000];
const end = start + 100 * day;
const authority = issueCertificate({ commonName: 'root', usage: 'authority', notBefore: start - day, notAfter: end });

const open = async (signingMs = 365 * day) => {
  cluster = await testCluster([certificateSigner], { settings: { signingAuthority: () => authority, signingMs } });
};

interface Case {
  readonly signer?: string;
  readonly request?: TestRequest;
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number | undefined;
  readonly condition?: 'Approved' | 'Denied' | 'Failed' | 'none';
}

/** The certificate and the conditions of a request after the signer has seen it with its condition. */
async function resultOf({
  signer = 'kubernetes.io/kube-apiserver-client',
  request = { subject: [organization('devs'), commonName('alice')] },
  usages = ['client auth'],
  expirationSeconds,
  condition: type = 'Approved',
}: Case) {
  const { client } = cluster;
  const spec = {
    request: Buffer.from(certificateRequest(request)).toString('base64'),
    signerName: signer,
    usages: [...usages],
    ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
  };
  const metadata = { generateName: 'csr-' };
  const created = await client.kind(kinds.certificateSigningRequests).create({ metadata, spec });
  const status = { conditions: [{ type, status: 'True', reason: 'Checked' }] };
  const subresource = type === 'Failed' ? 'status' : 'approval';
  if (type !== 'none')
    await client
      .kind(kinds.certificateSigningRequests)
      .subresource(subresource)
      .update({ ...created, status });
  await cluster.settle();
  const actual = await client.kind(kinds.certificateSigningRequests).get({ name: created.metadata.name ?? '' });
  const { certificate = '', conditions = [] } = actual.status ?? {};
  return {
    certificate: certificate === '' ? undefined : new X509Certificate(Buffer.from(certificate, 'base64')),
    conditions: conditions.map((condition) => ({
      type: condition.type,
      status: condition.status,
      reason: condition.reason,
      message: condition.message,
    })),
  };
}

const approved = { type: 'Approved', status: 'True', reason: 'Checked' };
const node = [organization('system:nodes'), commonName('system:node:a')];

describe('certificatesigningrequest-signing-controller', () => {
  it('signs with the subject, the usages and the key of the request', async () => {
    await open();
    const { certificate, conditions } = await resultOf({ usages: ['digital signature', 'client auth'] });
    expect(certificate).toMatchObject({ subject: 'O=devs\nCN=alice', keyUsage: ['1.3.6.1.5.5.7.3.2'], ca: false });
    expect(certificate?.verify(new X509Certificate(authority.cert).publicKey)).toBe(true);
    expect(conditions).toEqual([approved]);
    expect(cluster.logged).toEqual([]);
  });

  it('signs for nodes', async () => {
    await open();
    const client = ['client auth', 'digital signature'];
    const signer = 'kubernetes.io/kube-apiserver-client-kubelet';
    const asClient = await resultOf({ signer, request: { subject: node }, usages: client });
    expect(asClient.certificate?.subject).toBe('O=system:nodes\nCN=system:node:a');
    const asServer = await resultOf({
      signer: 'kubernetes.io/kubelet-serving',
      request: { subject: node, dns: ['a.example'], ips: ['10.0.0.1'] },
      usages: ['server auth', 'digital signature', 'key encipherment'],
    });
    expect(asServer.certificate?.subjectAltName).toBe('DNS:a.example, IP Address:10.0.0.1');
  });

  it.each([
    ['kubernetes.io/kube-apiserver-client', 'invalid usage for client certificate: server auth'],
    ['kubernetes.io/kube-apiserver-client-kubelet', 'DNS subjectAltNames are not allowed'],
    ['kubernetes.io/kubelet-serving', 'usages did not match [digital signature key encipherment server auth]'],
  ])('says in a condition why %s does not sign', async (signer, message) => {
    await open();
    const request = { subject: node, dns: ['a.example'] };
    const { certificate, conditions } = await resultOf({ signer, request, usages: ['client auth', 'server auth'] });
    expect(certificate).toBeUndefined();
    const failed = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message };
    expect(conditions).toEqual([approved, failed]);
    expect(cluster.logged).toEqual([]);
  });

  it('signs no request that is not approved, has failed, or is to another signer', async () => {
    await open();
    const cases: Case[] = [
      { condition: 'none' },
      { condition: 'Denied' },
      { condition: 'Failed' },
      { signer: 'kubernetes.io/not-recognised' },
      { signer: 'example.com/kube-apiserver-client' },
    ];
    for (const request of cases) {
      const { certificate, conditions } = await resultOf(request);
      const { condition = 'Approved' } = request;
      expect(certificate).toBeUndefined();
      expect(conditions.map(({ type }) => type)).toEqual(condition === 'none' ? [] : [condition]);
    }
  });

  it.each([
    ['an hour', 60 * minute, undefined, 60 * minute],
    ['an hour, of which half is requested', 60 * minute, 1_800, 30 * minute],
    ['an hour, where more is requested', 60 * minute, 3 * 3_600, 60 * minute],
    ['an hour, where the least is requested', 60 * minute, 600, 10 * minute],
    ['a day, counted from the earlier beginning', day, undefined, day - 5 * minute],
    ['a year, longer than the authority', 365 * day, undefined, end - start],
  ])('issues certificates for %s', async (_, signingMs, expirationSeconds, expected) => {
    await open(signingMs);
    const { certificate } = await resultOf({ expirationSeconds });
    const now = cluster.clock.now();
    expect(Date.parse(certificate?.validFrom ?? '') - now).toBe(-5 * minute);
    expect(Date.parse(certificate?.validTo ?? '') - now).toBe(expected);
  });

  it('retries while the authority has expired', async () => {
    await open();
    cluster.clock.set(end);
    const { certificate } = await resultOf({});
    expect(certificate).toBeUndefined();
    expect(String(cluster.logged[0]?.fields['error'])).toMatch('the signer has expired: NotAfter=2026-04-11T00:00:00Z');
  });

  it('does not start without an authority', async () => {
    cluster = await testCluster([certificateSigner]);
    expect([...cluster.controllers.informers.all]).toEqual([]);
  });
});
