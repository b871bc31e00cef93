import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { hasKubectl } from './support/requirements.ts';
import { type RunningServer, startServer } from './support/server.ts';

const main = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist/server/main.js');
const data = mkdtempSync(join(tmpdir(), 'orch-demo-'));
let server: RunningServer | undefined;
afterAll(async () => {
  await server?.stop('SIGKILL');
  rmSync(data, { recursive: true, force: true });
});

const flags = ['--demo', '--controllers=*', '--api-domain=k8s.io'];
const demo = (group: string, resource: string) => `${group}/namespaces/demo/${resource}`;
const bookings = demo('/apis/demo.example.com/v1', 'bookings');
const web = demo('/apis/apps/v1', 'deployments/web');
const patch = { 'content-type': 'application/merge-patch+json' };

/** Ends the server, and keeps its data directory. */
async function kill(running: RunningServer): Promise<void> {
  const ended = new Promise((resolve) => running.process.once('exit', resolve));
  running.process.kill('SIGKILL');
  await ended;
}

describe('orch serve --demo', () => {
  it('fills a namespace with a small world, which runs', async () => {
    server = await startServer(flags, data);
    const running = server;
    const field = async (path: string, read: (status: { [name: string]: unknown }) => unknown) =>
      read((await running.request('GET', path)).body.status ?? {});
    await expect.poll(() => field(web, ({ readyReplicas }) => readyReplicas)).toBe(3);
    await expect.poll(() => field(demo('/apis/batch/v1', 'jobs/report'), ({ succeeded }) => succeeded)).toBe(4);
    await expect
      .poll(() => field(demo('/api/v1', 'resourcequotas/demo'), ({ used }) => used))
      .toMatchObject({ services: '1' });
    const nodes = (await running.request('GET', '/api/v1/nodes')).body.items;
    expect(nodes).toHaveLength(3);
    const { items } = (await running.request('GET', bookings)).body;
    expect(items.map(({ spec }: { spec: unknown }) => spec)).toEqual([
      { room: 'attic', nights: 2, paid: false },
      { room: 'garden', nights: 14, paid: true },
    ]);
    const refused = { ...items[0], metadata: { name: 'bob' }, spec: { room: 'tower', nights: 9 } };
    const answer = await running.request('POST', bookings, refused);
    expect({ status: answer.status, message: answer.body.message }).toEqual({
      status: 422,
      message: expect.stringContaining('more than a week is paid before'),
    });
    expect(spawnSync(process.execPath, [main, 'check', `--data-dir=${data}`]).status).toBe(0);
  });

  it.skipIf(!hasKubectl())('prints commands to try, which work', () => {
    const printed = server?.output() ?? '';
    const [, lines = ''] = /^try:\n((?: {2}.*\n)+)/m.exec(printed) ?? [];
    const commands = lines
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.endsWith('--watch'));
    expect(commands.length).toBeGreaterThan(6);
    expect(commands[0]).toBe(`export KUBECONFIG=${server?.kubeconfig}`);
    // `auth can-i` answers `no` by its exit status.
    const script = commands.map((line) => (line.includes('can-i') ? `! ${line}` : line)).join('\n');
    const out = execFileSync('bash', ['-e', '-c', script], { encoding: 'utf8', timeout: 100_000, stdio: 'pipe' });
    expect(out).toContain('deployment "web" successfully rolled out');
    expect(out).toContain('booking.demo.example.com/ada');
    expect(out).toMatch(/nights.*-required-/s);
    expect(out).toContain('node/fake-node-0 drained');
  });

  it('leaves at the next start what was changed, and makes again what was deleted', async () => {
    const before = server as RunningServer;
    const versionOf = async (path: string) =>
      (await before.request('GET', path)).body.metadata.resourceVersion as string;
    const settings = demo('/api/v1', 'configmaps/settings');
    const version = await versionOf(`${bookings}/grace`);
    expect((await before.request('PATCH', settings, { data: { colour: 'blue' } }, patch)).status).toBe(200);
    expect((await before.request('DELETE', `${bookings}/ada`)).status).toBe(200);
    await kill(before);
    server = await startServer(flags, data);
    const after = server;
    expect((await after.request('GET', `${bookings}/grace`)).body.metadata.resourceVersion).toBe(version);
    expect((await after.request('GET', settings)).body.data).toEqual({ colour: 'blue' });
    expect((await after.request('GET', `${bookings}/ada`)).status).toBe(200);
    const { managedFields } = (await after.request('GET', web)).body.metadata as {
      managedFields: { manager: string }[];
    };
    expect(managedFields.map(({ manager }) => manager)).toContain('demo');
  });

  it('works in another API domain', async () => {
    const other = await startServer(['--demo', '--controllers=*', '--api-domain=orch.io']);
    try {
      const ready = async () => (await other.request('GET', web)).body.status?.readyReplicas;
      await expect.poll(ready).toBe(3);
      expect((await other.request('GET', bookings)).body.items).toHaveLength(2);
    } finally {
      await other.stop('SIGKILL');
    }
  });
});
