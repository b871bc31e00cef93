import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openMemoryStore } from '../../store/index.ts';
import { systemClock } from '../clock.ts';
import { createServer } from '../server.ts';
import { storeLink } from '../testing/store-link.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server with the means to ask it, and to read its metrics. */
async function start(...given: Parameters<typeof createServer>) {
  const server = await createServer(...given);
  closing.push(() => server.close());
  const ask = async (method: string, url: string, body?: object) => {
    const answer = await server.client.request({
      method,
      url,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body) pieces.push(piece);
    return { status: answer.status, text: Buffer.concat(pieces).toString() };
  };
  const scrape = async () => (await ask('GET', '/metrics')).text;
  /** The counts of a metric for controller revisions, by operation. */
  const counts = async (name: string) => {
    const series = new RegExp(
      `^${name}\\{operation="(\\w+)",group="apps",resource="controllerrevisions"\\} (\\d+)$`,
      'gm',
    );
    const found = (await scrape()).matchAll(series);
    return Object.fromEntries([...found].map(([, operation = '', count]) => [operation, Number(count)]));
  };
  return { ask, scrape, counts };
}

const path = '/apis/apps/v1/namespaces/default/controllerrevisions';
const named = (name: string, labels = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  data: {},
  revision: 1,
  metadata: { name, labels },
});

it('counts the requests to the store that follow from those of clients', async () => {
  const { ask, scrape, counts } = await start();
  await ask('GET', `${path}/absent`);
  const before = await counts('etcd_requests_total');
  const created = await ask('POST', path, named('a'));
  expect(created.status).toBe(201);
  const [, version] = /"resourceVersion":"(\d+)"/.exec(created.text) ?? [];
  // From the cache.
  for (const url of [`${path}/a`, path, `${path}?limit=1`]) expect((await ask('GET', url)).status).toBe(200);
  expect((await ask('POST', `${path}?dryRun=All`, named('b'))).status).toBe(201);
  expect((await ask('PUT', `${path}/a`, named('a', { x: 'y' }))).status).toBe(200);
  expect((await ask('GET', `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`)).status).toBe(200);
  expect((await ask('DELETE', `${path}/a`)).status).toBe(200);
  expect(before).toEqual({ list: 1 });
  const expected = { create: 1, get: 1, update: 1, list: 2, delete: 1 };
  expect(await counts('etcd_requests_total')).toEqual(expected);
  expect(await counts('etcd_request_duration_seconds_count')).toEqual(expected);
  expect(await counts('etcd_request_errors_total')).toEqual({});
  const text = await scrape();
  expect(text).toMatch(
    /^etcd_request_duration_seconds_bucket\{operation="create",group="apps",resource="controllerrevisions",le="\+Inf"\} 1$/m,
  );
  // Keys of no object.
  expect(text).toMatch(/^etcd_requests_total\{operation="\w+",group="",resource=""\} \d+$/m);
  // A store in memory takes nothing on disk.
  expect(text).toContain('# TYPE apiserver_storage_size_bytes gauge');
  expect(text).not.toMatch(/^apiserver_storage_size_bytes/m);
});

it('counts requests that the store fails', async () => {
  const link = storeLink(openMemoryStore({ clock: systemClock }));
  const { ask, counts } = await start({}, { store: link.store });
  expect((await ask('POST', path, named('a'))).status).toBe(201);
  link.become('refused');
  expect((await ask('DELETE', `${path}/a`)).status).toBe(503);
  const failed = await counts('etcd_request_errors_total');
  link.become('up');
  expect(failed).toEqual({ delete: 1 });
  expect(await counts('etcd_requests_total')).toMatchObject({ create: 1, ...failed });
});

it('shows the size of the database', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'size-'));
  const { scrape } = await start({ store: 'lmdb', dataDir });
  closing.push(async () => rmSync(dataDir, { recursive: true }));
  const { size } = statSync(join(dataDir, 'store', 'data.mdb'));
  const [, shown] = /^apiserver_storage_size_bytes\{storage_cluster_id="etcd-0"\} (\d+)$/m.exec(await scrape()) ?? [];
  expect(size).toBeGreaterThan(0);
  expect(Number(shown)).toBeGreaterThanOrEqual(size);
});
