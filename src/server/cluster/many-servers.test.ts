import { afterEach, describe, expect, it } from 'vitest';
import { createClient, inProcessTransport } from '../../client/index.ts';
import type { ApiObject, Clock } from '../../meta/index.ts';
import { openMemoryStore } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { lateStore } from '../../store/testing/late-store.ts';
import { storeWith } from '../../store/testing/store-with.ts';
import { systemClock } from '../clock.ts';
import { createServer, type OrchServer } from '../server.ts';
import type { ServerOptions } from '../settings/server-options.ts';

// Servers over one store: the watches of the second one deliver late, as over a network.
const servers: OrchServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** Two servers over one store, without controllers unless they are asked for. */
async function startTwo(options: ServerOptions = {}, clock: Clock = systemClock) {
  const memory = openMemoryStore({ clock });
  const store = storeWith(memory, { close: async () => {} });
  for (const one of [store, lateStore(store, 20)]) {
    servers.push(await createServer({ controllers: '-*', apiDomain: 'k8s.io', ...options }, { store: one, clock }));
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
    expect(used.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => 30_000 + i));
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

/** A client of a server with the credentials of a user. */
const clientAs = ({ handler }: OrchServer, commonName: string) =>
  createClient({ transport: inProcessTransport(handler, { subject: { commonName, organizations: [] } }) });

describe('two servers', () => {
  it('continue the lists of each other', async () => {
    const { first, second } = await startTwo();
    await second.client.list(configMaps);
    for (const name of ['a', 'b', 'c', 'd', 'e']) await first.client.create(configMaps, configMap(name));
    const names: (string | undefined)[] = [];
    let next: string | undefined;
    for (let page = 0; page < 3; page++) {
      const { client } = page % 2 === 0 ? first : second;
      const { items, metadata } = await client.list(configMaps, {
        limit: 2,
        ...(next === undefined ? {} : { continue: next }),
      });
      names.push(...items.map(({ metadata: { name } }) => name));
      next = metadata.continue;
      await first.client.delete({ ...configMaps, name: ['a', 'e', 'c'][page] ?? '' });
    }
    expect([names, next]).toEqual([['a', 'b', 'c', 'd', 'e'], undefined]);
    await expect(second.client.get({ ...configMaps, name: 'e' })).rejects.toMatchObject({ code: 404 });
  });

  it('serve the custom types of each other', async () => {
    const { first, second } = await startTwo();
    const definitions = { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions' };
    const names = { plural: 'gadgets', kind: 'Gadget' };
    const schema = { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer', default: 1 } } } };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    const definition = {
      apiVersion: definitions.apiVersion,
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gadgets.example.org' },
      spec: { group: 'example.org', scope: 'Namespaced', names, versions },
    };
    const gadgets = { apiVersion: 'example.org/v1', resource: 'gadgets', namespace: 'default' };
    const gadget = (name: string) => ({ apiVersion: 'example.org/v1', kind: 'Gadget', metadata: { name } });
    await first.client.create(definitions, definition);
    const made = async () => (await second.client.create<ApiObject>(gadgets, gadget('a')))['size'];
    await expect.poll(made).toBe(1);
    await expect.poll(() => first.client.get<ApiObject>({ ...gadgets, name: 'a' })).toMatchObject({ size: 1 });
    await second.client.delete({ ...definitions, name: 'gadgets.example.org' });
    const listed = ({ client }: OrchServer) =>
      client.list(gadgets).then(
        () => 'served',
        () => 'gone',
      );
    await expect.poll(() => Promise.all([first, second].map(listed))).toEqual(['gone', 'gone']);
    expect((await first.client.list(definitions)).items).toEqual([]);
  });

  it('decide by the roles of each other, and at once by their own', async () => {
    const { first, second } = await startTwo();
    const group = 'rbac.authorization.k8s.io';
    const place = (resource: string) => ({ apiVersion: `${group}/v1`, resource, namespace: 'default' });
    const object = (kind: string, name: string) => ({ apiVersion: `${group}/v1`, kind, metadata: { name } });
    const rules = [{ apiGroups: ['', group], resources: ['*'], verbs: ['*'] }];
    const binding = {
      ...object('RoleBinding', 'b'),
      subjects: [{ kind: 'User', name: 'jane' }],
      roleRef: { apiGroup: group, kind: 'Role', name: 'r' },
    };
    await first.client.create(place('roles'), { ...object('Role', 'r'), rules });
    await first.client.create(place('rolebindings'), binding);
    const jane = clientAs(second, 'jane');
    const reads = () =>
      jane.list(configMaps).then(
        () => 'allowed',
        ({ code }: { code: number }) => code,
      );
    await expect.poll(reads).toBe('allowed');
    await second.client.update(
      { ...place('roles'), name: 'r' },
      { ...object('Role', 'r'), rules: [{ ...rules[0], resources: ['roles'] }] },
    );
    expect(await reads()).toBe(403);
    // A right that jane has lost through the first server cannot be granted through the second one.
    await first.client.update(
      { ...place('roles'), name: 'r' },
      { ...object('Role', 'r'), rules: [{ ...rules[0], verbs: ['create'], resources: ['roles'] }] },
    );
    const grant = { ...object('Role', 'granted'), rules: [{ ...rules[0], resources: ['roles'] }] };
    await expect(jane.create(place('roles'), grant)).rejects.toMatchObject({ code: 403 });
  });

  it('issue and accept tokens of accounts, also of one that has just been created again', async () => {
    const { first, second } = await startTwo();
    const accounts = { apiVersion: 'v1', resource: 'serviceaccounts', namespace: 'default' };
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } };
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} };
    const reviews = { apiVersion: 'authentication.k8s.io/v1', resource: 'tokenreviews' };
    const issue = async () => {
      const place = { ...accounts, name: 'robot', subresource: 'token' };
      return (await second.client.create<ApiObject>(place, request))['status'] as { token: string };
    };
    const review = async ({ client }: OrchServer, { token }: { token: string }) =>
      (await client.create<ApiObject>(reviews, { ...request, kind: 'TokenReview', spec: { token } }))['status'];
    await second.client.list(accounts);
    for (let turn = 0; turn < 2; turn++) {
      await first.client.create(accounts, account);
      const token = await issue();
      for (const server of [first, second]) expect(await review(server, token)).toMatchObject({ authenticated: true });
      await first.client.delete({ ...accounts, name: 'robot' });
    }
  });

  it('elect one to run the controllers, and the other one when that stops', async () => {
    const clock = drivenClock();
    await startTwo({ controllers: '*' }, clock);
    const leads = async ({ client }: OrchServer) => {
      const { body } = await client.request({ method: 'GET', url: '/metrics', headers: {} });
      let text = '';
      for await (const chunk of body) text += Buffer.from(chunk).toString();
      return text.includes('leader_election_master_status{name="kube-controller-manager"} 1');
    };
    const leaders = async () => {
      clock.advance(1_000);
      const leading: OrchServer[] = [];
      for (const server of servers) if (await leads(server)) leading.push(server);
      return leading;
    };
    await expect.poll(leaders).toHaveLength(1);
    const [leader] = await leaders();
    for (let second = 0; second < 20; second++) expect(await leaders()).toEqual([leader]);
    servers.splice(servers.indexOf(leader as OrchServer), 1);
    await leader?.close();
    await expect.poll(leaders).toEqual(servers);
  });
});
