import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { type Log, silentLog } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'orch-damaged-'));
const file = join(dataDir, 'store', 'data.mdb');
let server: OrchServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

const errors: string[] = [];
const log: Log = { ...silentLog, error: (message) => errors.push(message) };
const start = async () => {
  server = await createServer(
    { securePort: 0, store: 'lmdb', dataDir, apiDomain: 'k8s.io', controllers: '-*' },
    { log },
  );
  return server;
};

async function ask(url: string, method = 'GET', body?: object) {
  const sent = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
  const headers = { 'content-type': 'application/json' };
  const answer = await (server as OrchServer).client.request({ method, url, headers, ...sent });
  return { status: answer.status, retry: answer.headers['retry-after'], body: await text(answer.body) };
}

/** Flips a bit of this text wherever it is in the file of the store, which is closed. */
function damage(wanted: string): void {
  const bytes = readFileSync(file);
  expect(bytes.includes(wanted)).toBe(true);
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted)) bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

const maps = '/api/v1/namespaces/default/configmaps';
const map = (name: string, value: string) => ({ metadata: { name }, data: { value } });

it('a damaged object fails the requests for its kind at once, readiness says why, and the log what to do', async () => {
  await start();
  expect(await ask(maps, 'POST', map('a', 'damaged object'))).toMatchObject({ status: 201 });
  expect(await ask(maps, 'POST', map('b', 'whole'))).toMatchObject({ status: 201 });
  await server?.close();
  damage('damaged object');
  await start();
  const message = 'Internal error occurred: the stored data of configmaps is damaged';
  const refused = [
    await ask(`${maps}/a`),
    await ask(`${maps}/b`),
    await ask(maps),
    await ask(`${maps}?resourceVersion=0`),
    await ask(`${maps}?watch=1`),
    await ask(maps, 'POST', map('c', '')),
    await ask(`${maps}/b`, 'DELETE'),
  ];
  for (const { status, retry, body } of refused) {
    expect([status, retry, JSON.parse(body)]).toEqual([
      500,
      undefined,
      expect.objectContaining({ kind: 'Status', reason: 'InternalError', message }),
    ]);
  }
  expect(errors.filter((line) => line.includes('orch check'))).toEqual([
    `${message}: run orch check, and restore a backup (docs/backup.md)`,
  ]);
  const readiness = await ask('/readyz');
  expect([readiness.status, readiness.body]).toEqual([
    500,
    expect.stringContaining(`[-]informer-sync failed: ${message}\n`),
  ]);
  await expect.poll(() => ask('/livez')).toMatchObject({ status: 200 });
  expect(await ask('/api/v1/namespaces/default/secrets')).toMatchObject({ status: 200 });
});

it('a damaged object that the start needs is named by its error', async () => {
  await start();
  await ask('/apis/rbac.authorization.k8s.io/v1/clusterroles', 'POST', {
    metadata: { name: 'damaged-role' },
    rules: [],
  });
  await server?.close();
  damage('"damaged-role"');
  await expect(start()).rejects.toThrow('the stored data of clusterroles.rbac.authorization.k8s.io is damaged');
});

it('damaged history ends a watch that needs it as expired, and holds up nothing else', async () => {
  await start();
  const { body } = await ask(maps, 'POST', map('a', 'first'));
  const { metadata } = JSON.parse(body) as { metadata: { resourceVersion: string } };
  await ask(`${maps}/a`, 'PUT', map('a', 'damaged history'));
  await ask(`${maps}/a`, 'PUT', map('a', 'last'));
  await server?.close();
  damage('damaged history');
  await start();
  errors.length = 0;
  const watched = await ask(`${maps}?watch=1&resourceVersion=${metadata.resourceVersion}`);
  expect(JSON.parse(watched.body)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
  expect(errors).toEqual([expect.stringContaining('the stored data of configmaps is damaged')]);
  expect(await ask(`${maps}/a`)).toMatchObject({ status: 200, body: expect.stringContaining('"last"') as string });
  await expect.poll(() => ask('/readyz')).toMatchObject({ status: 200 });
});
