import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CtlBench, ctlBench } from './testing/run-ctl.ts';

let bench: CtlBench;
const configMaps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
const configMap = (name: string, finalizers: string[] = []) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', finalizers },
});

beforeAll(async () => {
  bench = await ctlBench({ controllersThread: false });
  await bench.server.client.create(configMaps, configMap('held', ['example.com/held']));
  await bench.server.client.create(configMaps, configMap('plain'));
});
afterAll(() => bench.close());

it.each([
  ['get cm -w', /held/],
  ['get cm plain -w -o name', /plain/],
  ['delete cm held', /"held" deleted/],
])('%s ends with status 130 at Ctrl-C', async (line, started) => {
  const running = bench.start(line.split(' '));
  await expect.poll(running.stdout).toMatch(started);
  running.interrupt();
  expect(await running.ended).toMatchObject({ status: 130, stderr: '' });
});

it('get -w prints one object once, then each change of it', async () => {
  await bench.server.client.create(configMaps, configMap('watched'));
  const running = bench.start(['get', 'cm', 'watched', '-w', '-o', 'jsonpath={.metadata.labels.step};']);
  await expect.poll(running.stdout).toBe(';');
  for (const [step, printed] of [
    ['1', ';1;'],
    ['2', ';1;2;'],
  ] as const) {
    await bench.run('label', 'cm', 'watched', `step=${step}`, '--overwrite');
    await expect.poll(running.stdout).toBe(printed);
  }
  running.interrupt();
  await running.ended;
});

it('wait ends with status 130 at Ctrl-C, and does not report the condition as met', async () => {
  const running = bench.start(['wait', 'cm/plain', '--for=delete']);
  running.interrupt();
  expect(await running.ended).toEqual({ status: 130, stdout: '', stderr: '' });
});

it('edit removes its file and ends the editor at Ctrl-C', async () => {
  const note = join(bench.folder, 'note');
  const editor = `exec sh -c 'echo "$0" > ${note}; exec sleep 1000'`;
  const running = bench.start(['edit', 'cm', 'plain'], '', {
    env: { KUBE_EDITOR: editor, PATH: process.env['PATH'] ?? '' },
  });
  await expect.poll(() => existsSync(note) && readFileSync(note, 'utf8')).toMatch(/\n$/);
  running.interrupt();
  expect(await running.ended).toMatchObject({ status: 130 });
  expect(existsSync(dirname(readFileSync(note, 'utf8').trim()))).toBe(false);
});

it('config keeps the changes of programs that run at the same time', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `context-${i}`);
  const ends = await Promise.all(names.map((name) => bench.run('config', 'set-context', name, '--namespace=a')));
  expect(ends.map(({ status }) => status)).toEqual(names.map(() => 0));
  const { stdout } = await bench.run('config', 'get-contexts', '-o', 'name');
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(names));
  expect(existsSync(`${bench.kubeconfig}.lock`)).toBe(false);
});

it('config creates the file of --kubeconfig, as kubectl does', async () => {
  const file = `--kubeconfig=${join(bench.folder, 'new/kubeconfig')}`;
  expect(await bench.run('config', 'set-cluster', 'c', '--server=https://a.example', file)).toEqual({
    status: 0,
    stdout: 'Cluster "c" set.\n',
    stderr: '',
  });
  expect((await bench.run('config', 'get-clusters', file)).stdout).toBe('NAME\nc\n');
});

it('config waits for the lock of another program', async () => {
  const lock = `${bench.kubeconfig}.lock`;
  writeFileSync(lock, '');
  const before = readFileSync(bench.kubeconfig, 'utf8');
  const running = bench.start(['config', 'set-context', 'later', '--namespace=a']);
  // Reads of the file need no lock, so they end while the change waits.
  await bench.run('config', 'view');
  expect(readFileSync(bench.kubeconfig, 'utf8')).toBe(before);
  await rm(lock);
  expect(await running.ended).toMatchObject({ status: 0 });
  expect(readFileSync(bench.kubeconfig, 'utf8')).toContain('later');
});

it('config ends with status 130 at Ctrl-C while it waits for a lock, and leaves the lock of the other program', async () => {
  const lock = `${bench.kubeconfig}.lock`;
  writeFileSync(lock, 'theirs');
  const before = readFileSync(bench.kubeconfig, 'utf8');
  const running = bench.start(['config', 'set-context', 'never', '--namespace=a']);
  // The lock is tried before this command line ends.
  await bench.run('config', 'view');
  running.interrupt();
  expect(await running.ended).toEqual({ status: 130, stdout: '', stderr: '' });
  expect(readFileSync(lock, 'utf8')).toBe('theirs');
  await rm(lock);
  expect(readFileSync(bench.kubeconfig, 'utf8')).toBe(before);
  expect((await bench.run('config', 'set-context', 'after', '--namespace=a')).status).toBe(0);
});
