import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { rootCertificatePublisher } from './root-certificates.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const name = 'kube-root-ca.crt';
const annotation = 'kubernetes.io/description';
const start = async (certificates = () => 'the certificates') => {
  cluster = await testCluster([rootCertificatePublisher], { settings: { rootCertificates: certificates } });
  return cluster.client;
};
const published = async (namespace: string) => {
  const actual = await cluster.client.kind(kinds.configMaps).find({ namespace, name });
  return actual && { data: actual.data, binaryData: actual.binaryData, annotations: actual.metadata.annotations };
};
const text =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';
const expected = { data: { 'ca.crt': 'the certificates' }, annotations: { [annotation]: text } };

describe('root-ca-certificate-publisher-controller', () => {
  it('publishes the certificates in every namespace', async () => {
    const client = await start();
    expect(await published('default')).toEqual(expected);
    await client.kind(kinds.namespaces).create({ metadata: { name: 'team' } });
    await cluster.settle();
    expect(await published('team')).toEqual(expected);
    expect(cluster.logged).toEqual([]);
  });

  it('creates the config map again when it is deleted', async () => {
    const client = await start();
    const before = await client.kind(kinds.configMaps).get({ namespace: 'default', name });
    await client.kind(kinds.configMaps).delete(before.metadata);
    await cluster.settle();
    expect(await published('default')).toEqual(expected);
    expect((await client.kind(kinds.configMaps).get({ namespace: 'default', name })).metadata.uid).not.toBe(
      before.metadata.uid,
    );
  });

  it.each([
    ['other certificates', { data: { 'ca.crt': 'mine' } }],
    ['another key', { data: { more: 'x' } }],
    ['no certificates', { data: null }],
    ['no description', { metadata: { annotations: { [annotation]: null } } }],
    ['an empty description', { metadata: { annotations: { [annotation]: '' } } }],
  ])('restores a config map with %s', async (_, patch) => {
    const client = await start();
    await client.kind(kinds.configMaps).patch({ namespace: 'default', name }, 'merge', patch);
    await cluster.settle();
    expect(await published('default')).toEqual(expected);
    expect(cluster.logged).toEqual([]);
  });

  it('keeps a description of the user, other annotations and other config maps', async () => {
    const client = await start();
    const own = { [annotation]: 'mine', 'example.com/more': 'x' };
    const place = { metadata: { namespace: 'default', name } };
    const { metadata } = await client
      .kind(kinds.configMaps)
      .patch(place.metadata, 'merge', { metadata: { annotations: own } });
    await client.kind(kinds.configMaps).create({ metadata: { namespace: 'default', name: 'other' }, data: { a: 'b' } });
    await cluster.settle();
    expect((await client.kind(kinds.configMaps).get({ namespace: 'default', name })).metadata.resourceVersion).toBe(
      metadata.resourceVersion,
    );
    expect((await client.kind(kinds.configMaps).get({ namespace: 'default', name: 'other' })).data).toEqual({ a: 'b' });
    // An update for another reason replaces the description only.
    await client.kind(kinds.configMaps).patch(place.metadata, 'merge', { data: { 'ca.crt': 'mine' } });
    await cluster.settle();
    expect(await published('default')).toEqual({ ...expected, annotations: { ...own, [annotation]: text } });
  });

  it('publishes new certificates within a minute', async () => {
    let certificates = 'the certificates';
    await start(() => certificates);
    certificates = 'others';
    await cluster.advance(60_000);
    expect(await published('default')).toEqual({ ...expected, data: { 'ca.crt': 'others' } });
  });

  it('creates none in a namespace that is being deleted', async () => {
    const client = await start();
    await client.kind(kinds.namespaces).create({ metadata: { name: 'team' } });
    await cluster.settle();
    await client.kind(kinds.namespaces).delete({ name: 'team' });
    await client.kind(kinds.configMaps).delete({ namespace: 'team', name });
    await cluster.settle();
    expect(await published('team')).toBeUndefined();
    expect(cluster.logged).toEqual([]);
  });

  it('publishes nothing without certificates', async () => {
    cluster = await testCluster([rootCertificatePublisher]);
    expect(await published('default')).toBeUndefined();
  });
});
