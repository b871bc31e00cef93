import { afterEach, describe, expect, it } from 'vitest';
import type { SecretToken } from '../manager/settings.ts';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { secretTokenController } from './secret-tokens.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const namespace = 'default';
const nameKey = 'kubernetes.io/service-account.name';
const uidKey = 'kubernetes.io/service-account.uid';
const encode = (text: string) => Buffer.from(text).toString('base64');

/** A cluster with the service account `robot` of the result's uid. */
async function start(listed: readonly string[] = []) {
  const signed: SecretToken[] = [];
  const signSecretToken = (token: SecretToken) => {
    signed.push(token);
    return Promise.resolve('signed');
  };
  let certificates = 'the certificates';
  const settings = { rootCertificates: () => certificates, signSecretToken };
  cluster = await testCluster([secretTokenController], { settings });
  const { client } = cluster;
  const secrets = listed.map((name) => ({ name }));
  const robot = await client.kind(kinds.serviceAccounts).create({ metadata: { namespace, name: 'robot' }, secrets });
  await cluster.settle();
  const create = async (annotations: { [key: string]: string }, data: { [key: string]: string } = {}) => {
    const encoded = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, encode(value)]));
    const type = 'kubernetes.io/service-account-token';
    await client.kind(kinds.secrets).create({ metadata: { namespace, name: 'tok', annotations }, type, data: encoded });
    await cluster.settle();
    const actual = await client.kind(kinds.secrets).find({ namespace, name: 'tok' });
    if (actual === undefined) return undefined;
    const texts = Object.entries(actual.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]);
    return { annotations: actual.metadata.annotations, data: Object.fromEntries(texts) as typeof data };
  };
  const renew = (text: string) => {
    certificates = text;
  };
  return { client, create, signed, renew, robot, uid: robot.metadata.uid ?? '' };
}

const complete = { token: 'ABC', 'ca.crt': 'the certificates', namespace };

describe('serviceaccount-token-controller', () => {
  it('fills a new secret', async () => {
    const { create, signed, uid } = await start();
    expect(await create({ [nameKey]: 'robot' })).toEqual({
      annotations: { [nameKey]: 'robot', [uidKey]: uid },
      data: { ...complete, token: 'signed' },
    });
    expect(signed).toEqual([{ namespace, secret: 'tok', name: 'robot', uid }]);
    expect(cluster.logged).toEqual([]);
  });

  it.each([
    ['keeps a complete secret', complete, complete, 0],
    ['adds a token', { ...complete, token: '' }, { ...complete, token: 'signed' }, 1],
    ['adds certificates', { token: 'ABC', namespace }, complete, 0],
    ['replaces other certificates', { ...complete, 'ca.crt': 'other' }, complete, 0],
    ['adds the namespace', { ...complete, namespace: '' }, complete, 0],
    ['keeps another namespace', { ...complete, namespace: 'custom' }, { ...complete, namespace: 'custom' }, 0],
    ['keeps other keys', { ...complete, token: '', more: 'x' }, { ...complete, token: 'signed', more: 'x' }, 1],
  ])('%s', async (_, data, expected, tokens) => {
    const { create, signed, uid } = await start();
    expect(await create({ [nameKey]: 'robot', [uidKey]: uid }, data)).toMatchObject({ data: expected });
    expect(signed).toHaveLength(tokens);
  });

  it('fills in a token that is removed', async () => {
    const { client, create, signed } = await start();
    await create({ [nameKey]: 'robot' });
    await client.kind(kinds.secrets).patch({ namespace, name: 'tok' }, 'merge', { data: { token: null } });
    await cluster.settle();
    expect((await client.kind(kinds.secrets).get({ namespace, name: 'tok' })).data?.['token']).toBe(encode('signed'));
    expect(signed).toHaveLength(2);
  });

  it('replaces certificates within a minute of their change', async () => {
    const { client, create, renew } = await start();
    await create({ [nameKey]: 'robot' });
    renew('others');
    await cluster.advance(60_000);
    expect((await client.kind(kinds.secrets).get({ namespace, name: 'tok' })).data?.['ca.crt']).toBe(encode('others'));
  });

  it.each([
    ['does not exist', { [nameKey]: 'nobody' }],
    ['has another uid', { [nameKey]: 'robot', [uidKey]: '00000000-0000-4000-8000-000000000000' }],
  ])('deletes a secret whose account %s', async (_, annotations) => {
    const { create } = await start();
    expect(await create(annotations, complete)).toBeUndefined();
    expect(cluster.logged).toEqual([]);
  });

  it.each(['a/b', '..', '%2e'])('leaves a secret alone whose account %j is not a name', async (name) => {
    const { create } = await start();
    expect(await create({ [nameKey]: name })).toEqual({ annotations: { [nameKey]: name }, data: {} });
    expect(cluster.logged).toEqual([]);
  });

  it('deletes the secret with its account, and no other', async () => {
    const { client, create, robot } = await start(['tok', 'opaque']);
    await create({ [nameKey]: 'robot' });
    await client.kind(kinds.secrets).create({
      metadata: { namespace, name: 'opaque', annotations: { [nameKey]: 'robot' } },
    });
    await client.kind(kinds.serviceAccounts).delete(robot.metadata);
    await cluster.settle();
    expect(await client.kind(kinds.secrets).find({ namespace, name: 'tok' })).toBeUndefined();
    expect(await client.kind(kinds.secrets).find({ namespace, name: 'opaque' })).toBeDefined();
  });

  it('deletes the secret also when the account is created again', async () => {
    const { client, create, robot } = await start();
    await create({ [nameKey]: 'robot' });
    await client.kind(kinds.serviceAccounts).delete(robot.metadata);
    await client.kind(kinds.serviceAccounts).create({ metadata: { namespace, name: 'robot' } });
    await cluster.settle();
    expect(await client.kind(kinds.secrets).find({ namespace, name: 'tok' })).toBeUndefined();
  });

  it('removes a deleted secret from the list of its account', async () => {
    const { client, create } = await start(['tok', 'opaque']);
    await create({ [nameKey]: 'robot' });
    await client.kind(kinds.secrets).delete({ namespace, name: 'tok' });
    await cluster.settle();
    expect((await client.kind(kinds.serviceAccounts).get({ namespace, name: 'robot' })).secrets).toEqual([
      { name: 'opaque' },
    ]);
  });

  it('does not change an account that does not list the deleted secret', async () => {
    const { client, create, robot } = await start(['missing']);
    await create({ [nameKey]: 'robot' });
    await client.kind(kinds.secrets).delete({ namespace, name: 'tok' });
    await cluster.settle();
    const { metadata } = await client.kind(kinds.serviceAccounts).get({ namespace, name: 'robot' });
    expect(metadata.resourceVersion).toBe(robot.metadata.resourceVersion);
  });

  it('does nothing without a key', async () => {
    cluster = await testCluster([secretTokenController]);
    expect([...cluster.controllers.informers.all]).toEqual([]);
  });
});
