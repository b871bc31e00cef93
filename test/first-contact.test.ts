import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasKubectl } from './support/requirements.ts';

// The built command in an empty folder, as somebody meets it first.
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const main = join(root, 'dist/server/main.js');

let folder = '';
const running: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-first-'));
});
afterEach(async () => {
  for (const child of running.splice(0)) await end(child, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const end = (child: ChildProcess, signal: NodeJS.Signals) =>
  new Promise<number | null>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode);
    child.once('exit', resolve);
    child.kill(signal);
  });

/** The output of a command until it is ready. */
function start(...args: readonly string[]) {
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  return new Promise<{ readonly child: ChildProcess; readonly out: string }>((resolve, reject) => {
    let [out, errors] = ['', ''];
    child.stdout.on('data', (piece: Buffer) => {
      out += piece.toString();
      if (/^try:/m.test(out)) resolve({ child, out });
    });
    child.stderr.on('data', (piece: Buffer) => {
      errors += piece.toString();
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${out}${errors}`)));
  });
}

const serve = (...flags: readonly string[]) => start(main, 'serve', '--secure-port=0', '--controllers=-*', ...flags);
const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [main, ...args], { cwd: folder, encoding: 'utf8', timeout: 100_000 });

describe('a server without a data directory', () => {
  it('says first which names it serves, and keeps the files of each domain apart', async () => {
    const ours = await serve();
    expect(ours.out).toMatch(
      /^orch \S+ is ready at https:\/\/\S+ with the names of orch\.io \(.*--api-domain=k8s\.io\)\n/,
    );
    const theirs = await serve('--api-domain=k8s.io');
    expect(theirs.out).toMatch(/^orch \S+ is ready at https:\/\/\S+ with the names of k8s\.io, which kubectl uses/);
    expect(readdirSync(join(folder, 'orch-data')).toSorted()).toEqual(['k8s.io', 'orch.io']);
    for (const { child } of [ours, theirs]) expect(await end(child, 'SIGTERM')).toBe(0);
    const check = run('check');
    expect([check.status, check.stderr]).toEqual([
      1,
      expect.stringContaining('name one with --data-dir=./orch-data/k8s.io'),
    ]);
  });

  it('uses a data directory at ./orch-data as it is', async () => {
    const first = await serve();
    await end(first.child, 'SIGTERM');
    renameSync(join(folder, 'orch-data'), join(folder, 'moved'));
    renameSync(join(folder, 'moved/orch.io'), join(folder, 'orch-data'));
    const authority = readFileSync(join(folder, 'orch-data/ca.crt'), 'utf8');
    const again = await serve();
    expect(again.out).toContain('objects: the data directory ./orch-data;');
    expect(existsSync(join(folder, 'orch-data/orch.io'))).toBe(false);
    expect(readFileSync(join(folder, 'orch-data/ca.crt'), 'utf8')).toBe(authority);
    await end(again.child, 'SIGTERM');
    expect(run('check').stdout).toContain('./orch-data: revision ');
  });

  it('is the one that is backed up; a backup is restored to the folder of its domain', async () => {
    const { child } = await serve('--api-domain=k8s.io');
    await end(child, 'SIGTERM');
    expect(run('backup', 'copy').stdout).toContain('./orch-data/k8s.io is backed up to copy');
    rmSync(join(folder, 'orch-data'), { recursive: true });
    expect(run('check').stderr).toContain('there is no data directory in ./orch-data: name it with --data-dir');
    expect(run('restore', 'copy').stdout).toContain('is restored to ./orch-data/k8s.io');
    expect(run('check').status).toBe(0);
  });
});

it.each([
  ['serve --store=memory', ['serve', '--secure-port=0', '--controllers=-*', '--store=memory']],
  ['demo', ['demo', '--controllers=-*']],
])('orch %s leaves nothing behind', async (_, args) => {
  const { child, out } = await start(main, ...args);
  const [, kubeconfig = ''] = /administrator's kubeconfig: (\S+)/.exec(out) ?? [];
  expect(statSync(dirname(kubeconfig)).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder)).toEqual([]);
  expect(await end(child, 'SIGTERM')).toBe(0);
  expect(existsSync(dirname(kubeconfig))).toBe(false);
});

it.skipIf(!hasKubectl())(
  'the line that orch demo prints makes kubectl talk to a small world',
  async () => {
    const { out } = await start(main, 'demo');
    const [, line = ''] = /^ +(export KUBECONFIG=\S+)$/m.exec(out) ?? [];
    const sh = (command: string) =>
      spawnSync('sh', ['-c', `${line}; ${command}`], {
        encoding: 'utf8',
        timeout: 100_000,
        env: { ...process.env, HOME: folder },
      });
    expect(sh('kubectl rollout status deployment/web --namespace demo --timeout=60s').stdout).toContain(
      'successfully rolled out',
    );
    expect(sh('kubectl get nodes --output=name').stdout).toContain('node/fake-node-0');
    expect(sh('kubectl get bookings --namespace demo --output=name').stdout).not.toBe('');
  },
  240_000,
);

it('npm start serves the names that kubectl uses, unless a setting says otherwise', async () => {
  const script = join(root, 'scripts/start.mjs');
  const flags = ['--secure-port=0', '--controllers=-*', '--store=memory'];
  expect((await start(script, ...flags)).out).toContain('with the names of k8s.io,');
  expect((await start(script, ...flags, '--api-domain=example.org')).out).toContain('with the names of example.org ');
});

it('npm start ends when npm is ended', async () => {
  const flags = '--secure-port=0 --controllers=-* --store=memory';
  const parent = spawn('sh', ['-c', `"${process.execPath}" "${join(root, 'scripts/start.mjs')}" ${flags}; true`], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.push(parent);
  const closed = new Promise<void>((resolve) => parent.stdout.once('close', () => resolve()));
  await new Promise<void>((resolve) =>
    parent.stdout.on('data', (piece: Buffer) => /try:/.test(piece.toString()) && resolve()),
  );
  // As npm does: its shell ends, and the server gets no signal. It holds standard output until it ends.
  parent.kill('SIGKILL');
  await closed;
});

describe('orch kubeconfig', () => {
  it.skipIf(!hasKubectl())('makes a certificate of a user and the kubeconfig for it', async () => {
    await serve('--api-domain=k8s.io');
    const made = run('kubeconfig', '--user=jane', '--group=dev,ops', '--namespace=team');
    expect(made.stdout).toContain('jane.kubeconfig is the kubeconfig of jane in dev, ops\ntry: export KUBECONFIG=');
    const path = join(folder, 'jane.kubeconfig');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const kubectl = (...args: string[]) =>
      spawnSync('kubectl', ['--kubeconfig', path, ...args], { encoding: 'utf8', timeout: 100_000 });
    const who = JSON.parse(kubectl('auth', 'whoami', '--output=json').stdout) as { status: { userInfo: object } };
    expect(who.status.userInfo).toMatchObject({ username: 'jane', groups: ['dev', 'ops', 'system:authenticated'] });
    expect(kubectl('get', 'pods').stderr).toContain(
      'User "jane" cannot list resource "pods" in API group "" in the namespace "team"',
    );
  });

  it.each([
    [[], 2, '--user must name the user'],
    [['--user=jane', '--namespace=No'], 2, '--namespace a lowercase RFC 1123 label'],
    [['--user=jane', '--duration=1s'], 2, '--duration must be at least 1m'],
    [['--user=jane'], 1, 'there is no data directory in ./orch-data'],
    [['--user=jane', '--data-dir=none'], 1, 'none is not a data directory: it has no ca.crt'],
    [['--user=jane', '--data-dir=etcd'], 1, 'etcd has no ca.key: the servers of an etcd share the key'],
    [['--user=jane', '--data-dir=etcd', '--out=etcd/ca.crt'], 1, 'etcd/ca.crt is there already'],
  ])('%j fails with %d', (flags, status, message) => {
    mkdirSync(join(folder, 'etcd'));
    spawnSync('sh', ['-c', 'echo certificate > etcd/ca.crt'], { cwd: folder });
    const { stderr, ...ended } = run('kubeconfig', ...flags);
    expect([ended.status, stderr]).toEqual([status, expect.stringContaining(message)]);
    expect(readdirSync(folder)).toEqual(['etcd']);
  });
});
