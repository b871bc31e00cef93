import { afterEach, describe, expect, it } from 'vitest';
import { kubeconfigTransport } from '../client/testing/kubeconfig-transport.ts';
import {
  type ApiObject,
  createClient,
  createServer,
  type OrchServer,
  type ServerOptions,
  VirtualClock,
} from './index.ts';

interface Deployment extends ApiObject {
  readonly status?: { readonly readyReplicas?: number };
}
interface Pod extends ApiObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

let server: OrchServer;
let clock: VirtualClock;
afterEach(() => server.close());

const start = async (options: ServerOptions = {}) => {
  clock = new VirtualClock();
  server = await createServer({ apiDomain: 'k8s.io', fakeNodes: 2, ...options }, { clock });
};
const deployments = { apiVersion: 'apps/v1', resource: 'deployments', namespace: 'default' };
const pods = { apiVersion: 'v1', resource: 'pods', namespace: 'default' };
const nodes = { apiVersion: 'v1', resource: 'nodes' };
const template = (annotations: { [name: string]: string } = {}) => ({
  metadata: { labels: { app: 'web' }, annotations },
  spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] },
});
const deployment = (annotations?: { [name: string]: string }): ApiObject => {
  const spec = { replicas: 3, selector: { matchLabels: { app: 'web' } }, template: template(annotations) };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec } as ApiObject;
};
const settled = () => server.settled();

describe('an embedded server with fake nodes', () => {
  it('brings a deployment to readiness as its clock is moved on', async () => {
    await start();
    await server.client.create(deployments, deployment({ 'fake-nodes.kubernetes.io/ready-delay': '30s' }));
    const ready = async () =>
      (await server.client.get<Deployment>({ ...deployments, name: 'web' })).status?.readyReplicas ?? 0;
    await server.settled();
    expect((await server.client.list<Pod>(pods)).items.map(({ status }) => status?.phase)).toEqual([
      'Running',
      'Running',
      'Running',
    ]);
    await clock.advance(29_000, settled);
    expect(await ready()).toBe(0);
    await clock.advance(1_000, settled);
    expect(await ready()).toBe(3);
    const replicaSets = { ...deployments, resource: 'replicasets' };
    await server.client.delete({ ...deployments, name: 'web' }, { propagationPolicy: 'Foreground' });
    await server.settled();
    for (const kind of [pods, replicaSets, deployments]) {
      expect((await server.client.list(kind)).items).toEqual([]);
    }
  });

  it.each(['k8s.io', 'orch.io'])('needs no other controller, in the API domain %s', async (apiDomain) => {
    await start({ apiDomain, controllers: '-*', securePort: 0, disableAdmissionPlugins: 'ServiceAccount' });
    await server.client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      ...template(),
      metadata: { name: 'web' },
    } as ApiObject);
    await server.settled();
    const { spec, status } = await server.client.get<Pod>({ ...pods, name: 'web' });
    expect(spec?.nodeName).toBe('fake-node-0');
    expect(status?.phase).toBe('Running');
    const transport = kubeconfigTransport((await server.listen()).kubeconfig);
    const command = await createClient({ transport, apiDomain }).exec(
      { namespace: 'default', name: 'web' },
      { command: ['true'] },
    );
    expect(await command.output()).toEqual({ stdout: 'true\n', stderr: '', exitCode: 0 });
    transport.close();
  });

  it('has none of them by default', async () => {
    await start({ fakeNodes: undefined });
    await clock.advance(10_000, settled);
    expect((await server.client.list(nodes)).items).toEqual([]);
  });

  it('leaves the fake nodes to the server that holds the lease', async () => {
    await start();
    const lease = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases', namespace: 'kube-system' };
    await server.client.create(lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'kube-controller-manager' },
      spec: { holderIdentity: 'another', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' },
    } as ApiObject);
    await server.settled();
    expect((await server.client.list(nodes)).items).toEqual([]);
    await clock.advance(20_000, settled);
    expect((await server.client.list(nodes)).items).toHaveLength(2);
  });

  it('refuses a number of nodes that makes no sense', async () => {
    await start();
    await expect(createServer({ fakeNodes: -1 })).rejects.toThrow('fakeNodes');
    await expect(createServer({ fakeNodes: 1_001 })).rejects.toThrow('fakeNodes');
  });
});
