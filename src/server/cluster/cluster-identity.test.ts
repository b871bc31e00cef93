import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLmdbStore, openMemoryStore, type Store } from '../../store/index.ts';
import { systemClock } from '../clock.ts';
import { systemRandom } from '../random.ts';
import { createServer } from '../server.ts';
import { StartError } from '../start-error.ts';
import { openIdentity } from './cluster-identity.ts';

const memory = () => openMemoryStore({ clock: systemClock });
const open = (store: Store, domain: string) => openIdentity(store, domain, systemRandom, 'the store');
const put = async (store: Store, key: string, text: string) => {
  await store.commit([], [{ key, value: Buffer.from(text) }]);
};
const configMaps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };

describe('the cluster identity', () => {
  it('is created by the first server and read by later ones', async () => {
    const store = memory();
    const [first, second] = await Promise.all([open(store, 'orch.io'), open(store, 'orch.io')]);
    expect(second).toEqual(first);
    expect(await open(store, 'orch.io')).toEqual(first);
    expect(first.domain).toBe('orch.io');
    expect(Buffer.from(first.tokenKey, 'base64url')).toHaveLength(32);
    expect(await open(memory(), 'orch.io')).not.toEqual(first);
  });

  it('rejects another API domain with a message that names the fix', async () => {
    const store = memory();
    await open(store, 'orch.io');
    await expect(open(store, 'k8s.io')).rejects.toThrow(
      new StartError(
        'the store holds the objects of --api-domain=orch.io: start with --api-domain=orch.io, or choose another --data-dir or --etcd-prefix for k8s.io',
      ),
    );
  });

  it('lets one of two servers with different domains win when both start at once', async () => {
    const store = memory();
    const results = await Promise.allSettled([open(store, 'orch.io'), open(store, 'k8s.io')]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('uses the domain of existing objects in a store without identity', async () => {
    const store = memory();
    const stored = { apiVersion: 'scheduling.orch.io/v1', kind: 'PriorityClass' };
    await put(store, '/priorityclasses/system-node-critical', JSON.stringify(stored));
    await expect(open(store, 'k8s.io')).rejects.toThrow('start with --api-domain=orch.io');
    expect((await open(store, 'orch.io')).domain).toBe('orch.io');
  });

  it('is refused for objects that are not JSON', async () => {
    const store = memory();
    await put(store, '/priorityclasses/system-node-critical', 'k8s\0');
    await expect(open(store, 'k8s.io')).rejects.toThrow('holds objects that are not JSON');
    expect((await store.get('/identity')).entry).toBeUndefined();
  });

  it('is refused for objects under keys of an earlier form, which would not be found', async () => {
    const store = memory();
    await open(store, 'orch.io');
    await put(store, '/priorityclasses.scheduling.orch.io/a', '{}');
    await expect(open(store, 'orch.io')).rejects.toThrow('the store was written by an earlier development version');
  });

  it.each(['', 'x', '[]', '{"domain":"orch.io"}', '{"domain":"orch.io","tokenKey":"short"}'])(
    'is not replaced when it is damaged: %j',
    async (text) => {
      const store = memory();
      await put(store, '/identity', text);
      await expect(open(store, 'orch.io')).rejects.toThrow('the store has a damaged identity under the key /identity');
    },
  );
});

describe('a server over a data directory', () => {
  const folder = () => join(mkdtempSync(join(tmpdir(), 'orch-identity-')), 'data');

  it('does not start with another domain, and changes nothing', async () => {
    const dataDir = folder();
    const settings = { store: 'lmdb', dataDir } as const;
    await (await createServer(settings)).close();
    const contents = async () => {
      const store = await openLmdbStore({ path: join(dataDir, 'store'), clock: systemClock });
      const { entries } = await store.list({ prefix: '/' });
      await store.close();
      return entries.map(({ key, revision }) => [key, revision]);
    };
    const before = await contents();
    await expect(createServer({ ...settings, apiDomain: 'k8s.io' })).rejects.toThrow(
      `the data directory ${dataDir} holds the objects of --api-domain=orch.io: start with --api-domain=orch.io, or choose another --data-dir or --etcd-prefix`,
    );
    expect(await contents()).toEqual(before);
  });

  it('accepts continue tokens from before a restart', async () => {
    const settings = { store: 'lmdb', dataDir: folder() } as const;
    const first = await createServer(settings);
    for (const name of ['a', 'b', 'c']) {
      await first.client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
    }
    const begun = await first.client.list(configMaps, { limit: 1 });
    await first.close();
    const second = await createServer(settings);
    const rest = await second.client.list(configMaps, { continue: begun.metadata.continue ?? '' });
    expect([...begun.items, ...rest.items].map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
    await second.close();
  });
});
