import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from './support/server.ts';

const main = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist/server/main.js');
const configMaps = '/api/v1/namespaces/default/configmaps';
const secrets = ['ca.crt', 'ca.key', 'server.crt', 'server.key', 'admin.crt', 'admin.key', 'admin.kubeconfig'];

let folder: string;
let server: RunningServer;
const started: RunningServer[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orch-backup-'));
  server = await startServer();
  started.push(server);
});
afterAll(async () => {
  for (const each of started) await each.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const args = (to: string, from = server.folder) => [main, 'backup', `--data-dir=${from}`, to];
const run = (...words: string[]): SpawnSyncReturns<string> => spawnSync(process.execPath, words, { encoding: 'utf8' });

/** As {@link run}, while this process goes on. */
async function runBeside(...words: string[]): Promise<{ status: unknown; stdout: string }> {
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const status = new Promise((resolve) => child.once('exit', resolve));
  return { stdout: await text(child.stdout), status: await status };
}

/** Creates and deletes until it is told to stop. */
async function write(writer: number, stopped: () => boolean): Promise<number> {
  let n = 0;
  for (; !stopped(); n++) {
    const data = { text: `${n}`.padEnd((n * 997) % 20_000, '.') };
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c-${writer}-${n}` }, data };
    expect((await server.request('POST', configMaps, body)).status).toBe(201);
    if (n % 3 === 2) {
      expect((await server.request('DELETE', `${configMaps}/c-${writer}-${n - 2}`)).status).toBe(200);
    }
  }
  return n;
}

async function listAt(from: RunningServer, revision: number) {
  const query = `resourceVersion=${revision}&resourceVersionMatch=Exact`;
  const { status, body } = await from.request('GET', `${configMaps}?${query}`);
  expect(status).toBe(200);
  return body.items as { metadata: { name: string } }[];
}

describe('orch backup', { timeout: 60_000 }, () => {
  it('copies the state of one revision while writes run, and a server starts on the copy', async () => {
    let done = false;
    const writers = [0, 1, 2, 3].map((writer) => write(writer, () => done));
    const written = async () => (await server.request('GET', configMaps)).body.items.length as number;
    await expect.poll(written, { timeout: 30_000 }).toBeGreaterThan(40);
    const copies = [];
    for (const name of ['one', 'two'])
      copies.push({ to: join(folder, name), ...(await runBeside(...args(join(folder, name)))) });
    done = true;
    await Promise.all(writers);
    for (const { to, status, stdout } of copies) {
      expect(status).toBe(0);
      const [, revision = '', bytes = '', files = ''] = /: revision (\d+), (\d+) bytes \((.*)\)\n/.exec(stdout) ?? [];
      expect(files.split(', ')).toEqual(['store', ...[...secrets, 'tokens.csv'].toSorted()]);
      expect(stdout).toContain(`restore: orch serve --data-dir=${JSON.stringify(to)}\n`);
      expect(statSync(join(to, 'store/data.mdb')).size).toBe(Number(bytes));
      expect(readdirSync(join(to, 'store'))).toEqual(['data.mdb']);
      expect(readdirSync(to).toSorted()).toEqual(files.split(', ').toSorted());
      const modes = ['', 'store', 'store/data.mdb', ...secrets].map((name) => statSync(join(to, name)).mode & 0o777);
      expect(modes).toEqual([0o700, 0o700, 0o600, ...secrets.map(() => 0o600)]);
      const restored = await startServer([], to);
      started.push(restored);
      const items = await listAt(restored, Number(revision));
      expect(items.length).toBeGreaterThan(20);
      expect(items).toEqual(await listAt(server, Number(revision)));
    }
  });

  it('reports an error in a sentence, and leaves no files', () => {
    const full = join(folder, 'full');
    mkdirSync(full);
    writeFileSync(join(full, 'file'), '');
    expect(run(...args(full))).toMatchObject({
      status: 1,
      stderr: `orch: ${full} is not empty: choose another directory for the backup\n`,
    });
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    const to = join(folder, 'to');
    expect(run(...args(to, empty))).toMatchObject({
      status: 1,
      stderr: `orch: there is no data in ${join(empty, 'store')}: name the directory of a store\n`,
    });
    expect(existsSync(to)).toBe(false);
    const cut = join(folder, 'cut');
    expect(run(...args(cut))).toMatchObject({ status: 0 });
    truncateSync(join(cut, 'store/data.mdb'), 9000);
    expect(run(...args(to, cut)).stderr).toMatch(/^orch: the data in .*data\.mdb is damaged: .*restore a backup\n$/);
    expect(run(main, 'serve', '--secure-port=0', `--data-dir=${cut}`)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^orch: the data in .*data\.mdb is damaged: .*restore a backup\n$/),
    });
    expect(run(...args(join(full, 'file')))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('cannot be written'),
    });
    for (const words of [[], ['a', 'b'], ['--data-dir='], ['--what', 'a']]) {
      expect(run(main, 'backup', ...words)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('orch backup ['),
      });
    }
    expect(run(main, 'backup', '--help')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('orch backup ['),
    });
    expect(existsSync(to)).toBe(false);
  });
});
