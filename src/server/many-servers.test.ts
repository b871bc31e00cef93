import { afterEach, describe, expect, it } from 'vitest';
import type { ApiObject } from '../meta/index.ts';
import { openMemoryStore } from '../store/index.ts';
import { lateStore } from '../store/testing/late-store.ts';
import { systemClock } from './clock.ts';
import { createServer, type OrchServer } from './server.ts';
import type { ServerOptions } from './server-options.ts';

// Servers over one store: the watches of the second one deliver late, as over a network.
const servers: OrchServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** Two servers without controllers over one store. */
async function startTwo(options: ServerOptions = {}) {
  const store = openMemoryStore({ clock: systemClock });
  for (const one of [store, lateStore(store, 20)]) {
    servers.push(await createServer({ controllers: '-*', ...options }, { store: one }));
  }
  const [first, second] = servers as [OrchServer, OrchServer];
  return { store, first, second };
}

const services = { apiVersion: 'v1', resource: 'services', namespace: 'default' };
type ServiceSpec = { clusterIP: string; ports: [{ nodePort: number }]; healthCheckNodePort: number };
/** The object of a service, whose spec the server completes. */
const service = (name: string, spec: object): ApiObject & { readonly spec: ServiceSpec } => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec } as unknown as ServiceSpec,
});

const configMaps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

describe('allocation by two servers', () => {
  it('hands out every cluster IP of a range, each once', async () => {
    const { first, second } = await startTwo({ serviceClusterIpRange: '10.0.0.0/26' });
    const made = await Promise.all(
      Array.from({ length: 61 }, (_, i) =>
        (i % 2 === 0 ? first : second).client.create(services, service(`s${i}`, {})),
      ),
    );
    expect(new Set(made.map(({ spec }) => spec.clusterIP)).size).toBe(61);
    const full = (i: number) => (i === 0 ? first : second).client.create(services, service(`full${i}`, {}));
    for (const i of [0, 1]) await expect(full(i)).rejects.toMatchObject({ message: /range is full/ });
  });

  it('hands out every node port of a range, each once', async () => {
    const { first, second } = await startTwo({ serviceNodePortRange: '30000-30039' });
    const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? first : second).client.create(services, service(`s${i}`, spec)),
      ),
    );
    const used = made.flatMap(({ spec: { ports, healthCheckNodePort } }) => [ports[0].nodePort, healthCheckNodePort]);
    expect(used.sort()).toEqual(Array.from({ length: 40 }, (_, i) => 30_000 + i));
  });
});

describe('a namespace of two servers', () => {
  const namespaces = { apiVersion: 'v1', resource: 'namespaces' };
  const inNamespace = { ...configMaps, namespace: 'ns' };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } };

  it('takes objects as soon as it is created, and none once it is terminating or gone', async () => {
    const { first, second } = await startTwo();
    const create = (name: string) => second.client.create(inNamespace, configMap(name));
    await second.client.list(namespaces);
    await first.client.create(namespaces, namespace);
    await create('a');
    const marked = await first.client.delete({ ...namespaces, name: 'ns' });
    await expect(create('b')).rejects.toMatchObject({ code: 403, message: /is being terminated/ });
    const finalize = { ...namespaces, name: 'ns', subresource: 'finalize' };
    await first.client.update(finalize, { ...(marked as ApiObject), spec: {} });
    await expect(create('c')).rejects.toMatchObject({ code: 404, details: { kind: 'namespaces' } });
    await first.client.create(namespaces, namespace);
    await create('d');
    const { items } = await first.client.list(inNamespace);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'd']);
  });
});

describe('the limits of a namespace', () => {
  const quotas = { apiVersion: 'v1', resource: 'resourcequotas', namespace: 'default' };
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' } };
  const hard = { configmaps: '10' };

  it('are enforced by another server than that of the quota, and by both at once', async () => {
    const { first, second } = await startTwo();
    await second.client.list(quotas);
    const made = await first.client.create(quotas, { ...quota, spec: { hard } });
    await first.client.update(
      { ...quotas, name: 'q', subresource: 'status' },
      { ...made, status: { hard, used: { configmaps: '0' } } },
    );
    const creations = Array.from({ length: 24 }, (_, i) =>
      (i % 2 === 0 ? second : first).client.create(configMaps, configMap(`c${i}`)),
    );
    const outcomes = await Promise.allSettled(creations);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    const charged = await second.client.get<ApiObject>({ ...quotas, name: 'q' });
    expect(charged['status']).toEqual({ hard, used: { configmaps: '10' } });
  });

  it('have the defaults of a limit range of another server', async () => {
    const { first, second } = await startTwo();
    const place = (resource: string) => ({ apiVersion: 'v1', resource, namespace: 'default' });
    for (const resource of ['serviceaccounts', 'limitranges']) await second.client.list(place(resource));
    const object = (kind: string, name: string) => ({ apiVersion: 'v1', kind, metadata: { name } });
    await first.client.create(place('serviceaccounts'), object('ServiceAccount', 'default'));
    const limits = [{ type: 'Container', default: { cpu: '100m' } }];
    await first.client.create(place('limitranges'), { ...object('LimitRange', 'l'), spec: { limits } });
    const containers = [{ name: 'c', image: 'i' }];
    const pod: ApiObject = await second.client.create(place('pods'), { ...object('Pod', 'p'), spec: { containers } });
    expect(pod['spec']).toMatchObject({ containers: [{ resources: { limits: { cpu: '100m' } } }] });
  });
});
