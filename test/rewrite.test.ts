import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { etcdProgram } from '../scripts/etcd.mjs';
import { startEtcd } from '../src/store/testing/etcd.ts';
import { etcdPath } from './support/requirements.ts';
import { type RunningServer, startServer } from './support/server.ts';

const main = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist/server/main.js');
const secrets = '/api/v1/namespaces/default/secrets';
const configMaps = '/api/v1/namespaces/default/configmaps';
const former = 'former-horse-battery-staple';
const present = 'present-horse-battery-staple';

let folder: string;
let config: string;
const started: RunningServer[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-rewrite-'));
  config = join(folder, 'encryption.yaml');
});
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function start(flags: readonly string[] = []): Promise<RunningServer> {
  const server = await startServer(flags, folder);
  started.push(server);
  return server;
}

/** Ends the servers, and keeps the data directory. */
async function endServers(): Promise<void> {
  for (const { process: child } of started.splice(0)) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

async function run(command: string, ...flags: readonly string[]) {
  const child = spawn(process.execPath, [main, command, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => {
    stdout += piece.toString();
  });
  child.stderr.on('data', (piece: Buffer) => {
    stderr += piece.toString();
  });
  const [status] = await once(child, 'close');
  return { status: status as number | null, stdout, stderr };
}

const key = (name: string) =>
  `{ aescbc: { keys: [{ name: ${name}, secret: ${Buffer.from(name.padEnd(32, '-')).toString('base64')} }] } }`;

function configure(...providers: readonly string[]): void {
  const text = `apiVersion: apiserver.config.orch.io/v1
kind: EncryptionConfiguration
resources:
- { resources: [secrets, things.example.com], providers: [${providers.join(', ')}] }
`;
  writeFileSync(config, text, { mode: 0o600 });
}

/** Whether a file of a directory, or of one in it, holds the bytes of the text. */
const holds = (place: string, text: string): boolean =>
  readdirSync(place, { recursive: true, encoding: 'utf8' })
    .map((name) => join(place, name))
    .some((path) => statSync(path).isFile() && readFileSync(path).includes(text));

const inBase64 = (text: string) => Buffer.from(text).toString('base64');
const secret = (name: string, password: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: { password },
});

/** Secrets of now and of before, a definition with an object, a config map, and a signing key. Resolves with the present secret. */
async function fill(server: RunningServer) {
  const create = async (path: string, body: object) =>
    expect((await server.request('POST', path, body)).status, path).toBe(201);
  await create(secrets, secret('gone', former));
  expect((await server.request('DELETE', `${secrets}/gone`)).status).toBe(200);
  await create(secrets, secret('kept', former));
  const names = { plural: 'things', kind: 'Thing' };
  const schema = { openAPIV3Schema: { type: 'object', properties: { text: { type: 'string' } } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const definition = { metadata: { name: 'things.example.com' }, spec: { group: 'example.com', names, versions } };
  await create('/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
    ...definition,
    spec: { ...definition.spec, scope: 'Namespaced' },
  });
  const things = '/apis/example.com/v1/namespaces/default/things';
  await expect.poll(async () => (await server.request('GET', things)).status).toBe(200);
  await create(things, { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, text: former });
  await create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { text: 'plain' } });
  // A token is signed, with a key that the store keeps.
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await create(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } });
  await create(`${accounts}/robot/token`, { apiVersion: 'authentication.orch.io/v1', kind: 'TokenRequest', spec: {} });
  const updated = await server.request('PUT', `${secrets}/kept`, secret('kept', present));
  expect(updated.status).toBe(200);
  return updated.body;
}

describe('orch rewrite', () => {
  it('leaves no value of before in the data directory, and all objects with their versions', async () => {
    const server = await start();
    const kept = await fill(server);
    configure(key('one'), '{ identity: {} }');
    const flags = [`--data-dir=${folder}`, `--encryption-provider-config=${config}`];
    expect(await run('rewrite', ...flags)).toMatchObject({ status: 1, stderr: expect.stringContaining('in use') });
    const before = await server.request('GET', configMaps);
    await endServers();
    const traces = [former, inBase64(former), inBase64(present), 'PRIVATE KEY'];
    const store = join(folder, 'store');
    expect(traces.map((text) => holds(store, text))).toEqual([true, true, true, true]);

    const rewritten = await run('rewrite', '--json', ...flags);
    expect(rewritten).toMatchObject({ status: 0 });
    expect(JSON.parse(rewritten.stdout)).toMatchObject({ store: folder, changed: expect.any(Number) });
    expect(traces.map((text) => holds(store, text))).toEqual([false, false, false, false]);
    expect(readdirSync(folder)).not.toContain('store.new');
    // Without the provider that reads plain values.
    configure(key('one'));
    expect(await run('check', ...flags)).toMatchObject({ status: 0 });

    const again = await start([`--encryption-provider-config=${config}`]);
    expect((await again.request('GET', `${secrets}/kept`)).body).toEqual(kept);
    expect((await again.request('GET', '/apis/example.com/v1/namespaces/default/things/a')).body.text).toBe(former);
    expect((await again.request('GET', configMaps)).body.items).toEqual(before.body.items);
    // History is gone.
    const { resourceVersion } = kept.metadata;
    const earlier = await again.request('GET', `${secrets}?watch=1&resourceVersion=${resourceVersion - 1}`);
    expect(`${earlier.status} ${earlier.text}`).toContain('410');
    const created = await again.request('POST', secrets, secret('later', present));
    expect(Number(created.body.metadata.resourceVersion)).toBeGreaterThan(Number(before.body.metadata.resourceVersion));
  });

  it('changes nothing when a value cannot be decrypted', async () => {
    configure(key('one'));
    const server = await start([`--encryption-provider-config=${config}`]);
    expect((await server.request('POST', secrets, secret('a', present))).status).toBe(201);
    await endServers();
    const data = join(folder, 'store', 'data.mdb');
    const before = readFileSync(data);
    configure(key('two'), '{ identity: {} }');
    const { status, stderr } = await run('rewrite', `--data-dir=${folder}`, `--encryption-provider-config=${config}`);
    expect({ status, stderr }).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/no key of the configuration decrypts the value of "\/[^"]+": add its key/),
    });
    expect(readFileSync(data).equals(before)).toBe(true);
  });

  it('needs a configuration, and a store that is kept', async () => {
    expect(await run('rewrite', `--data-dir=${folder}`)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--encryption-provider-config must name'),
    });
    configure('{ identity: {} }');
    const flags = [`--encryption-provider-config=${config}`];
    expect(await run('rewrite', '--store=memory', ...flags)).toMatchObject({ status: 2 });
    expect(await run('rewrite', `--data-dir=${join(folder, 'none')}`, ...flags)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('there is no data in'),
    });
  });
});

const program = etcdPath();
const client = etcdProgram('etcdctl');

it.skipIf(program === undefined || client === undefined)(
  'over etcd, values are rewritten while a server runs, and the documented commands leave none in its database',
  async () => {
    const data = join(folder, 'etcd');
    const etcd = await startEtcd(program as string, { args: [`--data-dir=${data}`] });
    try {
      const flags = ['--store=etcd', `--etcd-servers=${etcd.servers.join(',')}`];
      await fill(await start(flags));
      await endServers();
      configure(key('one'), '{ identity: {} }');
      const encrypted = [...flags, `--encryption-provider-config=${config}`];
      const server = await start(encrypted);
      const before = await server.request('GET', `${secrets}/kept`);
      const { status, stdout } = await run('rewrite', '--json', ...encrypted);
      expect(status).toBe(0);
      const report = JSON.parse(stdout);
      expect(report.changed).toBeGreaterThan(1);
      const after = await server.request('GET', `${secrets}/kept`);
      expect(after.body.data).toEqual(before.body.data);
      expect(Number(after.body.metadata.resourceVersion)).toBeGreaterThan(Number(before.body.metadata.resourceVersion));
      expect(JSON.parse((await run('rewrite', '--json', ...encrypted)).stdout).changed).toBe(0);

      const database = join(data, 'member', 'snap');
      expect(holds(database, inBase64(present))).toBe(true);
      for (const command of report.left as string[]) {
        const [, ...args] = command.split(' ');
        execFileSync(client as string, args, { stdio: 'ignore' });
      }
      const traces = [former, inBase64(former), inBase64(present)];
      expect(traces.map((text) => holds(database, text))).toEqual([false, false, false]);
    } finally {
      await endServers();
      await etcd.stop();
    }
  },
);
