import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Entry, type GetResult, type Store, StoreError, type WatchSink } from '../store.ts';
import { drivenClock } from '../testing/driven-clock.ts';
import { usedBytes } from './data-file.ts';
import { openLmdbStore } from './lmdb-store.ts';
import { openLmdbSnapshot } from './snapshot.ts';

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
  // Without the space that it has reserved.
  const handle = openSync(join(whole, 'data.mdb'), 'r');
  truncateSync(join(whole, 'data.mdb'), usedBytes(handle, 'data.mdb'));
  closeSync(handle);
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

test('a store that has lost its data file is damaged, and not new', async () => {
  await (await openLmdbStore({ path, clock })).close();
  const lost = { code: 'damaged', message: expect.stringContaining('it is missing or empty') as string };
  truncateSync(file, 0);
  await expect(openLmdbStore({ path, clock })).rejects.toMatchObject(lost);
  await expect(openLmdbSnapshot(path)).rejects.toMatchObject(lost);
  rmSync(file);
  await expect(openLmdbStore({ path, clock })).rejects.toMatchObject(lost);
  // A restored data file ends that.
  copyFileSync(join(whole, 'data.mdb'), file);
  const store = await openLmdbStore({ path, clock });
  expect(await readAll(store)).toEqual({ right: entries.length, damaged: 0 });
  await store.close();
});

test.each([0, 1])('an empty meta page %i is damage', async (meta) => {
  const bytes = readFileSync(file);
  const pageSize = bytes.readUInt32LE(pageSizeAt);
  bytes.fill(0, meta * pageSize, (meta + 1) * pageSize);
  writeFileSync(file, bytes);
  await expect(openLmdbStore({ path, clock })).rejects.toMatchObject({ code: 'damaged' });
});

test('an empty page, whichever it is, ends no process: it is damage, or nothing needs it', async () => {
  const original = readFileSync(file);
  let refused = 0;
  for (let page = 2; page < original.length / 4096; page += 7) {
    const bytes = Buffer.from(original);
    bytes.fill(0, page * 4096, (page + 1) * 4096);
    writeFileSync(file, bytes);
    const store = await openLmdbStore({ path, clock }).catch((error: unknown) => error);
    if (store instanceof StoreError) {
      expect(store.code).toBe('damaged');
      refused++;
      continue;
    }
    await readAll(store as Store);
    await (store as Store).commit([], [{ key: 'new', value: Buffer.alloc(3000) }]).catch((error: unknown) => {
      expect(error).toMatchObject({ name: 'StoreError' });
    });
    await (store as Store).close();
  }
  expect(refused).toBeGreaterThan(0);
}, 120_000);

test('a flipped bit in a header, a key, a value or a checksum is never served', async () => {
  rmSync(path, { recursive: true, force: true });
  const values = Array.from({ length: 9 }, (_, i) => Buffer.alloc(40_000, `value ${i} `));
  const made = await openLmdbStore({ path, clock, mapSize: 1 << 20 });
  for (const [i, value] of values.entries()) await made.commit([], [{ key: `key${i}`, value }]);
  await made.close();
  const original = readFileSync(file);
  for (const [i, offset] of [-28, -20, -6, -1, 0, 20_000, 39_999, 40_000, 40_003].entries()) {
    const bytes = Buffer.from(original);
    const at = original.indexOf(values[i]!) + offset;
    bytes[at] = bytes[at]! ^ (1 << (i % 8));
    writeFileSync(file, bytes);
    const store = await openLmdbStore({ path, clock });
    try {
      for (const [other, value] of values.entries()) {
        const got = store.get(`key${other}`);
        if (other === i) await expect(got, `bit at ${offset}`).rejects.toMatchObject({ code: 'damaged' });
        else expect(Buffer.compare((await got).entry?.value ?? Buffer.of(), value)).toBe(0);
      }
      await expect(store.list({ prefix: '' })).rejects.toMatchObject({ code: 'damaged' });
    } finally {
      await store.close();
    }
  }
});

test('any flipped bit of a small store is found, or changes nothing that is read', async () => {
  const small = join(directory, 'small');
  const made = await openLmdbStore({ path: small, clock, mapSize: 1 << 20 });
  const written = await Promise.all(
    Array.from({ length: 20 }, (_, i) => made.commit([], [{ key: `key${i}`, value: Buffer.from(`value ${i}`) }])),
  );
  expect(written.every(({ ok }) => ok)).toBe(true);
  const { entries: all } = await made.list({ prefix: '' });
  await made.close();
  const original = readFileSync(join(small, 'data.mdb'));
  const texts = all.map(({ value }) => original.indexOf(value)).filter((at) => at > 0);
  let found = 0;
  for (const text of texts) {
    for (let bit = 0; bit < 8; bit++) {
      const bytes = Buffer.from(original);
      const at = text - 20 + ((text * 7 + bit * 11) % 28);
      bytes[at] = bytes[at]! ^ (1 << bit);
      writeFileSync(file, bytes);
      const store = await openLmdbStore({ path, clock }).catch((error: unknown) => error);
      if (store instanceof StoreError) {
        expect(store.code).toBe('damaged');
        found++;
        continue;
      }
      const list = await (store as Store).list({ prefix: '' }).catch((error: unknown) => error);
      if (list instanceof StoreError) {
        expect(list.code).toBe('damaged');
        found++;
      } else expect((list as { entries: readonly Entry[] }).entries).toEqual(all);
      await (store as Store).close();
    }
  }
  expect(found).toBeGreaterThan(texts.length * 4);
});

test('a damaged record of the history holds up no commit, and is told', async () => {
  const told: StoreError[] = [];
  const observer = { committed: () => {}, flushed: () => {}, damaged: (error: StoreError) => void told.push(error) };
  const options = { path, clock, mapSize: 1 << 20, observer };
  rmSync(path, { recursive: true, force: true });
  const before = await openLmdbStore(options);
  const old = Buffer.alloc(5000, 'old');
  await before.commit([], [{ key: 'a', value: old }]);
  for (let i = 0; i < 5; i++) await before.commit([], [{ key: 'a', value: Buffer.alloc(5000, `new${i}`) }]);
  const latest = await before.revision();
  await before.close();
  const bytes = readFileSync(file);
  bytes[bytes.indexOf(Buffer.alloc(4000, 'new2')) + 10]! ^= 1;
  writeFileSync(file, bytes);
  const store = await openLmdbStore(options);
  await store.compact(latest);
  for (let i = 0; i < 10; i++) expect((await store.commit([], [{ key: 'b', value: Buffer.of(i) }])).ok).toBe(true);
  expect(told).toMatchObject([{ code: 'damaged' }]);
  expect((await store.get('a')).entry?.value.length).toBe(5000);
  await store.close();
});

test('a store of format 1 is read, and gets its checksums', async () => {
  rmSync(path, { recursive: true, force: true });
  const value = (i: number) => Buffer.alloc(100 + i * 30, i);
  const made = await openLmdbStore({ path, clock });
  for (let i = 0; i < 200; i++) await made.commit([], [{ key: `k${i % 150}`, value: value(i) }]);
  const { entries: all } = await made.list({ prefix: '' });
  await made.close();
  await removeSeals(path);
  const snapshot = await openLmdbSnapshot(path);
  const read: Entry[] = [];
  for await (const page of snapshot.pages()) read.push(...page);
  expect(read).toMatchObject(all);
  await snapshot.close();
  const store = await openLmdbStore({ path, clock });
  expect((await store.list({ prefix: '' })).entries).toEqual(all);
  // Each transaction seals some.
  for (let i = 0; i < 20; i++) await store.commit([], [{ key: 'x', value: Buffer.of(i) }]);
  expect((await store.list({ prefix: 'k' })).entries).toEqual(all);
  await store.close();
  expect(await unsealedRecords(path)).toBe(0);
});

/** Turns a store into one of format 1: records and state without checksums. */
async function removeSeals(store: string): Promise<void> {
  const root = openDatabase(store);
  const records = root.openDB<Buffer, Buffer>('records', { encoding: 'binary', keyEncoding: 'binary' });
  await root.batch(() => {
    for (const { key, value: sealed } of [...records.getRange({})]) {
      const record = Buffer.from(sealed.subarray(0, sealed.length - 4));
      record[0] = record[0]! & ~2;
      void records.put(Buffer.from(key), record);
    }
    for (const name of ['state', 'marks']) {
      const found = root.get(Buffer.from(name));
      if (found !== undefined) void root.put(Buffer.from(name), Buffer.from(found.subarray(0, found.length - 4)));
    }
    void root.put(Buffer.from('format'), Buffer.from('multi-version store 1'));
  });
  await root.close();
}

/** How many records have no checksum. */
async function unsealedRecords(store: string): Promise<number> {
  const root = openDatabase(store);
  expect(root.get(Buffer.from('format'))?.toString()).toBe('multi-version store 2');
  const records = root.openDB<Buffer, Buffer>('records', { encoding: 'binary', keyEncoding: 'binary' });
  const count = [...records.getRange({})].filter(({ value: record }) => (record[0]! & 2) === 0).length;
  await root.close();
  return count;
}

const openDatabase = (store: string) =>
  open<Buffer, Buffer>({ path: store, noSubdir: false, encoding: 'binary', keyEncoding: 'binary' });

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
