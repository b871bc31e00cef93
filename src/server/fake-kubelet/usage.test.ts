import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ApiObject, createServer, type OrchServer, VirtualClock } from '../index.ts';

let server: OrchServer;
const start = async (apiDomain: string, fakeNodes: number) => {
  server = await createServer({ apiDomain, fakeNodes }, { clock: new VirtualClock() });
  const container = (name: string, requests?: object) => ({
    name,
    image: 'i',
    ...(requests && { resources: { requests } }),
  });
  const annotations = { 'fake-nodes.kubernetes.io/cpu.b': '0.25', 'fake-nodes.kubernetes.io/memory': 'much' };
  const create = (name: string, labels: object) =>
    server.client.create({ apiVersion: 'v1', resource: 'pods', namespace: 'default' }, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels, annotations },
      spec: { containers: [container('a', { cpu: '100m', memory: '64Mi' }), container('b')] },
    } as ApiObject);
  await server.settled();
  await create('web', { app: 'web' });
  await create('other', {});
  await server.settled();
};
beforeEach(() => start('k8s.io', 1));
afterEach(() => server.close());

const usage = { apiVersion: 'metrics.k8s.io/v1beta1', resource: 'pods', namespace: 'default' };

it('is that of each running container: by annotation, by its requests, or little', async () => {
  const { items } = await server.client.list(usage, { labelSelector: 'app=web' });
  expect(items).toMatchObject([
    {
      metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
      window: '15s',
      containers: [
        { name: 'a', usage: { cpu: '100m', memory: '64Mi' } },
        { name: 'b', usage: { cpu: '250m', memory: '16Mi' } },
      ],
    },
  ]);
  expect(await server.client.get({ ...usage, name: 'web' })).toMatchObject({ kind: 'PodMetrics' });
  expect((await server.client.list({ ...usage, namespace: 'kube-system' })).items).toEqual([]);
  await expect(server.client.get({ ...usage, namespace: 'kube-system', name: 'web' })).rejects.toMatchObject({
    code: 404,
  });
});

it('is the sum of its pods and a little more for a node', async () => {
  const nodes = { apiVersion: usage.apiVersion, resource: 'nodes' };
  expect((await server.client.list(nodes)).items).toMatchObject([
    { metadata: { name: 'fake-node-0' }, usage: { cpu: '800m', memory: '672Mi' } },
  ]);
});

it('may be read by everybody who may view pods', async () => {
  const roles = { apiVersion: 'rbac.authorization.k8s.io/v1', resource: 'clusterroles' };
  expect(await server.client.get({ ...roles, name: 'system:aggregated-metrics-reader' })).toMatchObject({
    metadata: { labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
    rules: [{ apiGroups: ['metrics.k8s.io'], resources: ['nodes', 'pods'], verbs: ['get', 'list', 'watch'] }],
  });
});

it('is of the group of the API domain, and of no group without fake nodes', async () => {
  const nodesOf = (apiDomain: string) =>
    server.client.list({ apiVersion: `metrics.${apiDomain}/v1beta1`, resource: 'nodes' });
  await server.close();
  await start('example.org', 1);
  expect((await nodesOf('example.org')).items).toHaveLength(1);
  await server.close();
  await start('k8s.io', 0);
  await expect(nodesOf('k8s.io')).rejects.toMatchObject({ code: 404 });
});
