import { afterEach, describe, expect, it } from 'vitest';
import { type ApiObject, namesFor } from '../../meta/index.ts';
import { bootstrapFlowObjects } from '../../resources/index.ts';
import { openMemoryStore, type Store } from '../../store/index.ts';
import { storeWith } from '../../store/testing/store-with.ts';
import { systemClock } from '../clock.ts';
import { createServer, type OrchServer } from '../server.ts';

const names = namesFor('orch.io');
const servers: OrchServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A store that outlives its servers. `intercept` runs before each commit, with the keys that it writes. */
function sharedStore(intercept: (keys: readonly string[], store: Store) => Promise<void> = async () => {}) {
  const store = openMemoryStore({ clock: systemClock });
  const commits: string[][] = [];
  const shared = storeWith(store, {
    commit: async (compares, writes) => {
      const keys = writes.map(({ key }) => key);
      await intercept(keys, store);
      commits.push(keys);
      return store.commit(compares, writes);
    },
    close: () => Promise.resolve(),
  });
  return { store: shared, commits };
}

async function start(store: Store): Promise<OrchServer> {
  const server = await createServer({ controllers: '-*' }, { store });
  servers.push(server);
  return server;
}

const flowKey = /^\/flowschemas\//;
const namespaceKey = (name: string) => `/namespaces/${name}`;

describe('the bootstrap objects', () => {
  it('are created in one commit, and not written again at the next start', async () => {
    const { store, commits } = sharedStore();
    await start(store);
    // The status of a flow schema is a commit of its own.
    const [first = [], ...others] = commits.filter((keys) => keys.length > 1 && keys.some((key) => flowKey.test(key)));
    expect(others).toEqual([]);
    const flows = bootstrapFlowObjects(names).length;
    // With four namespaces, two priority classes and the ServiceCIDR.
    expect(first).toHaveLength(flows + 4 + 2 + 1);
    await start(store);
    const creating = commits.filter((keys) => keys.length > 1 && keys.some((key) => flowKey.test(key)));
    expect(creating).toHaveLength(1);
    expect(commits.flat().filter((key) => key === namespaceKey('default'))).toHaveLength(1);
  });

  it('are created again when they were deleted, and not changed when they exist', async () => {
    const { store } = sharedStore();
    const { client } = await start(store);
    const classes = { apiVersion: 'scheduling.orch.io/v1', resource: 'priorityclasses' };
    const flows = { apiVersion: 'flowcontrol.apiserver.orch.io/v1', resource: 'flowschemas' };
    await client.delete({ ...flows, name: 'probes' });
    const description = 'changed by a user';
    await client.patch({ ...classes, name: 'system-node-critical' }, 'merge', { description });
    await start(store);
    expect(await client.get({ ...flows, name: 'probes' })).toMatchObject({
      metadata: { managedFields: [{ manager: 'api-priority-and-fairness-config-producer-v1' }] },
      spec: { matchingPrecedence: 2 },
    });
    expect(await client.get({ ...classes, name: 'system-node-critical' })).toMatchObject({ description });
  });

  it('are completed when another server creates some of them at the same time', async () => {
    const other = (await start(sharedStore().store)).client;
    const place = { apiVersion: 'v1', resource: 'namespaces', name: 'default' };
    const theirs = await other.get<ApiObject>(place);
    let raced = false;
    const { store } = sharedStore(async (keys, inner) => {
      if (raced || !keys.includes(namespaceKey('default'))) return;
      raced = true;
      await inner.commit([], [{ key: namespaceKey('default'), value: Buffer.from(JSON.stringify(theirs)) }]);
    });
    const { client } = await start(store);
    expect(raced).toBe(true);
    expect((await client.get<ApiObject>(place)).metadata.uid).toBe(theirs.metadata.uid);
    const { items } = await client.list<ApiObject>({ apiVersion: 'v1', resource: 'namespaces' });
    expect(items.map(({ metadata }) => metadata.name)).toEqual([
      'default',
      'kube-system',
      'orch-node-lease',
      'orch-public',
    ]);
  });
});
