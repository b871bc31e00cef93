import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { hasKubectl } from '../../../test/support/requirements.ts';
import { type Client, createClient, httpsTransport } from '../../client/index.ts';
import { type ApiObject, VirtualClock } from '../../meta/index.ts';
import { eventually } from './eventually.ts';
import type { TestServerOptions } from './options.ts';
import { type TestServer, testServer } from './test-server.ts';

const servers: TestServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));
async function start(options?: TestServerOptions): Promise<TestServer> {
  const server = await testServer(options);
  servers.push(server);
  return server;
}

const configMaps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
const configMap = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const namesOf = async (client: Client) => (await client.list(configMaps)).items.map(({ metadata }) => metadata.name);

const definition = (plural: string, kind: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer', default: 1 } } },
              status: { type: 'object', properties: { ready: { type: 'boolean' } } },
            },
          },
        },
      },
    ],
  },
});
const gadgets = { apiVersion: 'example.com/v1', resource: 'gadgets', namespace: 'default' };
const gadget = (name: string): ApiObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Gadget',
  metadata: { name },
  spec: {},
});

function folderWith(files: { readonly [name: string]: string }): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-harness-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** The message with which a server fails to start. */
const failureOf = async (options: TestServerOptions): Promise<string> => {
  const started = testServer(options);
  await started.then(
    (server) => server.close(),
    () => undefined,
  );
  return started.then(
    () => 'started',
    (error: Error) => error.message,
  );
};

describe('testServer', () => {
  it('has the API domain k8s.io and no controllers, and is closed by `await using`', async () => {
    const server = await testServer();
    expect(server.names.domain).toBe('k8s.io');
    await server.client.create(configMaps, configMap('a'));
    expect(await namesOf(server.client)).toEqual(['a']);
    await server[Symbol.asyncDispose]();
    await expect(server.client.list(configMaps)).rejects.toMatchObject({ code: 503 });
    await server.close();
  });

  it('runs the controllers that are named, and asks for service accounts only where one makes them', async () => {
    const pods = { apiVersion: 'v1', resource: 'pods', namespace: 'default' };
    const pod = { ...configMap('p'), kind: 'Pod', spec: { containers: [{ name: 'c', image: 'i' }] } } as ApiObject;
    const bare = await start();
    await bare.client.create(pods, pod);
    const absent = {
      ...pod,
      metadata: { name: 'q' },
      spec: { ...(pod['spec'] as object), serviceAccountName: 'robot' },
    };
    for (const clock of [undefined, new VirtualClock()]) {
      const server = await start({ clock, controllers: ['serviceaccount-controller'] });
      await server.client.create(pods, pod);
      const denied = { code: 403, message: /serviceaccount/ };
      await expect(server.client.create(pods, absent as ApiObject)).rejects.toMatchObject(denied);
    }
  });

  it('has the service accounts of the namespaces and pods that it is given', async () => {
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    const inTeam = (kind: string, name: string, fields: object) => ({
      apiVersion: 'v1',
      kind,
      metadata: { name, namespace: 'team' },
      ...fields,
    });
    const objects = [
      inTeam('Pod', 'p', { spec }),
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } },
      inTeam('ServiceAccount', 'default', { imagePullSecrets: [{ name: 'registry' }] }),
    ];
    for (const clock of [undefined, new VirtualClock()]) {
      const server = await start({ clock, controllers: '*', objects: objects as ApiObject[] });
      const place = { apiVersion: 'v1', resource: 'pods', namespace: 'team', name: 'p' };
      expect(await server.client.get(place)).toMatchObject({
        spec: { serviceAccountName: 'default', imagePullSecrets: [{ name: 'registry' }] },
      });
    }
  });

  it('lets containers be privileged unless it is told otherwise', async () => {
    const pods = { apiVersion: 'v1', resource: 'pods', namespace: 'default' };
    const securityContext = { privileged: true };
    const spec = { containers: [{ name: 'c', image: 'i', securityContext }] };
    const pod = { ...configMap('p'), kind: 'Pod', spec } as ApiObject;
    await (await start()).client.create(pods, pod);
    const strict = await start({ allowPrivileged: false, fakeNodes: 1 });
    await expect(strict.client.create(pods, pod)).rejects.toMatchObject({ code: 422 });
  });

  it('refuses unknown options, and names all that make no sense', async () => {
    const wrong = { definitons: './crds', fakeNode: 1, securePort: 'x' } as unknown as TestServerOptions;
    expect(await failureOf(wrong)).toBe(
      [
        'definitons is an unknown setting; did you mean "definitions"?',
        'fakeNode is an unknown setting; did you mean "fakeNodes"?',
        'securePort="x" must be a whole number from 0 to 65535',
      ].join('\n'),
    );
    expect(await failureOf({ clock: {} as VirtualClock })).toBe('clock must be a clock, such as new VirtualClock()');
    expect(await failureOf({ controllers: 'deploymet-controller' })).toContain('deployment-controller');
  });

  it('has feature gates and other settings of a server', async () => {
    const server = await start({
      featureGates: { APIResponseCompression: false },
      runtimeConfig: { v1: true },
    });
    expect(await namesOf(server.client)).toEqual([]);
  });
});

describe('definitions', () => {
  it('are those of folders, files with several documents and objects, established when the server is ready', async () => {
    const text = (plural: string, kind: string) => JSON.stringify(definition(plural, kind));
    const folder = folderWith({
      'a.yaml': `# two\n---\n${text('gadgets', 'Gadget')}\n---\n\n${text('gizmos', 'Gizmo')}\n`,
      'kustomization.yaml': 'resources: [a.yaml]\n',
      'other.json': text('widgets', 'Widget'),
      'notes.txt': 'not read',
      'patches/p.yaml': '{{',
    });
    const list = folderWith({
      'list.yaml': `kind: List\napiVersion: v1\nitems: [${text('things', 'Thing')}]`,
    });
    const server = await start({
      definitions: [folder, join(list, 'list.yaml'), definition('tools', 'Tool') as unknown as ApiObject],
    });
    const { client } = server;
    const made = await client.create<ApiObject>(gadgets, gadget('a'));
    expect(made['spec']).toEqual({ size: 1 });
    for (const resource of ['gizmos', 'widgets', 'things', 'tools']) {
      expect((await client.list({ ...gadgets, resource })).items).toEqual([]);
    }
  });

  it('that are wrong fail with their files, their lines and fields, all at once', async () => {
    const invalid = { ...definition('gadgets', 'Gadget'), spec: { ...definition('x', 'Y').spec, scope: 'Here' } };
    const folder = folderWith({
      'broken.yaml': '# one\n---\nkind: [\n',
      'invalid.yaml': `a: 1\n---\n\n${JSON.stringify(invalid)}`,
      'pod.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n',
      'none/a.yaml': 'a: 1',
    });
    const path = (name: string) => join(folder, name);
    expect(await failureOf({ definitions: path('broken.yaml') })).toMatch(/broken\.yaml: .*yaml: line 4/);
    const texts = (await failureOf({ definitions: [path('pod.yaml'), path('invalid.yaml')] })).split('\n');
    expect(texts).toHaveLength(1);
    expect(texts[0]).toMatch(/invalid\.yaml: apiVersion must be a text; it is missing/);
    const others = await failureOf({
      definitions: [path('none'), path('absent.yaml'), 5 as unknown as string, { kind: 'Pod' } as ApiObject],
    });
    expect(others.split('\n').map((line) => line.replaceAll(folder, ''))).toEqual([
      'definitions[0]: the folder /none has none in its YAML and JSON files',
      'definitions[1]: /absent.yaml cannot be read: there is no such file',
      'definitions[2] must be an object with apiVersion, kind and metadata',
      'definitions[3]: apiVersion must be a text; it is missing',
    ]);
    writeFileSync(path('invalid.yaml'), `\n---\n\n${JSON.stringify(invalid)}`);
    const refused = await failureOf({ definitions: [path('pod.yaml'), path('invalid.yaml')] });
    expect(refused).toMatch(/pod\.yaml: kind must be CustomResourceDefinition; it is Pod/);
    expect(refused).toMatch(/invalid\.yaml, line 4: .*spec\.scope: Unsupported value: "Here"/);
  });

  it('whose names are taken are refused', async () => {
    const other = { ...definition('others', 'Gadget') };
    expect(
      await failureOf({ definitions: [definition('gadgets', 'Gadget'), other] as unknown as ApiObject[] }),
    ).toMatch(/definitions\[\d\]: \w+\.example\.com is not established: .*"Gadget/);
  });
});

describe('objects', () => {
  it('are there with their status, namespaces first', async () => {
    const file = join(
      folderWith({ 'o.yaml': 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: b, namespace: team}\n' }),
      'o.yaml',
    );
    const server = await start({
      definitions: definition('gadgets', 'Gadget') as unknown as ApiObject,
      objects: [
        { ...gadget('g'), status: { ready: true } } as ApiObject,
        file,
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } },
      ],
    });
    expect(await server.client.get<ApiObject>({ ...gadgets, name: 'g' })).toMatchObject({ status: { ready: true } });
    await server.client.get({ ...configMaps, namespace: 'team', name: 'b' });
  });

  it('that are refused fail with where they come from', async () => {
    expect(await failureOf({ objects: [configMap('a'), configMap('B')] })).toMatch(/^objects\[1\]: .*metadata\.name/);
    expect(await failureOf({ objects: gadget('a') })).toBe(
      'objects[0]: no resource of example.com/v1 has the kind Gadget',
    );
    expect(await failureOf({ objects: { ...configMap('a'), kind: 'ConfigMop' } })).toBe(
      'objects[0]: no resource of v1 has the kind ConfigMop',
    );
  });
});

describe('the clock', () => {
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' }, annotations: { 'fake-nodes.kubernetes.io/ready-delay': '30s' } },
        spec: { containers: [{ name: 'main', image: 'i' }] },
      },
    },
  } as ApiObject;
  const deployments = { apiVersion: 'apps/v1', resource: 'deployments', namespace: 'default' };

  it('moves the server, its controllers and fake nodes by hand', async () => {
    const server = await start({ clock: new VirtualClock(), controllers: '*', fakeNodes: 1 });
    await server.client.create(deployments, deployment);
    const ready = async () => {
      const web = await server.client.get<ApiObject>({ ...deployments, name: 'web' });
      return (web['status'] as { readyReplicas?: number }).readyReplicas ?? 0;
    };
    await server.clock.advance('29s');
    expect(await ready()).toBe(0);
    await server.clock.advance('2s');
    expect(await ready()).toBe(2);
  });

  it('settles what is under test too, after each timer, for as long as anything is written', async () => {
    const server = await start({ clock: new VirtualClock() });
    const { clock, client } = server;
    let due = false;
    let left = 3;
    const seen: number[] = [];
    const remove = server.settlesWith(async () => {
      if (!due || left === 0) return;
      seen.push(clock.now());
      await client.create(configMaps, configMap(`c${left--}`));
    });
    const began = clock.now();
    clock.after(10_000, () => {
      due = true;
    });
    await clock.advance('1m');
    expect(seen.map((at) => at - began)).toEqual([10_000, 10_000, 10_000]);
    expect([clock.now() - began, clock.monotonic()]).toEqual([60_000, 60_000]);
    const stop = server.settlesWith(() =>
      client.create(configMaps, { ...configMap(''), metadata: { generateName: 'x-' } }),
    );
    await expect(server.settled()).rejects.toThrow('the server does not settle');
    stop();
    remove();
    left = 1;
    await server.settled();
    expect(left).toBe(1);
  });

  it('stands still while the first token is signed, with a key that is generated meanwhile', async () => {
    const server = await start({ clock: new VirtualClock(), controllers: 'serviceaccount-token-controller' });
    const { client } = server;
    const accounts = { ...configMaps, resource: 'serviceaccounts' };
    await client.create(accounts, { ...configMap('robot'), kind: 'ServiceAccount' });
    const annotations = { 'kubernetes.io/service-account.name': 'robot' };
    const secrets = { ...configMaps, resource: 'secrets' };
    await client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/service-account-token',
      metadata: { name: 'robot-token', annotations },
    } as ApiObject);
    await server.settled();
    const secret = await client.get<ApiObject>({ ...secrets, name: 'robot-token' });
    expect(Object.keys(secret['data'] as object).sort()).toEqual(['namespace', 'token']);
  });

  it('of the system is advanced by nobody, and a duration must be one', async () => {
    const server = await start();
    await expect(server.clock.advance(5)).rejects.toThrow('the server runs on the system clock');
    const other = await start({ clock: new VirtualClock() });
    await expect(other.clock.advance('soon')).rejects.toThrow('the duration "soon" must be a duration such as 30s');
  });

  it('is what `eventually` advances', async () => {
    const server = await start({ clock: new VirtualClock(), controllers: '*', fakeNodes: 1 });
    const { clock, client } = server;
    await client.create(deployments, deployment);
    const began = clock.now();
    const status = await eventually(
      async () => {
        const web = await client.get<ApiObject>({ ...deployments, name: 'web' });
        const { readyReplicas } = web['status'] as { readyReplicas?: number };
        return readyReplicas === 2 && readyReplicas;
      },
      { clock, timeout: '2m', interval: '5s' },
    );
    expect(status).toBe(2);
    expect(clock.now() - began).toBe(30_000);
  });
});

describe('users', () => {
  const group = 'rbac.authorization.k8s.io';
  const bind = async (client: Client) => {
    const place = (resource: string) => ({ apiVersion: `${group}/v1`, resource, namespace: 'default' });
    await client.create(place('roles'), {
      apiVersion: `${group}/v1`,
      kind: 'Role',
      metadata: { name: 'r' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }],
    } as ApiObject);
    await client.create(place('rolebindings'), {
      apiVersion: `${group}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'b' },
      subjects: [{ kind: 'Group', name: 'dev', apiGroup: group }],
      roleRef: { apiGroup: group, kind: 'Role', name: 'r' },
    } as ApiObject);
  };

  it('may do what roles grant them, in process and over sockets', async () => {
    const server = await start();
    await bind(server.client);
    const jane = server.as('jane:x', ['dev']);
    const jim = server.as('jim');
    expect(() => jane.kubeconfig()).toThrow('call listen() first');
    await jane.create(configMaps, configMap('a'));
    const denied = { code: 403, message: /User "jim" cannot list resource "configmaps"/ };
    await expect(jim.list(configMaps)).rejects.toMatchObject(denied);

    const { url } = await server.listen();
    const overSocket = async (user: typeof jane) => {
      const transport = httpsTransport(user.credentials());
      return namesOf(createClient({ transport })).finally(() => transport.close());
    };
    expect(await overSocket(jane)).toEqual(['a']);
    await expect(overSocket(jim)).rejects.toMatchObject(denied);
    const config = parse(jane.kubeconfig()) as { clusters: [{ cluster: object }]; users: [{ name: string }] };
    expect(config.clusters[0].cluster).toMatchObject({ server: url });
    expect(config.users[0].name).toBe('jane:x');
  });
});

describe.skipIf(!hasKubectl())('the kubeconfig of a user', () => {
  it('is read by kubectl', async () => {
    const server = await start();
    await server.listen();
    const path = join(folderWith({ kubeconfig: server.as('jane:x', ['dev', 'ops']).kubeconfig() }), 'kubeconfig');
    const command = ['--kubeconfig', path, 'auth', 'whoami', '-o', 'json'];
    const { stdout } = await promisify(execFile)('kubectl', command);
    expect(JSON.parse(stdout)).toMatchObject({
      status: { userInfo: { username: 'jane:x', groups: ['dev', 'ops', 'system:authenticated'] } },
    });
  });
});

describe('compact', () => {
  it('ends watches and lists from earlier resourceVersions with 410, and no others', async () => {
    const server = await start();
    const { client } = server;
    const first = await client.create(configMaps, configMap('a'));
    const { resourceVersion: before = '' } = first.metadata;
    const live = (await client.watch(configMaps, { resourceVersion: before }))[Symbol.asyncIterator]();
    const page = await client.list(configMaps, { limit: 1 });
    await client.create(configMaps, configMap('b'));
    const paged = await client.list(configMaps, { limit: 1 });
    await client.create({ ...configMaps, resource: 'secrets' }, { ...configMap('s'), kind: 'Secret' });
    const watchFrom = async (resourceVersion: string) => {
      for await (const { object } of await client.watch(configMaps, { resourceVersion })) return object.metadata.name;
      return undefined;
    };
    expect(await watchFrom(before)).toBe('b');
    await server.compact();
    await expect(watchFrom(before)).rejects.toMatchObject({ code: 410, reason: 'Expired' });
    const exact = { resourceVersion: page.metadata.resourceVersion, resourceVersionMatch: 'Exact' } as const;
    await expect(client.list(configMaps, exact)).rejects.toMatchObject({ code: 410 });
    const next = { continue: paged.metadata.continue ?? '', limit: 1 };
    await expect(client.list(configMaps, next)).rejects.toMatchObject({ code: 410 });
    const { metadata } = await client.list(configMaps);
    const now = watchFrom(metadata.resourceVersion);
    await client.create(configMaps, configMap('c'));
    expect(await now).toBe('c');
    expect(await watchFrom('0')).toBe('a');
    expect(await watchFrom('')).toBe('a');
    const seen = [await live.next(), await live.next()].map(({ value }) => value?.object.metadata.name);
    expect(seen).toEqual(['b', 'c']);
  });
});

describe('close', () => {
  it('cuts off what a client does not finish, although the clock stands still', async () => {
    const server = await start({ clock: new VirtualClock(Date.now()) });
    await server.listen();
    const { server: url, ca, certificate } = server.as('jane', ['system:masters']).credentials();
    const headers = { 'content-type': 'application/json', 'content-length': 100 };
    const arrived = server.faults.add({ verb: 'create', fault: { delay: 1 } });
    const path = `${url}/api/v1/namespaces/default/configmaps`;
    const unfinished = request(path, { method: 'POST', ca, ...certificate, headers, agent: false });
    const failed = new Promise<Error>((resolve) => unfinished.once('error', resolve));
    unfinished.write('{');
    await expect.poll(() => arrived.hits).toBe(1);
    await server.clock.advance(1);
    await server.close();
    expect((await failed).message).toBe('socket hang up');
  });
});

describe('many servers in one process', () => {
  it('know nothing of each other, and leave nothing behind', async () => {
    const left = () =>
      process
        .getActiveResourcesInfo()
        .filter((what) => what !== 'Immediate')
        .sort();
    const before = left();
    const servers = await Promise.all(Array.from({ length: 10 }, () => testServer({ controllers: '*', fakeNodes: 1 })));
    const used = servers.map(async (server, i) => {
      await server.client.create(configMaps, configMap(`c${i}`));
      await server.client.watch(configMaps);
      server.faults.add({ verb: 'delete', fault: { delay: '1h' } });
      const late = server.client.delete({ ...configMaps, name: `c${i}` }).catch(({ code }: { code: number }) => code);
      const { items } = await server.as('admin', ['system:masters']).list(configMaps);
      const own = items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
      await server.listen();
      const transport = httpsTransport(server.as('admin', ['system:masters']).credentials());
      await createClient({ transport }).list(configMaps);
      transport.close();
      await server.close();
      return [own, await late];
    });
    expect(await Promise.all(used)).toEqual(servers.map((_, i) => [[`c${i}`], 503]));
    await expect.poll(left).toEqual(before);
  });
});
