/** The programs of `orch envtest`, started and used as envtest of controller-runtime does. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { hasProgram } from './support/requirements.ts';

const main = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist/server/main.js');
const folders: string[] = [];
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'k8s_test_framework_'));
  folders.push(folder);
  return folder;
}
const processes: ChildProcess[] = [];
afterAll(() => {
  for (const { pid, exitCode } of processes) if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const openssl = (folder: string, ...args: string[]) =>
  execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });

interface Authority {
  readonly folder: string;
  readonly cert: string;
}

/** An authority with a key on P-256 that signs certificates as those of envtest are. */
function tinyAuthority(): Authority {
  const folder = newFolder();
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'ca.key'];
  const subject = ['-subj', '/O=envtest/CN=envtest-environment', '-days', '3650', '-out', 'ca.crt'];
  const usage = ['-addext', 'keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign'];
  openssl(folder, 'req', '-x509', ...key, ...subject, ...usage);
  return { folder, cert: readFileSync(join(folder, 'ca.crt'), 'utf8') };
}

let lastSerial = 0;
function certificate({ folder }: Authority, subject: string, extensions: string): { cert: string; key: string } {
  const name = `c${++lastSerial}`;
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
  openssl(folder, 'req', ...key, '-subj', subject, '-out', `${name}.csr`);
  writeFileSync(join(folder, 'ext'), `keyUsage=critical,digitalSignature,keyEncipherment\n${extensions}\n`);
  const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-set_serial', `${lastSerial}`, '-days', '7', '-extfile', 'ext'];
  openssl(folder, 'x509', '-req', '-in', `${name}.csr`, ...signed, '-out', `${name}.crt`);
  const read = (suffix: string) => readFileSync(join(folder, `${name}.${suffix}`), 'utf8');
  return { cert: read('crt'), key: read('key') };
}

const servingCertificate = (authority: Authority) =>
  certificate(
    authority,
    '/O=envtest/CN=localhost',
    'extendedKeyUsage=serverAuth\nsubjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1',
  );

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** Flags by name, in the order of their names. */
const argumentsOf = (values: { readonly [name: string]: readonly string[] }) =>
  Object.keys(values)
    .sort()
    .flatMap((name) => (values[name] ?? []).map((value) => `--${name}=${value}`));

/** Whether the help of the program has a line that begins with the flag. */
const hasFlag = (path: string, flag: string) =>
  new RegExp(`^\\s*--${flag}\\b`, 'm').test(execFileSync(path, ['--help'], { encoding: 'utf8' }));

interface Program {
  /** The exit status of the process group that is sent SIGTERM. */
  stop(): Promise<number | null>;
}

/** Starts a program in a process group of its own, and asks for its health every 100 ms, for 20 s. */
async function start(path: string, args: readonly string[], health: string): Promise<Program> {
  const child = spawn(path, args, { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  processes.push(child);
  let said = '';
  child.stderr.on('data', (piece: Buffer) => {
    said += piece.toString();
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const isHealthy = () =>
    new Promise<boolean>((resolve) => {
      const get = health.startsWith('https:') ? https.get : http.get;
      const request = get(health, { agent: false, rejectUnauthorized: false } as https.RequestOptions, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      request.on('error', () => resolve(false));
    });
  for (let tries = 0; !(await isHealthy()); tries++) {
    if (child.exitCode !== null || tries === 200) throw new Error(`${path} is not healthy: ${said}`);
    await pause(100);
  }
  return {
    stop() {
      process.kill(-(child.pid as number), 'SIGTERM');
      return exited;
    },
  };
}

interface ControlPlane extends Program {
  readonly request: (
    method: string,
    path: string,
    body?: unknown,
  ) => Promise<{ status: number; body: Record<string, unknown> }>;
}

/** Starts both programs with the arguments and the files that envtest makes, and waits for the default namespace. */
async function startControlPlane(assets: string, more: { [name: string]: string[] } = {}): Promise<ControlPlane> {
  const [etcdPath, serverPath] = [join(assets, 'etcd'), join(assets, 'kube-apiserver')];
  const etcdUrl = `http://127.0.0.1:${await freePort()}`;
  const etcdArguments = argumentsOf({
    'listen-peer-urls': [`http://127.0.0.1:${await freePort()}`],
    'data-dir': [newFolder()],
    'advertise-client-urls': [etcdUrl],
    'listen-client-urls': [etcdUrl],
    'unsafe-no-fsync': hasFlag(etcdPath, 'unsafe-no-fsync') ? ['true'] : [],
  });
  const etcd = await start(etcdPath, etcdArguments, `${etcdUrl}/health`);

  const folder = newFolder();
  const [serving, signing, clients] = [tinyAuthority(), tinyAuthority(), tinyAuthority()];
  const { cert, key } = servingCertificate(serving);
  const write = (name: string, content: string) => {
    writeFileSync(join(folder, name), content, { mode: 0o640 });
    return join(folder, name);
  };
  write('apiserver.crt', cert);
  write('apiserver.key', key);
  const url = `https://127.0.0.1:${await freePort()}`;
  const serverArguments = argumentsOf({
    'service-cluster-ip-range': ['10.0.0.0/24'],
    'allow-privileged': ['true'],
    'disable-admission-plugins': ['ServiceAccount'],
    'cert-dir': [folder],
    'authorization-mode': ['RBAC'],
    'secure-port': [new URL(url).port],
    'bind-address': ['127.0.0.1'],
    'service-account-issuer': [`${url}/`],
    'service-account-key-file': [write('sa-signer.crt', signing.cert)],
    'service-account-signing-key-file': [write('sa-signer.key', readFileSync(join(signing.folder, 'ca.key'), 'utf8'))],
    'etcd-servers': [etcdUrl],
    'insecure-port': hasFlag(serverPath, 'insecure-port') ? ['0'] : [],
    'client-ca-file': [write('client-cert-auth-ca.crt', clients.cert)],
    ...more,
  });
  const server = await start(serverPath, serverArguments, `${url}/healthz`);

  const admin = certificate(clients, '/O=system:masters/CN=admin', 'extendedKeyUsage=clientAuth');
  const request: ControlPlane['request'] = async (method, path, body) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const options = { method, headers, ca: serving.cert, agent: false, ...admin } as const;
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      https
        .request(`${url}${path}`, options, resolve)
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body));
    });
    return { status: response.statusCode ?? 0, body: JSON.parse(await text(response)) as Record<string, unknown> };
  };
  await expect.poll(async () => (await request('GET', '/api/v1/namespaces/default')).status).toBe(200);
  return { request, stop: async () => (await server.stop()) || etcd.stop() };
}

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget', listKind: 'GadgetList', singular: 'gadget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
const gadgets = '/apis/example.com/v1/namespaces/default/gadgets';
const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'a' } };

function writePrograms(folder = newFolder()): string {
  const printed = execFileSync(process.execPath, [main, 'envtest', `--bin-dir=${folder}`], { encoding: 'utf8' });
  expect(printed).toBe(`export KUBEBUILDER_ASSETS=${folder}\n`);
  return folder;
}

/** Installs the definition as envtest does: a look for it first, and then at discovery until it is served. */
async function install(plane: ControlPlane): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  expect((await plane.request('GET', `${path}/${definition.metadata.name}`)).status).toBe(404);
  expect((await plane.request('POST', path, definition)).status).toBe(201);
  await expect
    .poll(async () => (await plane.request('GET', '/apis/example.com/v1')).body['resources'])
    .toEqual([expect.objectContaining({ name: 'gadgets' })]);
}

describe.skipIf(!hasProgram('openssl') || process.platform === 'win32')('the programs for envtest', () => {
  it('start, take a definition and its objects, and stop; nothing is left to the next start', async () => {
    const assets = writePrograms();
    const plane = await startControlPlane(assets);
    await install(plane);
    expect((await plane.request('POST', gadgets, gadget)).status).toBe(201);
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    expect((await plane.request('POST', '/api/v1/namespaces/default/pods', pod)).status).toBe(201);
    expect(await plane.stop()).toBe(0);

    const next = await startControlPlane(assets);
    await install(next);
    expect((await next.request('GET', gadgets)).body['items']).toEqual([]);
    expect(await next.stop()).toBe(0);
  });

  it('call a webhook whose own certificate is the CA bundle', async () => {
    const plane = await startControlPlane(writePrograms());
    await install(plane);
    const pair = servingCertificate(tinyAuthority());
    const serve = async (request: http.IncomingMessage, response: http.ServerResponse) => {
      const review = JSON.parse(await text(request)) as { request: { uid: string } };
      const status = { message: 'no gadgets today' };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...review, response: { uid: review.request.uid, allowed: false, status } }));
    };
    const hook = https.createServer(pair, (request, response) => void serve(request, response));
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    const { port } = hook.address() as AddressInfo;
    const webhook = {
      name: 'gadgets.example.com',
      clientConfig: { url: `https://127.0.0.1:${port}//validate`, caBundle: Buffer.from(pair.cert).toString('base64') },
      rules: [{ apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['gadgets'] }],
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
    };
    const group = 'admissionregistration.k8s.io/v1';
    const configuration = {
      apiVersion: group,
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'gadgets' },
      webhooks: [webhook],
    };
    await plane.request('POST', `/apis/${group}/validatingwebhookconfigurations`, configuration);
    const { body } = await plane.request('POST', gadgets, gadget);
    expect(body['message']).toBe('admission webhook "gadgets.example.com" denied the request: no gadgets today');
    hook.close();
    expect(await plane.stop()).toBe(0);
  });

  it('take flags of both servers, and end with status 2 for one that neither knows', async () => {
    const assets = writePrograms();
    const more = { 'feature-gates': ['APIResponseCompression=false'], 'watch-cache': ['false'], controllers: ['*'] };
    const plane = await startControlPlane(assets, more);
    const account = '/api/v1/namespaces/default/serviceaccounts/default';
    await expect.poll(async () => (await plane.request('GET', account)).status).toBe(200);
    expect(await plane.stop()).toBe(0);
    const failed = () => execFileSync(join(assets, 'kube-apiserver'), ['--secure-prot=1'], { stdio: 'pipe' });
    expect(failed).toThrow(/unknown flag "--secure-prot"; did you mean "secure-port"/);
  });

  it('are not written over another program', () => {
    const folder = writePrograms();
    writePrograms(folder);
    writeFileSync(join(folder, 'etcd'), 'another program');
    const failed = () => execFileSync(process.execPath, [main, 'envtest', `--bin-dir=${folder}`], { stdio: 'pipe' });
    expect(failed).toThrow(/etcd is another program: choose a folder without one, or remove it/);
    expect(readFileSync(join(folder, 'etcd'), 'utf8')).toBe('another program');
    expect(existsSync(join(folder, 'kube-apiserver'))).toBe(true);
  });
});
