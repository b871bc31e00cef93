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
});
