import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Store } from '../store.ts';
import { drivenClock } from '../testing/driven-clock.ts';
import { missCommits } from '../testing/miss-commits.ts';
import { put } from '../testing/tools.ts';
import { openLmdbStore } from './lmdb-store.ts';
import { Sequence } from './sequence.ts';

// LMDB loses commits when another process opens the files at the wrong moment (ITS#9496); the store must not.
describe('a store whose files another process opened while commits were made', () => {
  let path: string;
  let store: Store;
  const clock = drivenClock();
  beforeEach(async () => {
    vi.spyOn(console, 'error');
    path = mkdtempSync(join(tmpdir(), 'store-sequence-'));
    store = await openLmdbStore({ path, clock, logBytes: 0 });
    for (const key of ['a', 'b', 'c']) expect(await store.commit([], [put(key)])).toMatchObject({ ok: true });
  });
  afterEach(async () => {
    await store.close();
    rmSync(path, { recursive: true, force: true });
    // The library prints what it reports.
    expect(console.error).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });
  const keys = async (at: Store) => (await at.list({ prefix: '' })).entries.map(({ key }) => key);

  test.each([
    ['', 1],
    ['', 2],
    ['', 3],
    [' after the check', 1],
    [' after the check', 2],
    [' after the check', 3],
  ])('commits on top of every commit that it has answered, when LMDB missed commits%s: %i', async (when, missed) => {
    if (when !== '') vi.spyOn(Sequence.prototype, 'check').mockImplementationOnce(() => undefined);
    missCommits(path, missed);
    const outcomes = [store.commit([], [put('d')]), store.commit([{ key: 'c', revision: 4 }], [{ key: 'c' }])];
    expect(await Promise.all(outcomes)).toEqual([
      { ok: true, revision: 5 },
      { ok: true, revision: 6 },
    ]);
    expect(await keys(store)).toEqual(['a', 'b', 'd']);
    const delivered: number[] = [];
    store.watch('', 1, { batch: (revision) => delivered.push(revision), error: () => undefined });
    await expect.poll(() => delivered).toEqual([2, 3, 4, 5, 6]);
    await store.close();
    store = await openLmdbStore({ path, clock, logBytes: 0 });
    expect(await store.revision()).toBe(6);
    expect(await keys(store)).toEqual(['a', 'b', 'd']);
  });

  test('decides conflicts by the last commit', async () => {
    missCommits(path, 1);
    expect(await store.commit([{ key: 'c', revision: 0 }], [put('c')])).toMatchObject({ ok: false, revision: 4 });
  });

  test.each([
    ['get', async () => (await store.get('c')).entry?.revision],
    ['list', async () => (await store.list({ prefix: '' })).entries.at(-1)?.revision],
  ])('misses no commit in a %s', async (_, read) => {
    for (const missed of [1, 2, 3]) {
      missCommits(path, missed);
      expect(await read()).toBe(4);
    }
  });

  test('misses no commit in a watch', async () => {
    const delivered: unknown[] = [];
    missCommits(path, 1);
    store.watch('', 1, { batch: (revision) => delivered.push(revision), error: (error) => delivered.push(error) });
    await expect.poll(() => delivered).toEqual([2, 3, 4]);
  });

  test('commits while that process still reads', async () => {
    const program = `
      const root = require(${JSON.stringify(createRequire(import.meta.url).resolve('lmdb'))})
        .open({ path: ${JSON.stringify(path)}, noSubdir: false, readOnly: true, encoding: 'binary', keyEncoding: 'binary' });
      root.useReadTransaction();
      root.get(Buffer.from('format'));
      console.log('reads');
      setInterval(() => undefined, 1000);`;
    const reader = spawn(process.execPath, ['--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exit = once(reader, 'exit');
    await once(reader.stdout, 'data');
    missCommits(path, 1);
    expect(await store.commit([], [put('d')])).toEqual({ ok: true, revision: 5 });
    reader.kill();
    await exit;
    expect(await keys(store)).toEqual(['a', 'b', 'c', 'd']);
  });
});
