import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Store, StoreError } from '../store.ts';
import { drivenClock } from '../testing/driven-clock.ts';
import { canFailSyncWrites, failSyncWrites } from '../testing/fail-sync-writes.ts';
import { missCommits } from '../testing/miss-commits.ts';
import { put } from '../testing/tools.ts';
import { openLmdbStore } from './lmdb-store.ts';
import { logPageBytes } from './log-format.ts';
import { replaceLmdbStore } from './replace.ts';
import { openLmdbSnapshot } from './snapshot.ts';

// The first commit of a store is in the tree, since it names the log there. The next ones are in the log alone until the
// clock moves.
let directory: string;
let path: string;
let store: Store;
let clock = drivenClock();
beforeEach(async () => {
  vi.spyOn(console, 'error');
  clock = drivenClock();
  directory = mkdtempSync(join(tmpdir(), 'store-logged-'));
  path = join(directory, 'data');
  store = await openLmdbStore({ path, clock });
  for (const key of ['a', 'b', 'c']) await store.commit([], [put(key)]);
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
  // The library prints what it reports.
  expect(console.error).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

const keys = async (of: Store = store) => (await of.list({ prefix: '' })).entries.map(({ key }) => key);
const large = (key: string) => ({ key, value: Buffer.alloc(1024 * 1024, key) });
/** A copy of the files as a killed process leaves them. */
function killed(name = 'killed'): string {
  const copy = join(directory, name);
  cpSync(path, copy, { recursive: true });
  rmSync(join(copy, 'lock.mdb'));
  return copy;
}
/** Lets the checkpoint that is due be tried. */
async function checkpoint(): Promise<void> {
  clock.advance(500);
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve, 5));
}
/** The content of the tree alone: the format, and the number of keys. */
async function treeAt(at: string): Promise<{ format: string; isLogged: boolean; keys: number }> {
  const copy = join(directory, 'tree');
  rmSync(copy, { recursive: true, force: true });
  cpSync(at, copy, { recursive: true });
  const root = open<Buffer, Buffer>({ path: copy, noSubdir: false, encoding: 'binary', keyEncoding: 'binary' });
  const format = String(root.get(Buffer.from('format')));
  const isLogged = root.get(Buffer.from('log')) !== undefined;
  const count = root.openDB<Buffer, Buffer>('heads', { keyEncoding: 'binary' }).getKeysCount();
  await root.close();
  return { format, isLogged, keys: count };
}

/** The number of keys of the tree, after time for a checkpoint. */
async function checkpointed(): Promise<number> {
  clock.advance(500);
  return (await treeAt(path)).keys;
}

test('commits are in the log first, and in the tree after some time', async () => {
  expect(await treeAt(path)).toMatchObject({ keys: 1 });
  await expect.poll(checkpointed).toBe(3);
  expect(await keys()).toEqual(['a', 'b', 'c']);
});

test('a killed process leaves every answered commit, with leases, history and compaction', async () => {
  const long = 'k'.repeat(5000);
  await store.commit([], [put(long), { ...put('leased'), ttl: 60 }]);
  await store.commit([], [{ key: 'b' }]);
  await store.compact(4);
  expect(await treeAt(path)).toMatchObject({ keys: 1 });
  const other = await openLmdbStore({ path: killed(), clock });
  expect(await other.revision()).toBe(6);
  expect(await other.oldest()).toBe(4);
  expect(await keys(other)).toEqual(['a', 'c', long, 'leased']);
  expect(await keys(store)).toEqual(['a', 'c', long, 'leased']);
  expect((await other.get('b', 5)).entry?.revision).toBe(3);
  clock.advance(60_000);
  await expect.poll(() => keys(other)).toEqual(['a', 'c', long]);
  await other.close();
});

test('a process that is killed again and again loses no commit', async () => {
  await store.close();
  for (let round = 0; round < 6; round++) {
    store = await openLmdbStore({ path, clock });
    expect(await keys()).toEqual(['a', 'b', 'c', ...Array.from({ length: round * 2 }, (_, i) => `d${i}`)]);
    for (const i of [0, 1]) await store.commit([], [put(`d${round * 2 + i}`)]);
    const left = killed();
    await store.close();
    // Undoes the writes of the close.
    rmSync(path, { recursive: true });
    renameSync(left, path);
  }
  store = await openLmdbStore({ path, clock });
  expect(await store.revision()).toBe(16);
});

test('a snapshot of what a process has written, or left, has the commits that are in the log alone', async () => {
  const left = killed();
  const snapshot = await openLmdbSnapshot(left);
  const found: string[] = [];
  for await (const page of snapshot.pages()) found.push(...page.map(({ key }) => key));
  expect([snapshot.revision, found]).toEqual([4, ['a', 'b', 'c']]);
  await snapshot.close();
  const earlier = await openLmdbSnapshot(left, 3);
  expect(earlier.revision).toBe(3);
  await earlier.close();
});

test('a commit that LMDB has missed in the tree is seen by reads, compares and checkpoints', async () => {
  missCommits(path, 1);
  expect(await keys()).toEqual(['a', 'b', 'c']);
  missCommits(path, 1);
  expect(await store.commit([{ key: 'a', revision: 2 }], [put('d')])).toEqual({ ok: true, revision: 5 });
  missCommits(path, 1);
  await expect.poll(checkpointed).toBe(4);
  expect(await keys()).toEqual(['a', 'b', 'c', 'd']);
});

describe('versions that know no log', () => {
  test('read a store that was closed', async () => {
    await store.close();
    expect(await treeAt(path)).toEqual({ format: 'multi-version store 2', isLogged: false, keys: 3 });
  });

  test('refuse a store that was not closed, whose format they do not know', async () => {
    expect(await treeAt(path)).toEqual({ format: 'multi-version store 3', isLogged: true, keys: 1 });
  });

  test('may write in between: what the log had before is not written again', async () => {
    const log = readFileSync(join(path, 'log'));
    await store.close();
    store = await openLmdbStore({ path, clock, logBytes: 0 });
    await store.commit([], [{ key: 'b' }]);
    await store.close();
    writeFileSync(join(path, 'log'), log);
    store = await openLmdbStore({ path, clock });
    expect(await keys()).toEqual(['a', 'c']);
  });
});

describe('a log that a process has left', () => {
  const opening = (at: string) => openLmdbStore({ path: at, clock });
  const refused = (what: string) => ({ code: 'damaged', message: expect.stringContaining(what) as string });

  test('and that is missing is damage', async () => {
    const left = killed();
    rmSync(join(left, 'log'));
    await expect(opening(left)).rejects.toMatchObject(refused('it is missing'));
    await expect(openLmdbSnapshot(left)).rejects.toMatchObject(refused('it is missing'));
  });

  test('and in which a group is damaged before others is damage', async () => {
    const left = killed();
    const log = readFileSync(join(left, 'log'));
    log[50]! ^= 1;
    writeFileSync(join(left, 'log'), log);
    await expect(opening(left)).rejects.toMatchObject(refused('is missing before later ones'));
    await expect(openLmdbSnapshot(left)).rejects.toMatchObject(refused('is missing before later ones'));
  });

  test('and whose last group is torn has the others', async () => {
    const left = killed();
    const log = readFileSync(join(left, 'log'));
    log[logPageBytes + 50]! ^= 1;
    writeFileSync(join(left, 'log'), log);
    const other = await opening(left);
    expect(await keys(other)).toEqual(['a', 'b']);
    await other.commit([], [put('d')]);
    await other.close();
    const again = await opening(left);
    expect(await keys(again)).toEqual(['a', 'b', 'd']);
    await again.close();
  });

  test('is read when its store is replaced, and then removed', async () => {
    const left = killed();
    let seen = 0;
    await replaceLmdbStore({
      path: left,
      overwrite: true,
      async fill(to, old) {
        const from = old();
        for await (const page of from.pages()) {
          seen += page.length;
          await to.write(page, { revision: from.revision, entries: seen } as never);
        }
        await to.finish(from.revision);
      },
    });
    expect(seen).toBe(3);
    expect(existsSync(join(left, 'log'))).toBe(false);
    const other = await opening(left);
    expect(await keys(other)).toEqual(['a', 'b', 'c']);
    await other.close();
  });
});

test('a commit that is too large for the log is in the tree when it is answered, with those before it', async () => {
  await store.commit([], [large('d')]);
  expect(await treeAt(path)).toMatchObject({ keys: 4 });
  await store.commit([], [put('e')]);
  expect(await keys()).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('without space for a log, commits are written to the tree', async () => {
  await store.close();
  rmSync(join(path, 'log'));
  const error = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  const { Log } = await import('./log.ts');
  vi.spyOn(Log, 'create').mockRejectedValueOnce(error);
  store = await openLmdbStore({ path, clock });
  await store.commit([], [put('d')]);
  expect(await treeAt(path)).toEqual({ format: 'multi-version store 2', isLogged: false, keys: 4 });
});

describe.skipIf(!canFailSyncWrites)('a disk that fails', () => {
  test('when the log is written: the commit is in the tree, and the log is used again', async () => {
    failSyncWrites(join(path, 'log'));
    expect(await store.commit([], [put('d')])).toEqual({ ok: true, revision: 5 });
    expect(await treeAt(path)).toMatchObject({ keys: 4 });
    // The descriptor stays as it is: the log fails again, and is void again.
    expect(await store.commit([], [put('e')])).toEqual({ ok: true, revision: 6 });
    const other = await openLmdbStore({ path: killed(), clock });
    expect(await keys(other)).toEqual(['a', 'b', 'c', 'd', 'e']);
    await other.close();
  });

  test('when log and tree are written: the commit is uncertain, and what was answered stays', async () => {
    failSyncWrites(join(path, 'log'));
    failSyncWrites(join(path, 'data.mdb'));
    await expect(store.commit([], [put('d')])).rejects.toMatchObject({ code: 'uncertain' });
    expect(await keys()).toEqual(['a', 'b', 'c']);
    expect(await store.commit([], [put('e')])).toEqual({ ok: true, revision: 5 });
    expect(await keys()).toEqual(['a', 'b', 'c', 'e']);
  });

  test('when the tree follows the log: what was answered stays, and the tree catches up', async () => {
    failSyncWrites(join(path, 'data.mdb'));
    await checkpoint();
    expect(await keys()).toEqual(['a', 'b', 'c']);
    expect(await store.commit([], [put('d')])).toEqual({ ok: true, revision: 5 });
    await checkpoint();
    await expect.poll(checkpointed).toBe(4);
  });

  test('for long when the tree follows the log: commits fail until the tree can be written', async () => {
    const delivered: number[] = [];
    store.watch('', 1, { batch: (revision) => delivered.push(revision), error: () => undefined });
    failSyncWrites(join(path, 'data.mdb'));
    renameSync(path, `${path}.away`);
    clock.advance(500);
    await expect.poll(() => store.commit([], []).catch(({ code }: StoreError) => code)).toBe('unavailable');
    await expect(store.commit([], [put('d')])).rejects.toMatchObject({ code: 'unavailable' });
    renameSync(`${path}.away`, path);
    expect(await store.commit([], [])).toEqual({ ok: true, revision: 4 });
    expect(await store.commit([], [put('d')])).toEqual({ ok: true, revision: 5 });
    expect(await keys()).toEqual(['a', 'b', 'c', 'd']);
    await expect.poll(() => delivered.filter((revision) => revision > 1)).toEqual([2, 3, 4, 5]);
  });
});
