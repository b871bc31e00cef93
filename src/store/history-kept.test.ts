import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLmdbStore } from './lmdb/lmdb-store.ts';
import { openMemoryStore } from './memory/memory-store.ts';
import type { Store } from './store.ts';
import { type DrivenClock, drivenClock } from './testing/driven-clock.ts';

const minute = 60_000;
const hour = 60 * minute;
const value = new Uint8Array([1]);

let root: string;
let clock: DrivenClock;
const opened: Store[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'history-'));
  clock = drivenClock();
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  rmSync(root, { recursive: true, force: true });
});

type Settings = { readonly historyMs?: number };
const drivers: { [name: string]: (settings?: Settings) => Promise<Store> } = {
  memory: async (settings = {}) => openMemoryStore({ clock, ...settings }),
  lmdb: (settings = {}) => openLmdbStore({ path: join(root, 'data'), clock, ...settings }),
};
const reopen = (path: string, settings: Settings = {}) => openLmdbStore({ path, clock, ...settings });

/** Advances the time in steps, with the background work of the store in each. */
async function pass(store: Store, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5_000) {
    clock.advance(Math.min(left, 5_000));
    // Commits are answered in order, so this one waits for those before it.
    await store.commit([], [{ key: 'absent' }]);
  }
}

/** The number of records in the file of a closed store. */
async function recordsIn(path: string): Promise<number> {
  const file = open({ path, noSubdir: false });
  const count = file.openDB({ name: 'records', keyEncoding: 'binary' }).getKeysCount();
  await file.close();
  return count;
}

describe.each(Object.entries(drivers))('history: %s', (_, openStore) => {
  async function opening(settings?: Settings): Promise<Store> {
    const store = await openStore(settings);
    opened.push(store);
    return store;
  }
  const write = async (store: Store) => (await store.commit([], [{ key: 'a', value }])).revision;

  test.each([0, hour, -hour])('is kept for five minutes, also when the wall clock is adjusted by %i ms', async (ms) => {
    const store = await opening();
    const first = await write(store);
    await pass(store, minute);
    const second = await write(store);
    clock.adjust(ms);
    await pass(store, minute);
    const third = await write(store);
    await pass(store, 3 * minute);
    expect(await store.oldest()).toBe(1);
    await pass(store, 20_000);
    expect(await store.oldest()).toBe(first);
    await pass(store, 40_000);
    expect(await store.oldest()).toBe(first);
    await pass(store, 20_000);
    expect(await store.oldest()).toBe(second);
    await pass(store, minute);
    expect(await store.oldest()).toBe(third);
  });

  test('is kept for historyMs', async () => {
    const store = await opening({ historyMs: minute });
    const revision = await write(store);
    await pass(store, minute);
    expect(await store.oldest()).toBe(1);
    await pass(store, 10_000);
    expect(await store.oldest()).toBe(revision);
  });

  test('is kept forever when historyMs is 0', async () => {
    const store = await opening({ historyMs: 0 });
    await write(store);
    await pass(store, hour);
    await write(store);
    expect(await store.oldest()).toBe(1);
  });
});

describe('history in a file', () => {
  /** Makes ten updates a minute for 20 minutes, with a restart after each. Returns the number of records after each. */
  async function restartEveryMinute(restart: (store: Store, path: string) => Promise<string>): Promise<number[]> {
    const counts: number[] = [];
    let path = join(root, 'data');
    for (let i = 0; i < 20; i++) {
      const store = await reopen(path);
      for (let n = 0; n < 10; n++) {
        await store.commit([], [{ key: 'a', value }]);
        await pass(store, minute / 10);
      }
      const { revision } = await store.get('a');
      expect(revision).toBe(1 + 10 * (i + 1));
      // The last five minutes can be read, and at most a quarter of a minute before them.
      const kept = revision - (await store.oldest());
      expect(kept).toBeGreaterThanOrEqual(Math.min(50, revision - 1));
      expect(kept).toBeLessThanOrEqual(53);
      path = await restart(store, path);
      counts.push(await recordsIn(path));
    }
    return counts;
  }

  test('is kept for five minutes of open time, over restarts', async () => {
    const counts = await restartEveryMinute(async (store, path) => {
      await store.close();
      return path;
    });
    expect(Math.max(...counts)).toBeLessThanOrEqual(55);
  });

  test('is kept for five minutes of open time, also after a crash', async () => {
    let copies = 0;
    const counts = await restartEveryMinute(async (store) => {
      const path = join(root, `copy-${++copies}`);
      const from = join(root, copies === 1 ? 'data' : `copy-${copies - 1}`);
      for (const name of ['data.mdb', 'log']) cpSync(join(from, name), join(path, name));
      await store.close();
      return path;
    });
    expect(Math.max(...counts)).toBeLessThanOrEqual(55);
  });

  test('does not age while the store is closed', async () => {
    const path = join(root, 'data');
    const before = await reopen(path);
    const { revision } = await before.commit([], [{ key: 'a', value }]);
    await before.close();
    clock.advance(hour);
    const store = await reopen(path);
    opened.push(store);
    await pass(store, 4 * minute);
    expect(await store.oldest()).toBe(1);
    await pass(store, minute + 20_000);
    expect(await store.oldest()).toBe(revision);
  });

  test('ages while nothing is written, over restarts', async () => {
    const path = join(root, 'data');
    for (let i = 0; i < 12; i++) {
      const store = await reopen(path);
      if (i === 0) await store.commit([], [{ key: 'a', value }]);
      await pass(store, 30_000);
      await store.close();
    }
    const store = await reopen(path);
    opened.push(store);
    expect(await store.oldest()).toBe(2);
  });

  test.each([1, 128])('is removed at least as fast as it grows, under commits of %i writes', async (size) => {
    const path = join(root, 'data');
    const store = await reopen(path, { historyMs: 30_000 });
    const perRound = 512;
    const writes = Array.from({ length: size }, (_, i) => ({ key: `a/${i}`, value }));
    const round = () => Promise.all(Array.from({ length: perRound / size }, () => store.commit([], writes)));
    // There is always a waiting commit, so history is removed only in the transactions of commits.
    let running = round();
    for (let i = 0; i < 90; i++) {
      const next = round();
      await running;
      running = next;
      clock.advance(1_000);
    }
    const last = running;
    await Promise.all([last, store.close()]);
    // Thirty seconds, the second between two marks, and what is left for later transactions to remove.
    expect(await recordsIn(path)).toBeLessThanOrEqual(size + 35 * perRound);
  });
});
