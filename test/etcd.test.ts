import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { etcdProgram } from '../scripts/etcd.mjs';
import { startEtcd, type TestEtcd } from '../src/store/testing/etcd.ts';
import { etcdPath } from './support/requirements.ts';
import { type RunningServer, startServer } from './support/server.ts';

// The built command over a real etcd.
const main = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist/server/main.js');
const program = etcdPath();
const run = promisify(execFile);

const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, data: { readonly [key: string]: string } = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const mergePatch = { 'content-type': 'application/merge-patch+json' };

/** Starts the command with a folder for its files; the caller waits for what it writes. */
function launch(flags: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'orch-etcd-'));
  const child: ChildProcess = spawn(
    process.execPath,
    [main, 'serve', '--secure-port=0', '--controllers=-*', `--data-dir=${join(folder, 'data')}`, ...flags],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (piece: Buffer) => {
      output += piece.toString();
    });
  }
  const exit = once(child, 'exit').then(([status]) => {
    rmSync(folder, { recursive: true, force: true });
    return status as number | null;
  });
  return { output: () => output, exit, end: () => child.kill('SIGTERM') };
}

describe.skipIf(program === undefined)('orch serve --store=etcd', () => {
  let etcd: TestEtcd;
  beforeAll(async () => {
    etcd = await startEtcd(program as string);
  });
  afterAll(() => etcd?.stop());
  const flags = () => ['--store=etcd', `--etcd-servers=${etcd.servers.join(',')}`, '--api-domain=k8s.io'];

  /** The value of a key in etcd, as its own client shows it. */
  async function stored(key: string): Promise<string> {
    const { stdout } = await run(etcdProgram('etcdctl') as string, [
      `--endpoints=${etcd.servers[0]}`,
      'get',
      '--print-value-only',
      key,
    ]);
    return stdout;
  }

  async function names(server: RunningServer): Promise<string[]> {
    const { body } = await server.request('GET', configMaps);
    const { items } = body as { items: { metadata: { name: string } }[] };
    return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
  }

  it('creates, lists, watches, patches and deletes, and finds everything again after a restart', async () => {
    const first = await startServer(flags());
    expect(first.output()).toContain(`objects: etcd at ${etcd.servers[0]} below /registry`);
    const { status, body } = await first.request('POST', configMaps, configMap('a', { colour: 'green' }));
    expect(status).toBe(201);
    const { uid, resourceVersion } = (body as { metadata: { uid: string; resourceVersion: string } }).metadata;
    expect(JSON.parse(await stored('/registry/configmaps/default/a'))).toMatchObject({
      kind: 'ConfigMap',
      metadata: { name: 'a', namespace: 'default', uid },
      data: { colour: 'green' },
    });
    await first.request('POST', configMaps, configMap('b'));
    expect(await names(first)).toEqual(['a', 'b']);
    const patched = await first.request('PATCH', `${configMaps}/a`, { data: { colour: 'blue' } }, mergePatch);
    expect(patched.body).toMatchObject({ data: { colour: 'blue' } });
    expect((await first.request('DELETE', `${configMaps}/b`)).status).toBe(200);
    expect(await stored('/registry/configmaps/default/b')).toBe('');
    const watch = `${configMaps}?watch=1&resourceVersion=${resourceVersion}&timeoutSeconds=5`;
    const { text } = await first.request('GET', watch);
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; object: { metadata: { name: string } } })
      .filter(({ object }) => object.metadata.name.length === 1);
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      'ADDED b',
      'MODIFIED a',
      'DELETED b',
    ]);
    expect((await first.request('GET', '/readyz?verbose')).text).toContain('[+]etcd ok');
    expect(await first.stop()).toBe(0);

    const second = await startServer(flags());
    expect((await second.request('GET', `${configMaps}/a`)).body).toMatchObject({
      metadata: { uid },
      data: { colour: 'blue' },
    });
    expect(await names(second)).toEqual(['a']);
    expect(await second.stop()).toBe(0);
  });

  it('refuses the prefix of another API domain, and names the flag', async () => {
    const other = launch([...flags(), '--api-domain=example.org']);
    expect(await other.exit).toBe(1);
    expect(other.output()).toContain('below /registry holds the objects of --api-domain=k8s.io');
    expect(other.output()).toContain('--etcd-prefix');
  });
});

describe('orch serve with an etcd that it cannot use', () => {
  it('names a file that cannot be read with its flag', async () => {
    const server = launch(['--store=etcd', '--etcd-servers=https://127.0.0.1:1', '--etcd-cafile=/nowhere/ca.crt']);
    expect(await server.exit).toBe(1);
    expect(server.output()).toContain('--etcd-cafile="/nowhere/ca.crt" cannot be read: there is no such file');
  });

  it('waits for one that does not answer, and ends on a signal', async () => {
    const server = launch(['--store=etcd', '--etcd-servers=http://127.0.0.1:1', '--log-level=info']);
    await expect.poll(server.output).toContain('connecting to etcd');
    server.end();
    expect(await server.exit).toBe(0);
  });
});

describe.skipIf(program === undefined)('etcd over TLS', () => {
  it('is reached with a client certificate', async () => {
    // The certificates of a server serve for etcd, too.
    const authority = await startServer(['--store=memory']);
    const file = (name: string) => join(authority.folder, name);
    const secure = [`--cert-file=${file('server.crt')}`, `--key-file=${file('server.key')}`];
    const clients = ['--client-cert-auth', `--trusted-ca-file=${file('ca.crt')}`, '--enable-grpc-gateway=false'];
    const etcd = await startEtcd(program as string, { scheme: 'https', args: [...secure, ...clients] });
    const flags = ['--store=etcd', `--etcd-servers=${etcd.servers.join(',')}`, `--etcd-cafile=${file('ca.crt')}`];
    try {
      const client = [`--etcd-certfile=${file('admin.crt')}`, `--etcd-keyfile=${file('admin.key')}`];
      const server = await startServer([...flags, ...client]);
      expect((await server.request('POST', configMaps, configMap('a'))).status).toBe(201);
      expect(await server.stop()).toBe(0);
    } finally {
      await etcd.stop();
      await authority.stop();
    }
  });
});
