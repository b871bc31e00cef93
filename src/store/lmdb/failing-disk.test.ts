import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Store, StoreError } from '../store.ts';
import { drivenClock } from '../testing/driven-clock.ts';
import { canFailSyncWrites, failSyncWrites } from '../testing/fail-sync-writes.ts';
import { openLmdbStore } from './lmdb-store.ts';

const value = Buffer.of(1);
const long = 'k'.repeat(5000);

describe.skipIf(!canFailSyncWrites)('a transaction whose meta page could not be written', () => {
  let directory: string;
  let path: string;
  let file: string;
  let store: Store;
  const clock = drivenClock();

  beforeEach(async () => {
    vi.spyOn(console, 'error');
    directory = mkdtempSync(join(tmpdir(), 'store-disk-'));
    path = join(directory, 'data');
    file = join(path, 'data.mdb');
    store = await openLmdbStore({ path, clock, logBytes: 0 });
    const writes = ['a', long].map((key) => ({ key, value }));
    expect(await store.commit([], writes)).toEqual({ ok: true, revision: 2 });
  });
  afterEach(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
    // The library prints what it reports.
    expect(console.error).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  const put = (key: string) => store.commit([], [{ key, value }]);
  const keys = async () => (await store.list({ prefix: '' })).entries.map(({ key }) => key);
  /** The deliveries of a watch: revisions, and the code of the error that ends it. */
  function follow(after: number): (number | string)[] {
    const delivered: (number | string)[] = [];
    store.watch('', after, {
      batch: (revision) => delivered.push(revision),
      error: (error) => delivered.push(error.code),
    });
    return delivered;
  }

  test('is uncertain; later commits succeed, and watches miss no change', async () => {
    const delivered = follow(2);
    for (let round = 0; round < 3; round++) {
      failSyncWrites(file);
      await expect(put('lost')).rejects.toMatchObject({
        code: 'uncertain',
        message: expect.stringMatching(/check the disk$/),
      });
      expect(await keys()).toEqual(['a', ...Array.from({ length: round }, (_, i) => `b${i}`), long]);
      expect(await put(`b${round}`)).toEqual({ ok: true, revision: 3 + round });
    }
    await expect.poll(() => delivered).toEqual([3, 4, 5]);
    await store.close();
    store = await openLmdbStore({ path, clock, logBytes: 0 });
    expect(await keys()).toEqual(['a', 'b0', 'b1', 'b2', long]);
  });

  test('is uncertain for every commit in it; the commits behind it succeed', async () => {
    failSyncWrites(file);
    const first = [put('x'), put('y')];
    await new Promise(setImmediate);
    const second = [put('z')];
    const outcomes = await Promise.allSettled([...first, ...second]);
    for (const outcome of outcomes.slice(0, 2)) expect(outcome).toMatchObject({ reason: { code: 'uncertain' } });
    expect(outcomes[2]).toMatchObject({ value: { ok: true, revision: 3 } });
    expect(await keys()).toEqual(['a', long, 'z']);
  });

  test('makes every call fail as unavailable until the files can be reopened, which a commit without writes tries', async () => {
    failSyncWrites(file);
    renameSync(path, `${path}.away`);
    await expect(put('b')).rejects.toMatchObject({ code: 'uncertain' });
    for (const call of [
      () => put('b'),
      () => store.get('a'),
      () => store.list({ prefix: '' }),
      () => store.commit([], []),
    ]) {
      const error: unknown = await call().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(StoreError);
      expect(error).toMatchObject({ code: 'unavailable' });
    }
    renameSync(`${path}.away`, path);
    expect(await store.commit([], [])).toEqual({ ok: true, revision: 2 });
    expect(await put('b')).toEqual({ ok: true, revision: 3 });
    expect(await keys()).toEqual(['a', 'b', long]);
  });

  test('may have been written: watches end, and new ones deliver it', async () => {
    const delivered = follow(2);
    failSyncWrites(file);
    renameSync(path, `${path}.away`);
    await expect(put('b')).rejects.toMatchObject({ code: 'uncertain' });
    const other = await openLmdbStore({ path: `${path}.away`, clock });
    await other.commit([], [{ key: `${long}2`, value }]);
    await other.close();
    renameSync(`${path}.away`, path);
    expect(await put('c')).toEqual({ ok: true, revision: 4 });
    expect(delivered).toEqual(['unavailable']);
    const replayed = follow(2);
    await expect.poll(() => replayed).toEqual([3, 4]);
    expect(await keys()).toEqual(['a', 'c', long, `${long}2`]);
  });

  test('is followed by damaged when an answered commit is missing in the file', async () => {
    copyFileSync(file, join(directory, 'older'));
    await put('b');
    failSyncWrites(file);
    renameSync(path, `${path}.away`);
    await expect(put('c')).rejects.toMatchObject({ code: 'uncertain' });
    copyFileSync(join(directory, 'older'), join(`${path}.away`, 'data.mdb'));
    renameSync(`${path}.away`, path);
    for (let i = 0; i < 2; i++) {
      await expect(put('d')).rejects.toMatchObject({
        code: 'damaged',
        message: expect.stringContaining('revision 3 was written, and the last one that is there is 2') as string,
      });
      await expect(store.get('a')).rejects.toMatchObject({ code: 'unavailable' });
    }
  });
});
