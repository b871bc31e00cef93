import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Client, createClient, httpsTransport, inProcessTransport } from '../client/index.ts';
import { kubeconfigTransport } from '../client/testing/kubeconfig-transport.ts';
import type { ApiObject } from '../meta/index.ts';
import { issueCertificate } from '../pki/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { delivered } from '../store/testing/late-store.ts';
import { createServer, type OrchServer } from './server.ts';
import type { ServerOptions } from './settings/server-options.ts';
import { StartError } from './start-error.ts';

const servers: OrchServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
async function start(options: ServerOptions = {}): Promise<OrchServer> {
  const server = await createServer({ securePort: 0, ...options });
  servers.push(server);
  return server;
}
const folder = () => mkdtempSync(join(tmpdir(), 'orch-'));

const namespaces = { apiVersion: 'v1', resource: 'namespaces' };
const configMaps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

/** A client with the credentials of a kubeconfig. */
const clientOf = (kubeconfig: string): Client => createClient({ transport: kubeconfigTransport(kubeconfig) });

/** A client without any credentials but those in the headers. */
const plainClient = (server: OrchServer, baseHeaders = {}) =>
  createClient({ transport: inProcessTransport(server.handler), baseHeaders });

describe('createServer', () => {
  it('has the system namespaces, with their labels', async () => {
    const { client } = await start();
    const { items } = await client.list(namespaces);
    expect(items.map(({ metadata }) => [metadata.name, metadata.labels])).toEqual(
      ['default', 'kube-system', 'orch-node-lease', 'orch-public'].map((name) => [
        name,
        { 'orch.io/metadata.name': name },
      ]),
    );
  });

  it('uses the names of the API domain', async () => {
    const { client, names } = await start({ apiDomain: 'k8s.io' });
    expect(names.domain).toBe('k8s.io');
    const { items } = await client.list(namespaces);
    expect(items.map(({ metadata }) => metadata.labels?.['kubernetes.io/metadata.name'])).toEqual([
      'default',
      'kube-node-lease',
      'kube-public',
      'kube-system',
    ]);
  });

  it('sends watch events, and ends watches cleanly when it closes', async () => {
    const server = await start();
    const watch = await server.client.watch(configMaps);
    await server.client.create(configMaps, configMap('a'));
    const seen: unknown[] = [];
    for await (const { type, object } of watch) {
      seen.push([type, object.metadata.name]);
      void server.close();
    }
    expect(seen).toEqual([['ADDED', 'a']]);
    await expect(server.close()).resolves.toBeUndefined();
  });

  it('writes no file without a data directory', async () => {
    const [empty, before] = [folder(), process.cwd()];
    process.chdir(empty);
    try {
      const server = await start();
      await server.listen();
      expect(readdirSync(empty)).toEqual([]);
    } finally {
      process.chdir(before);
    }
  });

  it('persists objects in the data directory', async () => {
    const dataDir = join(folder(), 'data');
    const first = await createServer({ store: 'lmdb', dataDir });
    const made = await first.client.create(configMaps, configMap('a'));
    await first.close();
    const second = await start({ store: 'lmdb', dataDir });
    expect(await second.client.get({ ...configMaps, name: 'a' })).toEqual(made);
  });
});

describe('health', () => {
  const text = async (server: OrchServer, url: string) => {
    const { status, body } = await server.client.request({ method: 'GET', url, headers: {} });
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(piece);
    return { status, text: Buffer.concat(pieces).toString() };
  };
  const hooks = [
    'start-system-namespaces-controller',
    'rbac/bootstrap-roles',
    'scheduling/bootstrap-system-priority-classes',
    'priority-and-fairness-config-producer',
    'bootstrap-controller',
    'start-service-ip-repair-controllers',
  ].map((hook) => `[+]poststarthook/${hook} ok`);

  it('names every check, including those of the post-start hooks', async () => {
    const server = await start({ apiDomain: 'k8s.io' });
    await expect.poll(async () => (await text(server, '/readyz')).status).toBe(200);
    const first = ['[+]ping ok', '[+]log ok', '[+]etcd ok'];
    const everywhere = [...first, ...hooks, '[+]autoregister-completion ok'];
    const lines = async (url: string) => (await text(server, url)).text.split('\n');
    expect(await lines('/healthz?verbose')).toEqual([...everywhere, 'healthz check passed', '']);
    expect(await lines('/livez?verbose')).toEqual([...everywhere, 'livez check passed', '']);
    const readiness = ['[+]etcd-readiness ok', '[+]informer-sync ok'];
    const ready = [...first, ...readiness, ...everywhere.slice(first.length), '[+]store-writable ok', '[+]shutdown ok'];
    expect(await lines('/readyz?verbose')).toEqual([...ready, 'readyz check passed', '']);
    expect((await text(server, '/livez/autoregister-completion')).text).toBe('ok');
    expect((await text(server, '/livez/poststarthook/bootstrap-controller')).text).toBe('ok');
  });

  it.each([
    [true, 200],
    [false, 404],
  ])('profiling=%j: only administrators may profile', async (profiling, status) => {
    const server = await start({ profiling });
    expect((await text(server, '/debug/pprof/')).status).toBe(status);
    const anonymous = { method: 'GET', url: '/debug/pprof/profile?seconds=1', headers: {} };
    expect((await plainClient(server).request(anonymous)).status).toBe(403);
  });

  it('passes although the resources of the post-start hooks are not served', async () => {
    const server = await start({ runtimeConfig: { 'api/all': false, 'apps/v1': true } });
    await expect.poll(async () => (await text(server, '/readyz')).status).toBe(200);
  });
});

describe('identity', () => {
  it('allows anonymous requests to read version and health only', async () => {
    const client = plainClient(await start());
    const version = await client.request({ method: 'GET', url: '/version', headers: {} });
    expect(version.status).toBe(200);
    await expect(client.list(namespaces)).rejects.toMatchObject({
      code: 403,
      message:
        'namespaces is forbidden: User "system:anonymous" cannot list resource "namespaces" in API group "" at the cluster scope',
    });
  });

  it('rejects requests without credentials when anonymous requests are disabled', async () => {
    const client = plainClient(await start({ anonymousAuth: false }));
    await expect(client.list(namespaces)).rejects.toMatchObject({ code: 401 });
  });

  it('accepts tokens of the token file and rejects others', async () => {
    const tokenAuthFile = join(folder(), 'tokens.csv');
    writeFileSync(tokenAuthFile, 'root-token,root,1,"system:masters"\nuser-token,ada,2\n', { mode: 0o600 });
    const server = await start({ tokenAuthFile });
    const as = (token: string) => plainClient(server, { authorization: `Bearer ${token}` });
    expect((await as('root-token').list(namespaces)).items.length).toBe(4);
    const discovery = await as('user-token').request({ method: 'GET', url: '/apis', headers: {} });
    expect(discovery.status).toBe(200);
    await expect(as('user-token').list(namespaces)).rejects.toMatchObject({ code: 403 });
    await expect(as('wrong').list(namespaces)).rejects.toMatchObject({ code: 401 });
  });
});

describe('impersonation in process', () => {
  it('does not split group names at commas', async () => {
    const { handler } = await start();
    const subject = { commonName: 'boss', organizations: ['system:masters'] };
    const baseHeaders = { 'impersonate-user': 'ann', 'impersonate-group': 'a,b' };
    const client = createClient({ transport: inProcessTransport(handler, { subject }), baseHeaders });
    const apiVersion = 'authentication.orch.io/v1';
    const review = await client.create<ApiObject>(
      { apiVersion, resource: 'selfsubjectreviews' },
      { apiVersion, kind: 'SelfSubjectReview', metadata: {} },
    );
    expect(review['status']).toEqual({ userInfo: { username: 'ann', groups: ['a,b', 'system:authenticated'] } });
  });
});

describe('runtime config', () => {
  it('uses the group names of the API domain', async () => {
    const runtimeConfig = { 'networking.example.org/v1': false };
    const { client } = await start({ apiDomain: 'example.org', runtimeConfig });
    const place = { apiVersion: 'networking.example.org/v1', resource: 'ingresses' };
    await expect(client.list(place)).rejects.toMatchObject({ code: 404 });
    await expect(createServer({ runtimeConfig })).rejects.toThrow(
      '--runtime-config names "networking.example.org/v1", which this server does not have',
    );
  });
});

describe('the options of createServer', () => {
  it('are validated all at once, with suggestions for unknown names', async () => {
    const bad = {
      securePrt: 1,
      'data-dir': 'x',
      shutdownGracePeriod: '30',
      kubeletTimeout: -1,
      minRequestTimeout: 1.5,
      serviceClusterIpRange: [{ address: '10.0.0.0', prefix: 24 }],
      featureGates: { APIResponseCompresion: false },
      runtimeConfig: new Map([['batch/v1', false]]),
      dataDir: ['a', 'b'],
      store: 'lmbd',
      tlsCertFile: 'a.crt',
      enableAdmissionPlugins: ['PodSecurity'],
      disableAdmissionPlugins: 'PodSecurity',
    };
    const error: unknown = await createServer(bad as unknown as ServerOptions).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(StartError);
    expect((error as StartError).message.split('\n')).toEqual([
      'securePrt is an unknown setting; did you mean "securePort"?',
      'data-dir is an unknown setting; did you mean "dataDir"?',
      'serviceClusterIpRange must be a text, a number, true or false, a list of these, or a map of them',
      'runtimeConfig must be a text, a number, true or false, a list of these, or a map of them',
      'dataDir must be a text, a number, true or false',
      'featureGates="APIResponseCompresion=false" names an unknown feature "APIResponseCompresion"; did you mean "APIResponseCompression"?',
      'kubeletTimeout="-1ms" must be a duration such as 30s, 500ms or 1h30m',
      'store="lmbd" must be one of lmdb, memory, etcd; did you mean "lmdb"?',
      'minRequestTimeout="1.5" must be a whole number from 1 to 2000000',
      'shutdownGracePeriod="30" must be a duration such as 30s, 500ms or 1h30m',
      'tlsCertFile and tlsPrivateKeyFile must be given together',
      'enableAdmissionPlugins and disableAdmissionPlugins both name PodSecurity',
    ]);
    await expect(createServer('memory' as ServerOptions)).rejects.toThrow('the settings must be an object');
  });

  it('take precedence over the config file', async () => {
    const config = join(folder(), 'settings.yaml');
    writeFileSync(config, 'api-domain: file.example\nsecure-port: 70000\n');
    const server = await start({ config });
    expect(server.names.domain).toBe('file.example');
    writeFileSync(config, 'api-domain: x\n');
    await expect(createServer({ config })).rejects.toThrow(`api-domain in ${config}="x" must be a domain`);
    await expect(createServer({ config: join(config, 'no') })).rejects.toBeInstanceOf(StartError);
  });
});

describe('listen', () => {
  it('can be called once', async () => {
    const server = await start();
    const first = server.listen();
    await expect(server.listen()).rejects.toThrow('the server listens already: listen() is called once');
    await first;
    await expect(server.listen()).rejects.toThrow(StartError);
    const closing = server.close();
    await expect(server.listen()).rejects.toThrow('the server is closed');
    await closing;
  });

  it('can be retried after a failure, and is undone by a concurrent close', async () => {
    const other = await start();
    const { port } = await other.listen();
    const server = await start({ securePort: port });
    await expect(server.listen()).rejects.toThrow(`cannot listen on 127.0.0.1 port ${port}`);
    await other.close();
    const opened = server.listen();
    await server.close();
    const { kubeconfig } = await opened;
    await expect(clientOf(kubeconfig).list(namespaces)).rejects.toMatchObject({ code: 503 });
  });

  it('opens a port that accepts its kubeconfig', async () => {
    const server = await start();
    const { url, port, kubeconfig, kubeconfigPath } = await server.listen();
    expect(url).toBe(`https://127.0.0.1:${port}`);
    expect(kubeconfigPath).toBeUndefined();
    const client = clientOf(kubeconfig);
    await client.create(configMaps, configMap('b'));
    expect((await server.client.get({ ...configMaps, name: 'b' })).metadata.name).toBe('b');
  });

  it('writes its secret files for their owner only, also into a folder that is open to others', async () => {
    const dataDir = folder();
    chmodSync(dataDir, 0o755);
    const inStore = ['store/data.mdb', 'store/lock.mdb'];
    const otherFiles = ['ca.key', 'server.key', 'admin.key', 'admin.kubeconfig', 'latest-revision'];
    const private_ = [...inStore, ...otherFiles];
    const open = ['ca.crt', 'server.crt', 'admin.crt'];
    const modes = (names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, statSync(join(dataDir, name)).mode & 0o777]));
    const expected = {
      // The folder itself is not changed.
      '': 0o755,
      store: 0o700,
      ...Object.fromEntries(private_.map((name) => [name, 0o600])),
      ...Object.fromEntries(open.map((name) => [name, 0o644])),
    };
    const all = Object.keys(expected);
    const umask = process.umask(0);
    try {
      for (let round = 0; round < 2; round++) {
        const server = await start({ store: 'lmdb', dataDir });
        await server.listen();
        expect(modes(all)).toEqual(expected);
        await server.close();
        expect(modes(all)).toEqual(expected);
        for (const name of ['store', 'store/data.mdb', 'store/lock.mdb']) chmodSync(join(dataDir, name), 0o777);
      }
    } finally {
      process.umask(umask);
    }
    expect(readdirSync(dataDir).sort()).toEqual([...open, ...otherFiles, 'store'].sort());
  });

  it.each(['ca.key', 'server.key', 'admin.key', 'admin.kubeconfig'])(
    'refuses a %s that others may read',
    async (name) => {
      const dataDir = folder();
      const listening = async () => {
        const server = await start({ dataDir });
        try {
          await server.listen();
        } finally {
          await server.close();
        }
      };
      await listening();
      chmodSync(join(dataDir, name), 0o640);
      await expect(listening()).rejects.toThrow(`${join(dataDir, name)} is secret`);
      chmodSync(join(dataDir, name), 0o600);
      await listening();
    },
  );

  it('trusts client certificates of its own and of the given authority only', async () => {
    const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
    const authority = issueCertificate({ commonName: 'theirs', usage: 'authority', ...times });
    const clientCaFile = join(folder(), 'ca.crt');
    writeFileSync(clientCaFile, authority.cert);
    const dataDir = folder();
    const server = await start({ clientCaFile, dataDir });
    const { url, kubeconfig } = await server.listen();
    const ca = readFileSync(join(dataDir, 'ca.crt'), 'utf8');
    const request = { commonName: 'ada', organizations: ['system:masters'], usage: 'client' as const, ...times };
    const as = (certificate: { cert: string; key: string }) =>
      createClient({ transport: httpsTransport({ server: url, ca, certificate }) });
    expect((await as(issueCertificate(request, { ...authority, name: 'theirs' })).list(namespaces)).items.length).toBe(
      4,
    );
    expect((await clientOf(kubeconfig).list(namespaces)).items.length).toBe(4);
    await expect(as(issueCertificate(request)).list(namespaces)).rejects.toMatchObject({ code: 401 });
  });

  it('serves with the given certificate', async () => {
    const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
    const given = issueCertificate({ commonName: 'given', usage: 'server', hosts: ['127.0.0.1'], ...times });
    const files = folder();
    const [tlsCertFile, tlsPrivateKeyFile] = [join(files, 'a.crt'), join(files, 'a.key')];
    writeFileSync(tlsCertFile, given.cert);
    writeFileSync(tlsPrivateKeyFile, given.key, { mode: 0o600 });
    const server = await start({ tlsCertFile, tlsPrivateKeyFile });
    const { kubeconfig } = await server.listen();
    expect(Buffer.from(kubeconfig.match(/authority-data: (.*)/)?.[1] ?? '', 'base64').toString()).toBe(given.cert);
    expect((await clientOf(kubeconfig).list(namespaces)).items.length).toBe(4);
  });

  it('rejects a certificate with the wrong private key', async () => {
    const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
    const files = folder();
    const [tlsCertFile, tlsPrivateKeyFile] = [join(files, 'a.crt'), join(files, 'a.key')];
    writeFileSync(tlsCertFile, issueCertificate({ commonName: 'a', usage: 'server', ...times }).cert);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(tlsPrivateKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const server = await start({ tlsCertFile, tlsPrivateKeyFile });
    await expect(server.listen()).rejects.toThrow('are not a certificate in PEM with its key');
  });
});

it('keeps history for --etcd-compaction-interval', async () => {
  const clock = drivenClock();
  const server = await createServer({ store: 'memory', etcdCompactionInterval: 60_000 }, { clock });
  const place = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };
  const { metadata } = await server.client.create<ApiObject>(place, object);
  await server.client.delete({ ...place, name: 'one' });
  await delivered();
  const resourceVersion = metadata.resourceVersion ?? '';
  const exact = () => server.client.list(place, { resourceVersion, resourceVersionMatch: 'Exact' });
  clock.advance(59_000);
  expect((await exact()).items).toHaveLength(1);
  clock.advance(10_000);
  await expect(exact()).rejects.toMatchObject({ code: 410, reason: 'Expired' });
  await server.close();
});
