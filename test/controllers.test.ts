import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allControllers } from '../src/controllers/index.ts';
import { defaultControllers } from '../src/server/settings/controller-list.ts';
import { type RunningServer, startServer } from './support/server.ts';

const main = join(dirname(import.meta.dirname), 'dist/server/main.js');
const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
const accounts = '/api/v1/namespaces/kube-system/serviceaccounts';
// Short times, for few controllers: a busy machine may not renew the lease of many so soon.
const election = [
  '--leader-elect-lease-duration=2s',
  '--leader-elect-renew-deadline=1500ms',
  '--leader-elect-retry-period=200ms',
];

// The controllers in their own process, with a server that runs none.
describe('orch controllers', () => {
  let server: RunningServer;
  const running: ChildProcess[] = [];
  beforeAll(async () => {
    server = await startServer(['--api-domain=k8s.io', '--controllers=-*']);
  });
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
    await server.stop();
  });

  function run(...flags: string[]) {
    const args = [main, 'controllers', `--kubeconfig=${server.kubeconfig}`, ...flags];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    running.push(child);
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (printed += String(piece)));
    return { child, output: () => printed };
  }
  const statusOf = async (path: string) => (await server.request('GET', path)).status;
  const holder = async () => (await server.request('GET', lease)).body.spec?.holderIdentity as string | undefined;

  it('run as their service accounts, until a signal', async () => {
    // All controllers at once keep a busy machine from renewing the lease in ten seconds.
    const patient = ['--leader-elect-lease-duration=120s', '--leader-elect-renew-deadline=100s'];
    const { child, output } = run('--use-service-account-credentials', ...patient);
    await expect.poll(() => statusOf('/api/v1/namespaces/default/serviceaccounts/default')).toBe(200);
    expect(await holder()).toMatch(/_[0-9a-f-]{36}$/);
    const view = '/apis/rbac.authorization.k8s.io/v1/clusterroles/view';
    await expect.poll(async () => (await server.request('GET', view)).body.rules).not.toBeNull();
    const names = async () =>
      (await server.request('GET', accounts)).body.items.map(
        ({ metadata }: { metadata: { name: string } }) => metadata.name,
      );
    const all = allControllers.filter(({ name }) => defaultControllers.has(name)).map(({ account }) => account);
    const needed = [...new Set(all)].filter((account) => account !== undefined);
    expect(needed.length).toBeGreaterThan(25);
    await expect.poll(names).toEqual(expect.arrayContaining(needed));
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect([await exited, await holder()]).toEqual([[0, null], '']);
    expect(output()).not.toMatch(/"level":"(?:warn|error)"/);
  });

  it('run as the user of the kubeconfig, and end with status 1 when they lose the lease', async () => {
    const { child, output } = run('--controllers=serviceaccount-controller', '--api-domain=k8s.io', ...election);
    const exited = once(child, 'exit');
    await expect.poll(holder).toMatch(/_/);
    await server.request('POST', '/api/v1/namespaces', { metadata: { name: 'team' } });
    await expect.poll(() => statusOf('/api/v1/namespaces/team/serviceaccounts/default')).toBe(200);
    const merge = { 'content-type': 'application/merge-patch+json' };
    await server.request('PATCH', lease, { spec: { holderIdentity: 'other', leaseDurationSeconds: 60 } }, merge);
    expect(await exited).toEqual([1, null]);
    expect(output()).toContain('orch: leaderelection lost\n');
    await server.request('DELETE', lease);
  });

  it('wait while others hold the lease, and take over from a leader that was killed', async () => {
    const leader = run('--controllers=serviceaccount-controller', ...election);
    await expect.poll(holder).toMatch(/_/);
    const first = await holder();
    const standby = run('--controllers=serviceaccount-controller', ...election);
    await expect.poll(standby.output).toContain('runs controllers for');
    leader.child.kill('SIGKILL');
    await expect.poll(holder).not.toBe(first);
    expect(await holder()).toMatch(/_/);
    standby.child.kill('SIGKILL');
    await server.request('DELETE', lease);
  });

  it.each([
    [[], 2, 'orch: --kubeconfig must name the kubeconfig of a server'],
    [['--kubeconfig=/nonexistent/file'], 1, 'orch: --kubeconfig="/nonexistent/file" cannot be read: '],
    [['--kubeconfg=x'], 2, 'orch: unknown flag "--kubeconfg"; did you mean "kubeconfig"?'],
  ])('with %j end with status %i', (flags, status, message) => {
    const end = spawnSync(process.execPath, [main, 'controllers', ...flags], { encoding: 'utf8' });
    expect([end.status, end.stdout]).toEqual([status, '']);
    expect(end.stderr).toContain(message);
  });

  it('refuse a server of another API domain', async () => {
    const { child, output } = run('--api-domain=example.org');
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(output()).toContain('--api-domain=example.org is not that of https://127.0.0.1');
  });

  it('list their flags', () => {
    const help = spawnSync(process.execPath, [main, 'controllers', '--help'], { encoding: 'utf8' });
    expect(help.stdout).toContain('--use-service-account-credentials=<true|false> (default false)');
    expect(spawnSync(process.execPath, [main, '--help'], { encoding: 'utf8' }).stdout).toContain('orch controllers ');
  });
});
