import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLmdbStore } from '../src/store/index.ts';
import { drivenClock } from '../src/store/testing/driven-clock.ts';
import { startEtcd, type TestEtcd } from '../src/store/testing/etcd.ts';
import { etcdPath } from './support/requirements.ts';
import { type RunningServer, startServer } from './support/server.ts';

const main = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist/server/main.js');
const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

let folder: string;
const started: RunningServer[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-checked-'));
});
afterAll(async () => {
  for (const server of started) await server.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const run = (...words: string[]): SpawnSyncReturns<string> =>
  spawnSync(process.execPath, [main, ...words], { encoding: 'utf8' });

/** Runs the command while this process goes on; the result is its exit status and its JSON. */
async function runForJson(...words: string[]) {
  const child = spawn(process.execPath, [main, ...words, '--json'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  child.stdout.on('data', (piece: Buffer) => {
    stdout += piece.toString();
  });
  const [status] = await once(child, 'close');
  expect(stdout).toMatch(/^\{.*\}\n$/);
  return { status: status as number | null, json: JSON.parse(stdout) };
}

async function start(flags: readonly string[], data: string): Promise<RunningServer> {
  const server = await startServer(flags, data);
  started.push(server);
  return server;
}

describe('orch check', () => {
  it('finds a store sound while it is written, with its backup and what is restored from that', async () => {
    const data = mkdtempSync(join(folder, 'data-'));
    const config = join(folder, 'encryption.yaml');
    const secret = Buffer.from('s'.repeat(32)).toString('base64');
    const providers = `[{ aescbc: { keys: [{ name: one, secret: ${secret} }] } }]`;
    writeFileSync(
      config,
      `apiVersion: apiserver.config.orch.io/v1
kind: EncryptionConfiguration
resources: [{ resources: [secrets], providers: ${providers} }]
`,
      { mode: 0o600 },
    );
    const encrypted = `--encryption-provider-config=${config}`;
    const server = await start([encrypted], data);
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, stringData: { a: 'b' } };
    expect((await server.request('POST', '/api/v1/namespaces/default/secrets', body)).status).toBe(201);
    const spec = { type: 'NodePort', ports: [{ port: 80 }] };
    const services = '/api/v1/namespaces/default/services';
    let done = false;
    const writing = (async () => {
      for (let i = 0; !done; i++) {
        const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: `web-${i % 20}` }, spec };
        if (i >= 20) {
          const deleted = await server.request('DELETE', `${services}/web-${i % 20}`);
          expect(deleted).toMatchObject({ status: 200 });
        }
        expect((await server.request('POST', services, service)).status).toBe(201);
      }
    })();
    const sound = { ok: true, errors: 0, warnings: 0, findings: [] };
    for (let i = 0; i < 3; i++) {
      const { status, json } = await runForJson('check', `--data-dir=${data}`, encrypted);
      expect({ status, json }).toMatchObject({ status: 0, json: { source: data, ...sound } });
      expect(json.objects.services).toBeGreaterThan(0);
    }
    done = true;
    await writing;

    const unread = await runForJson('check', '--data-dir', data);
    expect(unread).toMatchObject({ status: 0, json: { ok: true, errors: 0 } });
    expect(unread.json.findings).toContainEqual({
      severity: 'warning',
      check: 'encrypted',
      key: '/secrets/default/a',
      message: expect.stringContaining('--encryption-provider-config'),
    });

    const file = join(folder, 'backup');
    const restored = join(folder, 'restored');
    const made = run('backup', `--data-dir=${data}`, '--json', file);
    expect(made.status).toBe(0);
    const { revision, entries, files, bytes } = JSON.parse(made.stdout);
    expect(bytes).toBe(readFileSync(file).length);
    expect(files).toContain('ca.key');
    const taken = run('restore', '--json', `--data-dir=${restored}`, file);
    expect(JSON.parse(taken.stdout)).toMatchObject({ file, dataDir: restored, revision, entries, files });
    const { sha256 } = JSON.parse(taken.stdout);
    for (const source of [[file], [`--data-dir=${restored}`]]) {
      const checked = run('check', encrypted, '--json', ...source);
      expect({ status: checked.status, ...JSON.parse(checked.stdout) }).toMatchObject({ status: 0, ...sound, sha256 });
    }
    const failed = run('restore', '--json', `--data-dir=${restored}`, file);
    expect(failed.status).toBe(1);
    expect(JSON.parse(failed.stdout)).toEqual({ error: expect.stringContaining('--replace') });
  });

  it('tells what is wrong, with exit status 3', async () => {
    const data = mkdtempSync(join(folder, 'data-'));
    const server = await start([], data);
    expect((await server.request('POST', configMaps, configMap('a'))).status).toBe(201);
    const copy = join(folder, 'faulty');
    const file = join(folder, 'sound');
    expect(run('backup', `--data-dir=${data}`, file).status).toBe(0);
    expect(run('restore', `--data-dir=${copy}`, file).status).toBe(0);
    const store = await openLmdbStore({ path: join(copy, 'store'), clock: drivenClock() });
    await store.commit([], [{ key: '/configmaps/default/a', value: Buffer.from('{"kind"') }]);
    await store.commit([], [{ key: '/configmaps/default/b', value: Buffer.from('[]') }]);
    await store.close();
    const found = run('check', `--data-dir=${copy}`);
    expect(found).toMatchObject({
      status: 3,
      stdout: expect.stringMatching(
        /^error \(object\): \/configmaps\/default\/a: .*\nerror \(object\): .*\/b: .*\n.*: revision \d+, .*\n2 errors, 0 warnings\n$/,
      ),
      // No control characters but the ends of lines.
      stderr: expect.stringMatching(/^read: [\n -~]*check: 100 %[\n -~]*$/),
    });

    truncateSync(join(copy, 'store/data.mdb'), 9000);
    const cut = run('check', '--json', `--data-dir=${copy}`);
    expect(cut.status).toBe(3);
    const message = expect.stringContaining('is damaged');
    expect(JSON.parse(cut.stdout)).toMatchObject({ ok: false, findings: [{ check: 'store', message }] });
    const bytes = readFileSync(file);
    bytes.writeUInt8(bytes.readUInt8(5000) ^ 1, 5000);
    writeFileSync(file, bytes);
    expect(run('check', file)).toMatchObject({ status: 3, stdout: expect.stringContaining('its checksum is wrong') });
  });

  it('tells apart what cannot be checked, and what makes no sense', () => {
    const missing = run('check', '--json', `--data-dir=${join(folder, 'nothing')}`);
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('orch: there is no data in ') });
    expect(JSON.parse(missing.stdout)).toEqual({ error: expect.stringContaining('there is no data in ') });
    expect(run('check', join(folder, 'nothing'))).toMatchObject({ status: 1, stdout: '' });
    expect(run('check', '--store=memory')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--store=memory'),
    });
    expect(run('check', '--store=etcd').stderr).toContain('--etcd-servers');
    expect(run('check', '--what').status).toBe(2);
    expect(run('check', '--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('Exit status') });
  });

  const program = etcdPath();
  it.skipIf(program === undefined)('checks a store over etcd while servers run', async () => {
    let etcd: TestEtcd | undefined;
    try {
      etcd = await startEtcd(program as string);
      const flags = ['--store=etcd', `--etcd-servers=${etcd.servers.join(',')}`];
      const data = mkdtempSync(join(folder, 'data-'));
      const server = await start(flags, data);
      expect((await server.request('POST', configMaps, configMap('a'))).status).toBe(201);
      const { status, json } = await runForJson('check', ...flags);
      expect({ status, json }).toMatchObject({ status: 0, json: { ok: true, findings: [] } });
      expect(json.objects.configmaps).toBeGreaterThan(0);
      expect(json.source).toBe(`etcd at ${etcd.servers.join(',')} below /registry`);
      await server.stop('SIGKILL');
    } finally {
      await etcd?.stop();
    }
  });
});
