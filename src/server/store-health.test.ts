import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it, vi } from 'vitest';
import { inProcessTransport } from '../client/index.ts';
import { canFailMetaWrites, failMetaWrites } from '../store/testing/fail-meta-writes.ts';
import { createServer, type OrchServer } from './server.ts';

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

it.skipIf(!canFailMetaWrites)('a store that cannot be written fails the health checks until it can', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  server = await createServer({ securePort: 0, store: 'lmdb', dataDir, apiDomain: 'k8s.io', logLevel: 'error' });
  const { client } = server;
  await client.create(configMaps, configMap('a'));
  expect(await health()).toEqual(all(200));
  const path = join(dataDir, 'store');
  failMetaWrites(join(path, 'data.mdb'));
  renameSync(path, `${path}.away`);
  await expect(client.create(configMaps, configMap('b'))).rejects.toMatchObject({ code: 504 });
  await expect(client.create(configMaps, configMap('b'))).rejects.toMatchObject({ code: 503 });
  expect(await health()).toEqual(all(500));
  renameSync(`${path}.away`, path);
  expect(await health()).toEqual(all(200));
  await client.create(configMaps, configMap('b'));
  const { items } = await client.list(configMaps);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
});
