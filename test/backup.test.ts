import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
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

const dataDir = (path: string) => `--data-dir=${path}`;
const args = (file: string, from = server.folder) => [main, 'backup', dataDir(from), file];
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

describe('orch backup and orch restore', () => {
  it('back up the state of one revision while writes run, and a server starts on what is restored', async () => {
    let done = false;
    const writers = [0, 1, 2, 3].map((writer) => write(writer, () => done));
    const written = async () => (await server.request('GET', configMaps)).body.items.length as number;
    await expect.poll(written).toBeGreaterThan(40);
    const file = join(folder, 'one');
    const backup = await runBeside(...args(file));
    done = true;
    await Promise.all(writers);
    expect(backup.status).toBe(0);
    const [, revision = '', objects = '', bytes = '', files = ''] =
      /: revision (\d+), (\d+) objects, (\d+) bytes \((.*)\)\n/.exec(backup.stdout) ?? [];
    expect(files.split(', ')).toEqual([...secrets, 'latest-revision', 'tokens.csv'].toSorted());
    expect(statSync(file)).toMatchObject({ size: Number(bytes), mode: 0o100600 });
    expect(readdirSync(folder)).toEqual(['one']);

    const to = join(folder, 'restored');
    expect(run(main, 'restore', dataDir(to), file)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(`to ${to}: revision ${revision}, ${objects} objects \\(sha256 [0-9a-f]{64}\\)\n`),
      // No control characters but the ends of lines.
      stderr: expect.stringMatching(/^copy: [\n -~]*verify: 100 %[\n -~]*$/),
    });
    const modes = ['', 'store', 'store/data.mdb', ...secrets].map((name) => statSync(join(to, name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o600, ...secrets.map(() => 0o600)]);
    expect(readdirSync(to).toSorted()).toEqual([...files.split(', '), 'store'].toSorted());
    const restored = await startServer([], to);
    started.push(restored);
    const { status, body } = await restored.request('GET', configMaps);
    expect(status).toBe(200);
    expect(body.items.length).toBeGreaterThan(20);
    expect(body.items).toEqual(await listAt(server, Number(revision)));
    const watch = await restored.request('GET', `${configMaps}?watch=true&resourceVersion=${revision}`);
    expect(watch.text).toContain('"code":410');
    expect(run(main, 'restore', '--replace', dataDir(to), file)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('in use by another process'),
    });
  });

  it('report an error in a sentence, and leave what there was', () => {
    const file = join(folder, 'two');
    const failed = (...words: string[]) => {
      const { status, stdout, stderr } = run(main, ...words);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      return stderr;
    };
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    const noStore = `orch: there is no data in ${join(empty, 'store')}: name the directory of a store\n`;
    expect(failed('backup', dataDir(empty), file)).toBe(noStore);
    expect(existsSync(file)).toBe(false);
    writeFileSync(join(server.folder, 'audit.log'), Buffer.alloc(2_000_000));
    const made = run(...args(file));
    expect(made).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('left out, as larger than 1 MiB: audit.log\n'),
    });
    expect(failed(...args(file).slice(1))).toContain(`orch: ${file} exists already: choose another name\n`);

    const to = join(folder, 'to');
    const cut = join(folder, 'cut');
    writeFileSync(cut, readFileSync(file).subarray(0, -5000));
    expect(failed('restore', dataDir(to), cut)).toMatch(/^orch: the backup .* is damaged: .*; use another one\n$/);
    expect(existsSync(to)).toBe(false);
    expect(run(main, 'restore', dataDir(to), file).status).toBe(0);
    expect(failed('restore', dataDir(to), file)).toMatch(/^orch: there is data in .* already: .*--replace.*\n$/);
    expect(run(main, 'restore', dataDir(to), '--replace', file).status).toBe(0);

    truncateSync(join(to, 'store/data.mdb'), 9000);
    expect(failed('restore', '--replace', dataDir(to), file)).toMatch(/ is damaged: .*; move it away and restore /);
    expect(run(main, 'serve', '--secure-port=0', dataDir(to)).stderr).toMatch(/ is damaged: .*; move it away and /);
    expect(run(main, 'backup')).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('needs a file'),
    });
    expect(run(main, 'restore', '--what', 'a').stderr).toContain('unknown flag "--what"');
    expect(run(main, 'restore', '--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--replace=<') });
  });
});

it.each(['', '..', 'store', 'store.new', '../other', 'a\0b', 'a'.repeat(300)])(
  'a crafted backup with a file named %j is refused before anything is written',
  (name) => {
    const head = Buffer.alloc(21);
    head.write('F');
    head.writeUInt32BE(Buffer.byteLength(name), 1);
    const header = { format: 'multi-version store backup', version: 1, revision: 9, made: 1 };
    const content = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), head, Buffer.from(name)]);
    const [file, to] = [join(folder, 'crafted'), join(folder, 'crafted-data')];
    writeFileSync(file, Buffer.concat([content, createHash('sha256').update(content).digest()]));
    expect(run(main, 'restore', dataDir(to), file)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `orch: ${file} is not a backup of a data directory\n`,
    });
    expect(existsSync(to)).toBe(false);
  },
);
