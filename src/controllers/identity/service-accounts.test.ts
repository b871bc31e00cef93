import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { serviceAccountController } from './service-accounts.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

describe('serviceaccount-controller', () => {
  it('creates the default service account in every namespace, and again when it is deleted', async () => {
    cluster = await testCluster([serviceAccountController]);
    const { client } = cluster;
    const uidOf = async (namespace: string) => {
      const account = await client.kind(kinds.serviceAccounts).find({ namespace, name: 'default' });
      return account?.metadata.uid;
    };
    expect(await uidOf('kube-system')).toBeDefined();
    await client.kind(kinds.namespaces).create({ metadata: { name: 'team' } });
    await cluster.settle();
    const first = await uidOf('team');
    expect(first).toBeDefined();
    await client.kind(kinds.serviceAccounts).delete({ namespace: 'team', name: 'default' });
    await cluster.settle();
    const second = await uidOf('team');
    expect(second).toBeDefined();
    expect(second).not.toBe(first);
  });

  it('creates none in a namespace that is being deleted', async () => {
    cluster = await testCluster([serviceAccountController]);
    const { client } = cluster;
    await client.kind(kinds.namespaces).create({ metadata: { name: 'team' } });
    await cluster.settle();
    await client.kind(kinds.namespaces).delete({ name: 'team' });
    await client.kind(kinds.serviceAccounts).delete({ namespace: 'team', name: 'default' });
    await cluster.settle();
    expect((await client.kind(kinds.serviceAccounts).list({ namespace: 'team' })).items).toEqual([]);
    expect(cluster.logged).toEqual([]);
  });
});
