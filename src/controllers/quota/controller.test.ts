import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { resourceQuotaController } from './controller.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const q = { metadata: { namespace: 'default', name: 'q' } };

async function start(hard: { [name: string]: string }, spec = {}) {
  cluster = await testCluster([resourceQuotaController]);
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
  await cluster.client.kind(kinds.resourceQuotas).create({ ...q, spec: { hard, ...spec } });
  await cluster.settle();
}
const status = async () =>
  (await cluster.client.kind(kinds.resourceQuotas).get({ namespace: 'default', name: 'q' })).status;
const used = async () => (await status())?.used;
const addMap = (name: string) =>
  cluster.client.kind(kinds.configMaps).create({ metadata: { namespace: 'default', name } });
const addPod = (name: string, resources = {}, spec = {}) =>
  cluster.client.kind(kinds.pods).create({
    metadata: { namespace: 'default', name },
    spec: {
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'example.com/app:1', resources }],
      ...spec,
    },
  });

describe('resourcequota-controller', () => {
  it('counts the existing objects of every limited resource', async () => {
    cluster = await testCluster([resourceQuotaController]);
    await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
    for (const name of ['a', 'b', 'c']) await addMap(name);
    await addPod('p', { requests: { cpu: '600m' } });
    const ports = [{ port: 80 }, { port: 81, name: 'b' }].map((port, i) => ({ name: `p${i}`, ...port }));
    const service = { metadata: { namespace: 'default', name: 's' }, spec: { type: 'NodePort' as const, ports } };
    await cluster.client.kind(kinds.services).create(service);
    const hard = {
      configmaps: '5',
      'count/deployments.apps': '1',
      pods: '2',
      'requests.cpu': '1',
      'services.nodeports': '9',
      'count/things.example.com': '1',
    };
    await cluster.client.kind(kinds.resourceQuotas).create({ ...q, spec: { hard } });
    await cluster.settle();
    expect(await status()).toEqual({
      hard,
      used: {
        configmaps: '3',
        'count/deployments.apps': '0',
        pods: '1',
        'requests.cpu': '600m',
        'services.nodeports': '2',
      },
    });
    expect(cluster.logged).toEqual([]);
  });

  it('counts again when objects go, or end', async () => {
    await start({ configmaps: '5', pods: '2', 'requests.cpu': '1' });
    await addMap('a');
    await addMap('b');
    const pod = await addPod('p', { requests: { cpu: '600m' } });
    expect(await used()).toEqual({ configmaps: '2', pods: '1', 'requests.cpu': '600m' });
    await cluster.client.kind(kinds.configMaps).delete({ namespace: 'default', name: 'a' });
    await cluster.client
      .kind(kinds.pods)
      .subresource('status')
      .patch(pod.metadata, 'merge', { status: { phase: 'Succeeded' } });
    await cluster.advance(200);
    expect(await used()).toEqual({ configmaps: '1', pods: '0', 'requests.cpu': '0' });
  });

  it('follows the limits of the spec', async () => {
    await start({ configmaps: '5', pods: '2' });
    await addMap('a');
    await cluster.client
      .kind(kinds.resourceQuotas)
      .patch(q.metadata, 'merge', { spec: { hard: { configmaps: '0', pods: null } } });
    await cluster.settle();
    expect(await status()).toEqual({ hard: { configmaps: '0' }, used: { configmaps: '1' } });
  });

  it('counts only pods in the scopes', async () => {
    await start({ pods: '5' }, { scopes: ['BestEffort'] });
    await addPod('lazy');
    await addPod('eager', { requests: { cpu: '1' } });
    await cluster.client.kind(kinds.pods).delete({ namespace: 'default', name: 'eager' }, { gracePeriodSeconds: 0 });
    await cluster.advance(200);
    expect(await used()).toEqual({ pods: '1' });
  });

  it('corrects a wrong usage at the next full count', async () => {
    await start({ configmaps: '5' });
    const actual = await cluster.client.kind(kinds.resourceQuotas).get({ namespace: 'default', name: 'q' });
    const wrong = { hard: { configmaps: '5' }, used: { configmaps: '4' } };
    await cluster.client
      .kind(kinds.resourceQuotas)
      .subresource('status')
      .update({ ...actual, status: wrong });
    await cluster.settle();
    expect(await used()).toEqual({ configmaps: '4' });
    await cluster.advance(300_000);
    expect(await used()).toEqual({ configmaps: '0' });
  });
});
