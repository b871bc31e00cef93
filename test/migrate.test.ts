import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
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
const program = etcdPath();
const configMaps = '/api/v1/namespaces/default/configmaps';
const objects = 4000;

/** Runs the command; it is killed as soon as its standard error has the text. */
async function run(command: string, flags: readonly string[], killAt?: string) {
  const child = spawn(process.execPath, [main, command, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => {
    stdout += piece.toString();
  });
  child.stderr.on('data', (piece: Buffer) => {
    stderr += piece.toString();
    if (killAt !== undefined && stderr.includes(killAt)) child.kill('SIGKILL');
  });
  const [status, signal] = await once(child, 'close');
  return { status: status as number | null, signal: signal as string | null, stdout, stderr };
}

describe.skipIf(program === undefined)('orch migrate', () => {
  let etcd: TestEtcd;
  let folder: string;
  const started: RunningServer[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'orch-migrate-'));
    etcd = await startEtcd(program as string);
  });
  afterAll(async () => {
    for (const server of started) await server.stop('SIGKILL');
    await etcd?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A copy of a store that a server writes meanwhile, which is told. */
  async function copyWhileWritten(server: RunningServer): Promise<void> {
    let done = false;
    const writing = (async () => {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'written' } };
      while (!done) {
        expect((await server.request('POST', configMaps, object)).status).toBe(201);
        expect((await server.request('DELETE', `${configMaps}/written`)).status).toBe(200);
      }
    })();
    const servers = `--etcd-servers=${etcd.servers.join(',')}`;
    const copied = await run('migrate', [`--data-dir=${server.folder}`, servers, '--etcd-prefix=/trial']);
    done = true;
    await writing;
    expect(copied).toMatchObject({ status: 0, stderr: expect.stringContaining('the source has been written since') });
  }

  it('moves a cluster to etcd and back: killed and resumed, with the objects, and versions that only grow', async () => {
    const [data, back] = [join(folder, 'data'), join(folder, 'back')];
    const first = await startServer([], mkdtempSync(join(folder, 'made-')));
    started.push(first);
    const created = await first.request('POST', configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings' },
      data: { colour: 'green' },
    });
    expect(created.status).toBe(201);
    await copyWhileWritten(first);
    const file = join(folder, 'backup');
    expect((await run('backup', [`--data-dir=${first.folder}`, file])).status).toBe(0);
    expect((await run('restore', [`--data-dir=${data}`, file])).status).toBe(0);
    // More objects than are copied at once.
    const store = await openLmdbStore({ path: join(data, 'store'), clock: drivenClock() });
    const [template] = (await store.list({ prefix: '/configmaps/default/settings', limit: 1 })).entries;
    for (let i = 0; i < objects; i += 100) {
      const writes = Array.from({ length: 100 }, (_, j) => {
        const name = `many-${10_000 + i + j}`;
        const value = Buffer.from(template?.value ?? [])
          .toString()
          .replaceAll('settings', name);
        return { key: `/configmaps/default/${name}`, value: Buffer.from(value) };
      });
      await store.commit([], writes);
    }
    const before = await store.revision();
    await store.close();

    const flags = [`--etcd-servers=${etcd.servers.join(',')}`, '--etcd-prefix=/moved'];
    const there = ['--from=lmdb', '--to=etcd', `--data-dir=${data}`, ...flags];
    const killed = await run('migrate', there, 'copy: 1');
    expect(killed).toMatchObject({ signal: 'SIGKILL', stdout: '' });
    const resumed = await run('migrate', there);
    expect(resumed.stderr).toMatch(
      /^goes on with an interrupted copy of revision \d+: [\d,]+ objects are there\ncopy: /,
    );
    expect(resumed.stderr).toMatch(/^[\n -~]*verify: 100 %[^\n]*\n$/);
    const [, revision, count, digest] =
      /: revision (\d+), (\d+) objects \(sha256 (\w+)\)\n$/.exec(resumed.stdout) ?? [];
    expect(Number(revision)).toBe(before);
    expect(Number(count)).toBeGreaterThan(objects);
    expect(digest).toHaveLength(64);
    expect(await run('migrate', there)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: 'orch: the target is not empty: give another prefix, or remove the keys below it\n',
    });

    const second = await startServer(['--store=etcd', ...flags], data);
    started.push(second);
    const { body: list } = await second.request('GET', `${configMaps}?limit=5000`);
    expect(list.items).toHaveLength(objects + 1);
    const own = list.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === 'settings');
    expect(own).toMatchObject({ data: { colour: 'green' }, metadata: { uid: created.body.metadata.uid } });
    expect(Number(own.metadata.resourceVersion)).toBeGreaterThan(before);
    const stale = { ...created.body, data: { colour: 'blue' } };
    expect((await second.request('PUT', `${configMaps}/settings`, stale)).status).toBe(409);
    expect((await second.request('PUT', `${configMaps}/settings`, { ...own, data: {} })).status).toBe(200);
    const watch = await second.request('GET', `${configMaps}?watch=true&resourceVersion=${before}`);
    expect(watch.text).toContain('"code":410');
    const [, latest] = [await second.stop(), list.metadata.resourceVersion];

    const home = await run('migrate', ['--from=etcd', '--to=lmdb', `--data-dir=${back}`, ...flags]);
    expect(home).toMatchObject({ status: 0, stdout: expect.stringContaining(`is copied to ${back}: revision `) });
    const third = await startServer([], back);
    started.push(third);
    const { body: moved } = await third.request('GET', `${configMaps}/settings`);
    expect(moved.metadata.uid).toBe(own.metadata.uid);
    expect(Number(moved.metadata.resourceVersion)).toBeGreaterThan(Number(latest));
  });

  it('refuses what makes no sense, and says what is missing', async () => {
    const servers = `--etcd-servers=${etcd.servers.join(',')}`;
    expect(await run('migrate', ['--from=etcd', servers])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--from and --to must differ'),
    });
    expect((await run('migrate', [])).stderr).toContain('--etcd-servers must name the members');
    const data = join(folder, 'none');
    expect(await run('migrate', [servers, `--data-dir=${data}`])).toMatchObject({
      status: 1,
      stderr: `orch: there is no data in ${join(data, 'store')}: name the directory of a store\n`,
    });
    expect(await run('migrate', ['--help'])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('--to=<lmdb|'),
    });
  });
});
