import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type ApiObject, isStatus } from '../meta/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { createServer, type OrchServer } from './server.ts';
import type { ServerOptions } from './server-options.ts';

const servers: OrchServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
async function start(options: ServerOptions = {}) {
  const clock = drivenClock();
  const server = await createServer({ apiDomain: 'k8s.io', ...options }, { clock });
  servers.push(server);
  return { server, clock };
}

const accounts = { apiVersion: 'v1', resource: 'serviceaccounts', namespace: 'default' };
const view = { apiVersion: 'rbac.authorization.k8s.io/v1', resource: 'clusterroles', name: 'view' };
const accountOf = ({ client }: OrchServer) =>
  client.get<ApiObject>({ ...accounts, name: 'default' }).catch((error: unknown) => {
    if (isStatus(error, 404)) return undefined;
    throw error;
  });
const viewRules = async ({ client }: OrchServer) => (await client.get<ApiObject>(view))['rules'];

describe('the controllers of a server', () => {
  it('run once it has started, each as its service account', async () => {
    const { server, clock } = await start();
    expect(await accountOf(server)).toBeUndefined();
    clock.advance(1_000);
    await expect.poll(() => accountOf(server)).toBeDefined();
    await expect.poll(() => viewRules(server)).not.toBeNull();
  });

  it.each([
    ['-*', false, false],
    ['-clusterrole-aggregation', false, false],
    ['clusterrole-aggregation', false, true],
    ['*,-clusterrole-aggregation', true, false],
  ])('are those of --controllers=%s', async (controllers, makesAccounts, aggregates) => {
    const { server, clock } = await start({ controllers });
    clock.advance(1_000);
    if (makesAccounts) await expect.poll(() => accountOf(server)).toBeDefined();
    if (aggregates) await expect.poll(() => viewRules(server)).not.toBeNull();
    expect([(await accountOf(server)) !== undefined, (await viewRules(server)) !== null]).toEqual([
      makesAccounts,
      aggregates,
    ]);
  });

  it.each([0, 1_000])('do not hold up the end of the server, %i ms after its start', async (ms) => {
    const { server, clock } = await start();
    clock.advance(ms);
    await server.close();
    expect(await server.close()).toBeUndefined();
  });

  it.each([
    ['its own store', { store: 'lmdb' }, true],
    ['a store that others may have too', { store: 'memory' }, false],
  ] as const)('take the lease of its last process at once in %s', async (_, options, atOnce) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'orch-controllers-'));
    try {
      const { server, clock } = await start({ ...options, dataDir });
      const { client, names } = server;
      const namespace = await client.get({ apiVersion: 'v1', resource: 'namespaces', name: names.systemNamespace });
      const leases = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases', namespace: names.systemNamespace };
      const holderIdentity = `${names.server}_${namespace.metadata.uid}`;
      const renewTime = '2026-01-01T00:00:00.000000Z';
      await client.create<ApiObject>(leases, {
        ...{ apiVersion: leases.apiVersion, kind: 'Lease', metadata: { name: 'kube-controller-manager' } },
        spec: { holderIdentity, leaseDurationSeconds: 15, renewTime },
      });
      const lease = async () => {
        const { spec } = await client.get<ApiObject>({ ...leases, name: 'kube-controller-manager' });
        return spec as { readonly [field: string]: unknown };
      };
      clock.advance(1_000);
      if (atOnce) {
        await expect.poll(() => accountOf(server)).toBeDefined();
        expect(await lease()).toMatchObject({ holderIdentity });
      } else {
        for (let second = 0; second < 10; second++) {
          await nextTurn();
          clock.advance(1_000);
        }
        expect([await accountOf(server), (await lease())['renewTime']]).toEqual([undefined, renewTime]);
      }
      await server.close();
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });

  it('are in the metrics', async () => {
    const { server, clock } = await start();
    clock.advance(1_000);
    await expect.poll(() => accountOf(server)).toBeDefined();
    const { body } = await server.client.request({ method: 'GET', url: '/metrics', headers: {} });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    expect(text).toMatch(/^workqueue_adds_total\{name="service_account"\} [1-9]/m);
    expect(text).toMatch(/^leader_election_master_status\{name="kube-controller-manager"\} 1$/m);
  });

  it('need no lease with leaderElect: false', async () => {
    const { server, clock } = await start({ leaderElect: false });
    clock.advance(1_000);
    await expect.poll(() => accountOf(server)).toBeDefined();
    const leases = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases', namespace: 'kube-system' };
    const { items } = await server.client.list<ApiObject>(leases);
    expect(items.filter(({ metadata }) => metadata.name === 'kube-controller-manager')).toEqual([]);
  });
});
