import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it, vi } from 'vitest';
import { inProcessTransport } from '../../client/index.ts';
import { openMemoryStore, StoreError } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { canFailSyncWrites, failSyncWrites } from '../../store/testing/fail-sync-writes.ts';
import { storeWith } from '../../store/testing/store-with.ts';
import { systemClock } from '../clock.ts';
import { createServer, type OrchServer } from '../server.ts';

const configMaps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

let server: OrchServer | undefined;
const dataDir = mkdtempSync(join(tmpdir(), 'orch-health-'));
afterEach(async () => {
  await server?.close();
  rmSync(dataDir, { recursive: true, force: true });
  vi.restoreAllMocks();
});

/** The status of each endpoint, and whether the line of the store check agrees with it. */
async function health(): Promise<unknown[]> {
  const ask = inProcessTransport((server as OrchServer).handler);
  const endpoints = ['livez', 'readyz', 'healthz'].map(async (endpoint) => {
    const answer = await ask({ method: 'GET', url: `/${endpoint}?verbose`, headers: {} });
    return [answer.status, (await text(answer.body)).includes(`[${answer.status === 200 ? '+' : '-'}]etcd `)];
  });
  return Promise.all(endpoints);
}
const all = (status: number) => Array.from({ length: 3 }, () => [status, true]);

it.skipIf(!canFailSyncWrites)('a store that cannot be written fails the health checks until it can', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  server = await createServer({ securePort: 0, store: 'lmdb', dataDir, apiDomain: 'k8s.io', logLevel: 'error' });
  const { client } = server;
  await client.create(configMaps, configMap('a'));
  await expect.poll(health).toEqual(all(200));
  const path = join(dataDir, 'store');
  failSyncWrites(join(path, 'data.mdb'));
  renameSync(path, `${path}.away`);
  // Too large for the log. A checkpoint may have failed before.
  const large = { ...configMap('b'), data: { large: 'x'.repeat(900_000) } };
  await expect(client.create(configMaps, large)).rejects.toMatchObject({
    code: expect.toSatisfy((code) => code === 503 || code === 504) as number,
  });
  await expect(client.create(configMaps, configMap('b'))).rejects.toMatchObject({ code: 503 });
  expect(await health()).toEqual(all(500));
  renameSync(`${path}.away`, path);
  // A busy machine may take longer to reopen the store than a check waits.
  await expect.poll(health).toEqual(all(200));
  await client.create(configMaps, configMap('b'));
  const { items } = await client.list(configMaps);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
});

it('a store without space is read, and tells everywhere why it cannot be written', async () => {
  const store = openMemoryStore({ clock: systemClock });
  let full = false;
  const commit: typeof store.commit = async (compares, writes) => {
    if (full) throw new StoreError('full', 'no space left on the disk of the store: free some');
    return store.commit(compares, writes);
  };
  server = await createServer({ apiDomain: 'k8s.io', controllers: '-*' }, { store: storeWith(store, { commit }) });
  const ask = async (url: string) => {
    const answer = await (server as OrchServer).client.request({ method: 'GET', url, headers: {} });
    return `${answer.status} ${await text(answer.body)}`;
  };
  const written = async () => /^orch_store_writable .*$/m.exec(await ask('/metrics'))?.[0];
  await expect.poll(() => ask('/readyz?include=store-writable')).toBe('200 ok');
  expect(await written()).toBe('orch_store_writable 1');
  full = true;
  const cause = 'no space left on the disk of the store: free some';
  await expect(server.client.create(configMaps, configMap('a'))).rejects.toMatchObject({
    code: 503,
    message: `the backing store is not available: ${cause}`,
  });
  for (const url of ['/readyz', '/livez', '/healthz']) expect(await ask(url)).toBe('200 ok');
  expect(await ask('/readyz/store-writable')).toBe(`500 internal server error: store-writable failed: ${cause}\n`);
  expect(await ask('/readyz?verbose')).toContain(`[-]store-writable failed, does not count: ${cause}\n`);
  expect(await ask('/readyz?include=store-writable')).toMatch(/^500 /);
  expect(await written()).toBe('orch_store_writable 0');
  full = false;
  expect(await ask('/readyz?include=store-writable')).toBe('200 ok');
});

it('a failed first comparison of allocations with services is repeated soon, so that the server becomes ready', async () => {
  const clock = drivenClock();
  const store = openMemoryStore({ clock });
  let failures = 0;
  const list: typeof store.list = async (range) => {
    if (range.revision === undefined || range.prefix !== '/services/specs/' || failures > 0) return store.list(range);
    failures++;
    throw new StoreError('compacted', 'compacted by another server meanwhile');
  };
  server = await createServer({ securePort: 0, apiDomain: 'k8s.io' }, { clock, store: storeWith(store, { list }) });
  const { client } = server;
  const ready = async () => (await client.request({ method: 'GET', url: '/readyz', headers: {} })).status;
  clock.advance(0);
  await expect.poll(() => failures).toBe(1);
  expect(await ready()).toBe(500);
  clock.advance(1_000);
  await expect.poll(ready).toBe(200);
});
