import { afterEach, describe, expect, it } from 'vitest';
import { serviceCidrsController } from './service-cidrs.ts';
import * as kinds from './shared/kinds.ts';
import { type TestCluster, testCluster } from './testing/cluster.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

async function start() {
  cluster = await testCluster([serviceCidrsController], { server: { serviceClusterIpRange: '10.0.0.0/24' } });
  return cluster.client;
}
const range = (name: string, ...cidrs: string[]) => ({ metadata: { name }, spec: { cidrs } });
const find = (name: string) => cluster.client.kind(kinds.serviceCidrs).find({ name });
const conditionOf = async (name: string) =>
  (await find(name))?.status?.conditions?.find(({ type }) => type === 'Ready');

async function createRange(name: string, ...cidrs: string[]) {
  await cluster.client.kind(kinds.serviceCidrs).create(range(name, ...cidrs));
  await cluster.settle();
}
async function createService(clusterIP: string) {
  const metadata = { namespace: 'default', name: 'web' };
  await cluster.client.kind(kinds.services).create({ metadata, spec: { clusterIP, ports: [{ port: 80 }] } });
  await cluster.settle();
}
/** Deletes the range, and lets the time pass until it may be gone. */
async function deleteRange(name: string) {
  await cluster.client.kind(kinds.serviceCidrs).delete({ name });
  await cluster.advance(11_000);
}

describe('service-cidr-controller', () => {
  it('gives ranges a finalizer and the condition Ready', async () => {
    await start();
    await createRange('extra', '10.1.0.0/24');
    expect((await find('extra'))?.metadata.finalizers).toEqual(['networking.k8s.io/service-cidr-finalizer']);
    expect(await conditionOf('extra')).toMatchObject({
      status: 'True',
      reason: '',
      message: 'Kubernetes Service CIDR is ready',
    });
    const { resourceVersion } = (await find('extra'))?.metadata ?? {};
    await cluster.restart(async () => {});
    expect((await find('extra'))?.metadata.resourceVersion).toBe(resourceVersion);
    expect(cluster.logged).toEqual([]);
  });

  it('removes the finalizer of a deleted range when its time is over', async () => {
    const client = await start();
    await createRange('extra', '10.1.0.0/24');
    await client.kind(kinds.serviceCidrs).delete({ name: 'extra' });
    await cluster.advance(9_000);
    expect(await find('extra')).toBeDefined();
    await cluster.advance(2_000);
    expect(await find('extra')).toBeUndefined();
    expect(cluster.logged).toEqual([]);
  });

  it('keeps a range while a service has an address of it', async () => {
    const client = await start();
    await createRange('extra', '10.1.0.0/24');
    await createService('10.1.0.5');
    await deleteRange('extra');
    expect(await conditionOf('extra')).toMatchObject({
      status: 'False',
      reason: 'Terminating',
      message:
        'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
    });
    await client.kind(kinds.services).delete({ namespace: 'default', name: 'web' });
    await cluster.settle();
    expect(await find('extra')).toBeUndefined();
  });

  it.each([
    ['the same', '10.1.0.0/24', true],
    ['a larger range', '10.1.0.0/16', true],
    ['a smaller range with the address', '10.1.0.0/28', true],
    ['a smaller range without the address', '10.1.0.64/28', false],
    ['a range of which it is the first address', '10.1.0.5/32', false],
  ])('lets a range with addresses go when there is %s', async (_, other, expected) => {
    await start();
    await createRange('extra', '10.1.0.0/24');
    await createService('10.1.0.5');
    await deleteRange('extra');
    expect(await find('extra')).toBeDefined();
    await createRange('other', other);
    expect((await find('extra')) === undefined).toBe(expected);
  });
});
