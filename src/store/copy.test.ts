import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openCommitImport } from './commit-import.ts';
import { type CopyObserver, copyStore } from './copy.ts';
import { openLmdbImport } from './lmdb/import.ts';
import { openLmdbStore } from './lmdb/lmdb-store.ts';
import { openLmdbSnapshot } from './lmdb/snapshot.ts';
import { openMemoryStore } from './memory/memory-store.ts';
import { openMigrated } from './migration.ts';
import { pagesOf } from './pages.ts';
import type { LeasedEntry, StoreImport, StoreSnapshot } from './snapshot.ts';
import { type Store, StoreError } from './store.ts';
import { drivenClock } from './testing/driven-clock.ts';
import { storeWith } from './testing/store-with.ts';
import { bytes, put, text } from './testing/tools.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'copy-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const entryOf = (key: string, value = key, expires?: number): LeasedEntry => ({
  key,
  value: bytes(value),
  revision: 3,
  expires,
});

/** Of revisions below `oldest` there is none. */
function sourceOf(entries: readonly LeasedEntry[], latest = 500, oldest = 1) {
  return async (revision = latest): Promise<StoreSnapshot> => {
    if (revision < oldest) throw new StoreError('compacted', 'compacted', { revision: oldest });
    return {
      revision,
      size: entries.length,
      close: async () => undefined,
      async *pages() {
        for (let i = 0; i < entries.length; i += 300) yield entries.slice(i, i + 300);
      },
    };
  };
}

const many = Array.from({ length: 1000 }, (_, i) => entryOf(`/k/${1000 + i}`));

function recorder() {
  const told: string[] = [];
  const observer: CopyObserver = {
    progress: (phase, done, size) => told.push(`${phase} ${done}/${size}`),
    resumed: ({ entries }) => told.push(`resumed ${entries}`),
    restarted: ({ entries }) => told.push(`restarted ${entries}`),
  };
  return { told, observer };
}

const clock = drivenClock();

/** An import that can be opened again: the store stays open. Of these keys it is known that they have leases. */
function importInto(store: Store, leased: readonly string[] = []): Promise<StoreImport> {
  return openCommitImport({
    store: storeWith(store, { close: async () => undefined }),
    clock,
    async *pages() {
      for await (const { entries } of pagesOf(store, { prefix: '' })) {
        yield entries.map((entry) => ({ ...entry, expires: leased.includes(entry.key) ? 1 : undefined }));
      }
    },
  });
}

/** The import, whose process ends after some writes. */
function endingAfter(writes: number, to: StoreImport): StoreImport {
  let left = writes;
  return {
    exact: to.exact,
    most: to.most,
    pages: () => to.pages(),
    get state() {
      return to.state;
    },
    write: (...given) => (left-- > 0 ? to.write(...given) : Promise.reject(new Error('killed'))),
    finish: (revision) => to.finish(revision),
    clear: () => to.clear(),
    close: () => to.close(),
  };
}

/** Stores by their names: how to import into one, and to open it then. */
const targets = {
  lmdb: () => {
    const path = join(folder, 'to');
    return { fill: () => openLmdbImport(path), open: () => openLmdbStore({ path, clock }) };
  },
  commits: () => {
    const store = openMemoryStore({ clock });
    const kept = storeWith(store, { close: async () => undefined });
    return { fill: () => importInto(store), open: () => openMigrated(kept) };
  },
};

test.each(Object.keys(targets) as (keyof typeof targets)[])(
  'a copy by %s that was interrupted at any write is not a store, and goes on with the same result',
  async (name) => {
    const digests = new Set<string>();
    for (const writes of [0, 1, 2, 4]) {
      rmSync(join(folder, 'to'), { recursive: true, force: true });
      const { fill, open } = targets[name]();
      const first = await fill();
      await expect(copyStore(sourceOf(many), endingAfter(writes, first), recorder().observer)).rejects.toThrow(
        'killed',
      );
      await first.close();
      if (writes > 0)
        await expect(open()).rejects.toMatchObject({ message: expect.stringContaining('unfinished copy') });
      const { told, observer } = recorder();
      const second = await fill();
      const result = await copyStore(sourceOf(many, 900), second, observer);
      await second.close();
      digests.add(result.digest);
      const revision = writes === 0 ? 900 : 500;
      expect(result).toMatchObject({ revision, entries: 1000, advanced: revision + 1_000_000_000 });
      expect(told.some((line) => line.startsWith('resumed'))).toBe(writes > 0);
      expect(told.at(-1)).toBe('verify 1000/1000');
      const store = await open();
      const found = [];
      for await (const { entries } of pagesOf(store, { prefix: '/k/' })) found.push(...entries);
      expect(found.map((entry) => [entry.key, text(entry)])).toEqual(many.map((entry) => [entry.key, text(entry)]));
      const keeps = name === 'lmdb';
      expect(found.every((entry) => (keeps ? entry.revision === 3 : entry.revision > result.advanced))).toBe(true);
      const { revision: next } = await store.commit([], [put('/k/next')]);
      expect(next).toBeGreaterThan(result.advanced);
      for (const early of [1, 500, 900, result.advanced - 1]) {
        await expect(store.get('/k/1000', early)).rejects.toMatchObject({ code: 'compacted' });
      }
      await store.close();
    }
    expect(digests.size).toBe(1);
  },
);

test('a copy restarts when the source has compacted its revision', async () => {
  const store = openMemoryStore({ clock });
  const first = endingAfter(3, await importInto(store));
  await expect(copyStore(sourceOf(many), first, recorder().observer)).rejects.toThrow('killed');
  const { told, observer } = recorder();
  const others = many.slice(500);
  const { entries } = await copyStore(sourceOf(others, 900, 600), await importInto(store), observer);
  expect(entries).toBe(500);
  expect(told[0]).toBe('restarted 200');
  expect((await (await openMigrated(store)).list({ prefix: '/k/' })).entries).toHaveLength(500);
});

test('a copy does not go on with one of another source, and not into a store that has something', async () => {
  const store = openMemoryStore({ clock });
  const first = endingAfter(3, await importInto(store));
  await expect(copyStore(sourceOf(many), first, recorder().observer)).rejects.toThrow('killed');
  for (const others of [many.slice(1), [], many.map((entry) => ({ ...entry, value: bytes('other') }))]) {
    const copy = copyStore(sourceOf(others), await importInto(store), recorder().observer);
    await expect(copy).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('another store') });
  }
  await copyStore(sourceOf(many), await importInto(store), recorder().observer);
  await expect(importInto(store)).rejects.toMatchObject({
    message: expect.stringContaining('the target is not empty'),
  });
  const path = join(folder, 'to');
  const full = await openLmdbStore({ path, clock });
  await full.commit([], [put('a')]);
  await full.close();
  await expect(openLmdbImport(path)).rejects.toMatchObject({ message: expect.stringContaining('there is data') });
});

test('of two copies into the same store at once, one fails', async () => {
  const store = openMemoryStore({ clock });
  const targets = [await importInto(store), await importInto(store)];
  const results = await Promise.allSettled(targets.map((to) => copyStore(sourceOf(many), to, recorder().observer)));
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'unavailable' } });
});

test('a copy that differs from its source names the first key that does, and is not a store', async () => {
  const changes: readonly (readonly [Parameters<Store['commit']>[1], string])[] = [
    [[put('/k/1007', 'other'), put('/k/1500', 'other')], '/k/1007'],
    [[{ key: '/k/1010' }], '/k/1010'],
    [[put('/k/1010a')], '/k/1010a'],
    [[put('/k/zzz')], '/k/zzz'],
  ];
  for (const [writes, key] of changes) {
    const store = openMemoryStore({ clock });
    const to = await importInto(store);
    const changing: StoreImport = {
      ...endingAfter(100, to),
      state: undefined,
      async *pages() {
        await store.commit([], writes);
        yield* to.pages();
      },
    };
    await expect(copyStore(sourceOf(many), changing, recorder().observer)).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringContaining(`the first key that differs is "${key}"; remove it and begin again`),
    });
    await expect(openMigrated(store)).rejects.toMatchObject({ code: 'unavailable' });
  }
});

test('what expires keeps the rest of its time, and a value that is too large names its key', async () => {
  const now = clock.now();
  const store = openMemoryStore({ clock });
  const entries = [entryOf('a', 'x', now - 5), entryOf('b', 'x', now + 4500), entryOf('c')];
  await copyStore(sourceOf(entries), await importInto(store, ['a', 'b']), recorder().observer);
  const left = async () => (await store.list({ prefix: '' })).entries.map(({ key }) => key).filter((key) => key < 'd');
  clock.advance(1500);
  await expect.poll(left).toEqual(['/migration', 'b', 'c']);
  clock.advance(2900);
  expect(await left()).toEqual(['/migration', 'b', 'c']);
  clock.advance(2000);
  await expect.poll(left).toEqual(['/migration', 'c']);

  const large = { ...entryOf('large'), value: new Uint8Array(3_000_000) };
  const to = await importInto(openMemoryStore({ clock }));
  await expect(copyStore(sourceOf([large]), to, recorder().observer)).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(/^the value of "large" has 3000000 bytes, and the target takes \d+: /),
  });
});

test('a snapshot of an earlier revision, while it is kept', async () => {
  const path = join(folder, 'from');
  const store = await openLmdbStore({ path, clock });
  const { revision } = await store.commit([], [put('a', '1'), put('b', '1')]);
  await store.commit([], [put('a', '2'), { key: 'b' }, { ...put('c'), ttl: 60 }]);
  await store.close();
  const read = async (at?: number) => {
    const snapshot = await openLmdbSnapshot(path, at);
    const found: unknown[] = [];
    for await (const page of snapshot.pages()) {
      found.push(...page.map((entry) => [entry.key, text(entry), entry.expires]));
    }
    await snapshot.close();
    return found;
  };
  expect(await read(revision)).toEqual([['a', '1', undefined], ['b', '1', undefined]]); // biome-ignore format: rows
  expect(await read()).toEqual([['a', '2', undefined], ['c', 'x', clock.now() + 60_000]]); // biome-ignore format: rows
  await expect(read(99)).rejects.toMatchObject({ code: 'future' });
  const again = await openLmdbStore({ path, clock });
  await again.compact(revision + 1);
  await again.close();
  await expect(read(revision)).rejects.toMatchObject({ code: 'compacted' });
});

test.each([0, 501, 1.5])(
  'an entry of revision %d, which no commit can have written, is not copied',
  async (revision) => {
    const store = openMemoryStore({ clock, historyMs: 0 });
    const source = sourceOf([entryOf('/k/1'), { ...entryOf('/k/2'), revision }]);
    await expect(copyStore(source, await importInto(store), recorder().observer)).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringContaining('"/k/2"'),
    });
  },
);
