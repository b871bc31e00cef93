import { afterEach, describe, expect, it } from 'vitest';
import { formatTime } from '../../meta/index.ts';
import { issueCertificate } from '../../pki/index.ts';
import { certificateRequest, commonName } from '../../pki/testing/certificate-request.ts';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { certificateCleaner, isUseless } from './cleaner.ts';

const [now, minute, hour] = [Date.UTC(2026, 0, 2), 60_000, 3_600_000];
const certificate = (notAfter: number) =>
  Buffer.from(issueCertificate({ commonName: 'a', usage: 'client', notBefore: now - hour, notAfter }).cert).toString(
    'base64',
  );
const [valid, expired] = [certificate(now + hour), certificate(now - minute)];
const garbage = Buffer.from('garbage').toString('base64');

describe('a certificate signing request is no longer needed', () => {
  it.each([
    ['approved and issued lately', minute, valid, { Approved: 50 * minute }, false],
    ['approved lately and not issued', minute, '', { Approved: 50 * minute }, false],
    ['approved and issued', minute, valid, { Approved: 2 * hour }, true],
    ['approved and issued exactly an hour ago', minute, valid, { Approved: hour }, false],
    ['denied lately', minute, '', { Denied: 50 * minute }, false],
    ['denied', minute, '', { Denied: 2 * hour }, true],
    ['failed lately', minute, '', { Approved: 2 * hour, Failed: 50 * minute }, false],
    ['failed', minute, '', { Approved: 2 * hour, Failed: 2 * hour }, true],
    ['pending', 5 * hour, '', {}, false],
    ['pending for more than a day', 25 * hour, '', {}, true],
    ['approved for more than a day and not issued', minute, '', { Approved: 25 * hour }, true],
    ['approved for hours and not issued', minute, '', { Approved: 5 * hour }, false],
    ['approved lately with an expired certificate', minute, expired, { Approved: 50 * minute }, true],
    ['approved lately with a certificate that cannot be parsed', minute, garbage, { Approved: 50 * minute }, false],
    ['approved with a certificate that cannot be parsed', minute, garbage, { Approved: 2 * hour }, true],
    ['decided at an unknown time', 25 * hour, '', { Denied: undefined }, false],
  ] satisfies [string, number, string, { [type: string]: number | undefined }, boolean][])(
    '%s',
    (_, age, issued, conditions, expected) => {
      const timeOf = (ms: number) => formatTime(now - ms);
      const entries: [string, number | undefined][] = Object.entries(conditions);
      const listed = entries.map(([type, ms]) => ({
        type,
        status: 'True',
        ...(ms === undefined ? {} : { lastUpdateTime: timeOf(ms) }),
      }));
      const status = { certificate: issued, conditions: listed };
      expect(isUseless({ metadata: { creationTimestamp: timeOf(age) }, status }, now)).toBe(expected);
    },
  );
});

describe('certificatesigningrequest-cleaner-controller', () => {
  let cluster: TestCluster;
  afterEach(() => cluster.close());

  it('deletes such requests every hour', async () => {
    cluster = await testCluster([certificateCleaner]);
    const { client } = cluster;
    const request = Buffer.from(certificateRequest({ subject: [commonName('alice')] })).toString('base64');
    const spec = { request, signerName: 'example.com/own', usages: ['client auth'] };
    const created = await client.kind(kinds.certificateSigningRequests).create({ metadata: { name: 'csr' }, spec });
    const status = { conditions: [{ type: 'Denied', status: 'True', reason: 'Checked' }] };
    await client
      .kind(kinds.certificateSigningRequests)
      .subresource('approval')
      .update({ ...created, status });
    cluster.clock.set(cluster.clock.now() + hour);
    await cluster.settle();
    expect(await client.kind(kinds.certificateSigningRequests).find({ name: 'csr' })).toBeDefined();
    cluster.clock.set(cluster.clock.now() + hour);
    await cluster.settle();
    expect(await client.kind(kinds.certificateSigningRequests).find({ name: 'csr' })).toBeUndefined();
    expect(cluster.logged).toEqual([]);
  });
});
