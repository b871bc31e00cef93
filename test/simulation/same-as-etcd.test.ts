import { expect, it } from 'vitest';
import { runWorld } from '../../src/server/harness/simulation/simulate.ts';
import type { ApiObject, Client } from '../../src/server/index.ts';
import { createServer } from '../../src/server/index.ts';
import { startEtcd } from '../../src/store/testing/etcd.ts';
import { etcdPath } from '../support/requirements.ts';

const place = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
const configMap = (name: string, more: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
});

/** The clients' view of the same work, whatever the store: the outcome of each step. */
async function outcomes(first: Client, second: Client): Promise<unknown[]> {
  const seen: unknown[] = [];
  const step = async (name: string, work: Promise<object>) => {
    try {
      const { kind, metadata } = (await work) as ApiObject;
      seen.push([name, kind, metadata.name]);
    } catch (error) {
      const { code, reason } = error as { readonly code?: number; readonly reason?: string };
      seen.push([name, code, reason]);
    }
  };
  const named = { ...place, name: 'a' };
  const created = await first.create<ApiObject>(place, configMap('a'));
  const begin = { resourceVersion: created.metadata.resourceVersion ?? '' };
  await step('create again', second.create<ApiObject>(place, configMap('a')));
  const { metadata } = await second.get<ApiObject>(named);
  await step('update', second.update<ApiObject>(named, configMap('a', { metadata, data: { by: 'second' } })));
  await step(
    'update of an old version',
    first.update<ApiObject>(named, configMap('a', { metadata, data: { by: 'first' } })),
  );
  await step('patch', first.patch<ApiObject>(named, 'merge', { data: { more: 'x' } }));
  await step(
    'apply with a conflict',
    first.apply<ApiObject>(named, configMap('a', { data: { more: 'y' } }), { fieldManager: 'other' }),
  );
  await step('delete with another uid', first.delete<ApiObject>(named, { preconditions: { uid: 'other' } }));
  await step('delete', second.delete<ApiObject>(named));
  await step('get', first.get<ApiObject>(named));
  await step('patch of what is gone', first.patch<ApiObject>(named, 'merge', {}));
  // Of writers at the same time with the same version, one succeeds.
  const base = (await first.create<ApiObject>(place, configMap('b'))).metadata;
  const races = await Promise.allSettled(
    [first, second, first, second].map((client, i) =>
      client.update<ApiObject>(
        { ...place, name: 'b' },
        configMap('b', { metadata: base, data: { writer: String(i) } }),
      ),
    ),
  );
  const codes = races.map((race) =>
    race.status === 'fulfilled' ? 200 : Number((race.reason as { code?: number }).code),
  );
  seen.push(['updates at the same time', ...codes.sort((a, b) => a - b)]);
  const events: unknown[] = [];
  for await (const { type, object } of await second.watch<ApiObject>(place, begin)) {
    events.push([type, object.metadata.name]);
    if (events.length === 5) break;
  }
  seen.push(['watch', ...events]);
  const { items } = await second.list<ApiObject>(place);
  seen.push(['list', ...items.map((item) => item.metadata.name)]);
  return seen;
}

const program = etcdPath();

it.skipIf(program === undefined)(
  'Clients see the same of a simulated store as of etcd',
  { timeout: 120_000 },
  async () => {
    const etcd = await startEtcd(program as string);
    const options = {
      store: 'etcd',
      etcdServers: [...etcd.servers],
      apiDomain: 'k8s.io',
      controllers: '-*',
      disableAdmissionPlugins: ['ServiceAccount'],
    } as const;
    const servers = [await createServer(options), await createServer(options)];
    const ofEtcd = await outcomes(...(servers.map(({ client }) => client) as [Client, Client]));
    for (const server of servers) await server.close();
    await etcd.stop();

    let ofSimulation: unknown[] = [];
    const clients: Client[] = [];
    const run = await runWorld(1, {
      servers: 2,
      clients: 2,
      operations: {
        join: async ({ client }) => void clients.push(client),
        work: async () => {
          ofSimulation = await outcomes(...(clients as [Client, Client]));
        },
      },
      duration: '1s',
      plan: {
        operations: [
          { at: 0, client: 'client-1', run: 'join', seed: 1 },
          { at: 0, client: 'client-2', run: 'join', seed: 1 },
          { at: 1, client: 'client-2', run: 'work', seed: 1 },
        ],
        faults: [],
      },
    });
    expect(run.failures).toEqual([]);
    expect(ofSimulation).toEqual(ofEtcd);
    expect(ofEtcd).toContainEqual(['updates at the same time', 200, 409, 409, 409]);
  },
);
