import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Entry, type GetResult, type Store, StoreError, type WatchSink } from '../store.ts';
import { drivenClock } from '../testing/driven-clock.ts';
import { openLmdbStore } from './lmdb-store.ts';

// Offsets in a meta page.
const pageSizeAt = 48;
const lastPageAt = 144;

let directory: string;
let whole: string;
let path: string;
let file: string;
let entries: readonly Entry[];
const clock = drivenClock();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'store-damage-'));
  whole = join(directory, 'whole');
  const store = await openLmdbStore({ path: whole, clock, mapSize: 1 << 20 });
  for (let round = 0; round < 4; round++) {
    const size = (i: number) => (i % 9 === 0 ? 40_000 : (i * 37) % 2000);
    const keys = Array.from({ length: 300 }, (_, i) => `${'k'.repeat(i % 50)}/${i}`);
    await Promise.all(
      keys.map((key, i) =>
        store.commit([], [i % 5 === round ? { key } : { key, value: Buffer.alloc(size(i), round) }]),
      ),
    );
    await store.compact(await store.revision());
  }
  // Compacted history is removed in steps.
  for (let i = 0; i < 20; i++) await store.commit([{ key: 'none', revision: 0 }], []);
  entries = (await store.list({ prefix: '' })).entries;
  await store.close();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
beforeEach(() => {
  path = join(directory, 'data');
  file = join(path, 'data.mdb');
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { mode: 0o700 });
  copyFileSync(join(whole, 'data.mdb'), file);
});

/** Reads every key: each has its entry or fails as damaged. */
async function readAll(store: Store): Promise<{ right: number; damaged: number }> {
  let [right, damaged] = [0, 0];
  for (const entry of entries) {
    const found = await store.get(entry.key).catch((error: unknown) => error);
    if (found instanceof Error) {
      expect(found).toMatchObject({ name: 'StoreError', code: 'damaged' });
      damaged++;
      continue;
    }
    const { entry: read } = found as GetResult;
    expect([read?.revision, Buffer.compare(read?.value ?? Buffer.of(), entry.value)]).toEqual([entry.revision, 0]);
    right++;
  }
  return { right, damaged };
}

test('a truncated file is rejected as damaged, at any size', async () => {
  const size = statSync(file).size;
  const sizes = [1, 10, 27, 28, 100, 159, 160, 500, 4095, 4096, 4097, 8191, 8192, 8193, 12_288, 16_384, 65_536];
  for (let i = 1; i < 40; i++) sizes.push(Math.floor((size * i) / 40));
  for (let pages = 1; pages < 4; pages++) sizes.push(size - pages * 4096, size - pages * 4096 + 1);
  for (const left of sizes) {
    copyFileSync(join(whole, 'data.mdb'), file);
    truncateSync(file, left);
    const opening = await openLmdbStore({ path, clock }).catch((error: unknown) => error);
    if (opening instanceof StoreError) {
      expect(opening).toMatchObject({ code: 'damaged', message: expect.stringContaining(file) as string });
      expect(opening.message).toMatch(/is damaged: .*; move it away and restore a backup$/);
      expect(statSync(file).size).toBe(left);
      continue;
    }
    // A truncated file that opens has lost only free pages.
    const store = opening as Store;
    expect(await readAll(store)).toEqual({ right: entries.length, damaged: 0 });
    expect(left).toBeGreaterThan(size / 2);
    await store.close();
  }
});

test('a file that lacks only unused pages opens', async () => {
  const bytes = readFileSync(file);
  const pageSize = bytes.readUInt32LE(pageSizeAt);
  for (const meta of [0, pageSize]) {
    bytes.writeUInt32LE(bytes.readUInt32LE(meta + lastPageAt) + 10, meta + lastPageAt);
  }
  writeFileSync(file, bytes);
  const store = await openLmdbStore({ path, clock });
  expect(await readAll(store)).toEqual({ right: entries.length, damaged: 0 });
  expect((await store.commit([], [{ key: 'a', value: Buffer.alloc(100_000) }])).ok).toBe(true);
  await store.close();
});

test('reads that need a corrupt page fail as damaged, others succeed', async () => {
  const size = statSync(file).size;
  const zeros = Buffer.alloc(4096);
  let [right, damaged] = [0, 0];
  for (let page = 2; page < size / 4096; page += 11) {
    const bytes = readFileSync(join(whole, 'data.mdb'));
    // Overflow pages after the first one have no header.
    if (bytes.readUInt32LE(page * 4096) !== page) continue;
    zeros.copy(bytes, page * 4096);
    writeFileSync(file, bytes);
    const store = await openLmdbStore({ path, clock }).catch((error: unknown) => error);
    if (store instanceof StoreError) {
      expect(store.code).toBe('damaged');
      continue;
    }
    const found = await readAll(store as Store);
    await (store as Store).close();
    right += found.right;
    damaged += found.damaged;
  }
  expect(damaged).toBeGreaterThan(0);
  expect(right).toBeGreaterThan(damaged);
});

test('a commit over a corrupt previous value succeeds, and watches with previous values end as damaged', async () => {
  const bytes = readFileSync(file);
  const longValuePage = 4;
  for (let page = 2; page < bytes.length / 4096; page++) {
    const at = page * 4096;
    if (bytes.readUInt32LE(at) === page && bytes.readUInt16LE(at + 18) === longValuePage) bytes.fill(0, at, at + 4096);
  }
  writeFileSync(file, bytes);
  const store = await openLmdbStore({ path, clock });
  const [long] = entries.filter(({ value }) => value.length === 40_000);
  const key = long?.key ?? '';
  await expect(store.get(key)).rejects.toMatchObject({ code: 'damaged' });
  const latest = await store.revision();
  const live = new Promise<unknown>((resolve) => {
    const sink: WatchSink = {
      batch: (revision) => (revision === latest ? undefined : resolve(revision)),
      error: resolve,
    };
    const watch = store.watch('', latest, sink, { previous: true });
    watch.progress();
  });
  await new Promise(setImmediate);
  expect(await store.commit([], [{ key, value: Buffer.of(1) }])).toEqual({ ok: true, revision: latest + 1 });
  expect(await live).toMatchObject({ code: 'damaged' });
  expect((await store.get(key)).entry?.revision).toBe(latest + 1);
  await store.close();
});
