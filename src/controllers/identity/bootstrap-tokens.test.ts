import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import type { Controller } from '../types.ts';
import { bootstrapSigner, tokenCleaner } from './bootstrap-tokens.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const [system, minute] = ['kube-system', 60_000];
const timeIn = (ms: number) => new Date(cluster.clock.now() + ms).toISOString();
const start = async (controller: Controller) => {
  cluster = await testCluster([controller]);
  return cluster.client;
};
const create = async (id: string, data: { [key: string]: string }, more: { type?: string; name?: string } = {}) => {
  const { type = 'bootstrap.kubernetes.io/token', name = `bootstrap-token-${id}` } = more;
  const stringData = { 'token-id': id, 'token-secret': 'abcdef0123456789', ...data };
  await cluster.client.kind(kinds.secrets).create({ metadata: { namespace: system, name }, type, stringData });
  await cluster.settle();
};
const exists = async (id: string) =>
  (await cluster.client.kind(kinds.secrets).find({ namespace: system, name: `bootstrap-token-${id}` })) !== undefined;

describe('token-cleaner-controller', () => {
  it.each([
    ['has expired', () => timeIn(-minute), false],
    ['expires now', () => timeIn(0), false],
    ['has an expiration that is not a time', () => 'tomorrow', false],
    ['has an expiration without offset', () => '2030-01-01T00:00:00', false],
    ['expires later', () => timeIn(minute), true],
    ['expires in years', () => '9999-12-31T23:59:59Z', true],
    ['never expires', () => '', true],
  ])('of a token that %s', async (_, expiration, isRetained) => {
    await start(tokenCleaner);
    await create('abc123', { expiration: expiration() });
    expect(await exists('abc123')).toBe(isRetained);
    expect(cluster.logged).toEqual([]);
  });

  it('deletes a token at the time when it expires', async () => {
    await start(tokenCleaner);
    await create('abc123', { expiration: timeIn(minute) });
    await cluster.advance(minute - 1);
    expect(await exists('abc123')).toBe(true);
    await cluster.advance(1);
    expect(await exists('abc123')).toBe(false);
  });

  it('follows an expiration that is changed', async () => {
    const client = await start(tokenCleaner);
    await create('abc123', { expiration: timeIn(minute) });
    const place = { metadata: { namespace: system, name: 'bootstrap-token-abc123' } };
    await client.kind(kinds.secrets).patch(place.metadata, 'merge', { stringData: { expiration: timeIn(2 * minute) } });
    await cluster.advance(minute);
    expect(await exists('abc123')).toBe(true);
    await cluster.advance(minute);
    expect(await exists('abc123')).toBe(false);
  });

  it('keeps secrets of other types and namespaces', async () => {
    const client = await start(tokenCleaner);
    await create('abc123', { expiration: timeIn(-minute) }, { type: 'Opaque' });
    const metadata = { namespace: 'default', name: 'bootstrap-token-def456' };
    const stringData = { expiration: timeIn(-minute) };
    await client.kind(kinds.secrets).create({ metadata, type: 'bootstrap.kubernetes.io/token', stringData });
    await cluster.settle();
    expect(await exists('abc123')).toBe(true);
    expect(
      await client.kind(kinds.secrets).find({ namespace: 'default', name: 'bootstrap-token-def456' }),
    ).toBeDefined();
  });
});

describe('bootstrap-signer-controller', () => {
  const place = { metadata: { namespace: 'kube-public', name: 'cluster-info' } };
  const kubeconfig = 'apiVersion: v1\nkind: Config\n';
  const signing = { 'usage-bootstrap-signing': 'true' };
  const publish = async (data: { [key: string]: string }) => {
    await cluster.client.kind(kinds.configMaps).create({ ...place, data });
    await cluster.settle();
  };
  const info = async () =>
    (await cluster.client.kind(kinds.configMaps).get({ namespace: 'kube-public', name: 'cluster-info' })).data;
  const jws = 'eyJhbGciOiJIUzI1NiIsImtpZCI6ImFhYWFhMSJ9..R95qHPc6GKmCxkISyWfHAbp1SN0IWVoDrcnIE7b3hrY';

  it('signs the kubeconfig with every token', async () => {
    await start(bootstrapSigner);
    await create('aaaaa1', signing);
    await create('aaaaa2', { ...signing, 'token-secret': 'my voice is my passport' });
    await publish({ kubeconfig, other: 'x' });
    const header = Buffer.from('{"alg":"HS256","kid":"aaaaa2"}').toString('base64url');
    const input = `${header}.${Buffer.from(kubeconfig).toString('base64url')}`;
    const second = createHmac('sha256', 'my voice is my passport').update(input).digest('base64url');
    expect(await info()).toEqual({
      kubeconfig,
      other: 'x',
      'jws-kubeconfig-aaaaa1': jws,
      'jws-kubeconfig-aaaaa2': `${header}..${second}`,
    });
    expect(cluster.logged).toEqual([]);
  });

  it('signs again what has changed, and removes the signature of a token that is deleted', async () => {
    const client = await start(bootstrapSigner);
    await publish({ kubeconfig: 'old' });
    await create('aaaaa1', signing);
    const old = (await info())?.['jws-kubeconfig-aaaaa1'];
    await client.kind(kinds.configMaps).patch(place.metadata, 'merge', { data: { kubeconfig } });
    await cluster.settle();
    expect(old).toMatch(/^eyJhbGciOiJIUzI1NiIsImtpZCI6ImFhYWFhMSJ9\.\./);
    expect(await info()).toEqual({ kubeconfig, 'jws-kubeconfig-aaaaa1': jws });
    await client.kind(kinds.secrets).delete({ namespace: system, name: 'bootstrap-token-aaaaa1' });
    await cluster.settle();
    expect(await info()).toEqual({ kubeconfig });
  });

  it.each([
    ['is for signing', {}, {}, true],
    ['expires later', { expiration: '2999-01-01T00:00:00Z' }, {}, true],
    ['has expired', { expiration: '2020-01-01T00:00:00Z' }, {}, false],
    ['has an expiration that is not a time', { expiration: 'garbage' }, {}, false],
    ['is not for signing', { 'usage-bootstrap-signing': 'false' }, {}, false],
    ['has no usage', { 'usage-bootstrap-signing': '' }, {}, false],
    ['has no id', { 'token-id': '' }, {}, false],
    ['has another id', { 'token-id': 'aaaaa2' }, {}, false],
    ['has no secret', { 'token-secret': '' }, {}, false],
    ['has another name', {}, { name: 'token-aaaaa1' }, false],
    ['is of another type', {}, { type: 'Opaque' }, false],
  ])('of a token that %s', async (_, data, more, signs) => {
    await start(bootstrapSigner);
    await create('aaaaa1', { ...signing, ...data }, more);
    await publish({ kubeconfig, 'jws-kubeconfig-aaaaa2': 'stale' });
    expect(await info()).toEqual({ kubeconfig, ...(signs ? { 'jws-kubeconfig-aaaaa1': jws } : {}) });
  });

  it('changes nothing that is signed already, or without a kubeconfig', async () => {
    const client = await start(bootstrapSigner);
    await create('aaaaa1', signing);
    await publish({ kubeconfig });
    const { metadata } = await client.kind(kinds.configMaps).get({ namespace: 'kube-public', name: 'cluster-info' });
    await create('aaaaa2', {});
    expect(
      (await client.kind(kinds.configMaps).get({ namespace: 'kube-public', name: 'cluster-info' })).metadata,
    ).toEqual(metadata);
    await client
      .kind(kinds.configMaps)
      .patch(place.metadata, 'merge', { data: { kubeconfig: null, 'jws-kubeconfig-aaaaa2': 'x' } });
    await cluster.settle();
    expect(await info()).toEqual({ 'jws-kubeconfig-aaaaa1': jws, 'jws-kubeconfig-aaaaa2': 'x' });
  });
});
