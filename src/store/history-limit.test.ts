import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { limitHistory } from './history-limit.ts';
import { openLmdbStore } from './lmdb/lmdb-store.ts';
import { openMemoryStore } from './memory/memory-store.ts';
import { type Store, StoreError, type WatchSink } from './store.ts';
import { type DrivenClock, drivenClock } from './testing/driven-clock.ts';
import { delivered } from './testing/late-store.ts';
import { storeWith } from './testing/store-with.ts';

/** Each change has 100 bytes: a key of 4 and a value of 96. */
const value = new Uint8Array(96);
const maxBytes = 1_000;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const openMemory = async (clock: DrivenClock) => openMemoryStore({ clock, historyMs: 0 });
const drivers: { [name: string]: (clock: DrivenClock) => Promise<Store> } = {
  memory: openMemory,
  lmdb: (clock) => {
    const path = mkdtempSync(join(tmpdir(), 'history-limit-'));
    cleanups.push(() => rmSync(path, { recursive: true, force: true }));
    return openLmdbStore({ path, clock, historyMs: 0 });
  },
};

async function opening(open: (clock: DrivenClock) => Promise<Store>) {
  const clock = drivenClock();
  const store = await open(clock);
  cleanups.push(() => store.close());
  return { clock, store };
}

/** Writes one key so many times. */
async function write(store: Store, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await store.commit([], [{ key: '/a/b', value }]);
}

describe.each(Object.entries(drivers))('a history limited by size: %s', (_, open) => {
  it('retains the latest changes of at most that size', async () => {
    const { clock, store } = await opening(open);
    limitHistory(store, { clock, maxBytes, failed: vi.fn() });
    await write(store, 10);
    await delivered();
    expect(await store.oldest()).toBe(1);
    await write(store, 25);
    await vi.waitFor(async () => expect(await store.oldest()).toBe((await store.revision()) - 10));
    const oldest = await store.oldest();
    expect((await store.get('/a/b', oldest)).entry?.revision).toBe(oldest);
    await expect(store.get('/a/b', oldest - 1)).rejects.toMatchObject({ code: 'compacted' });
  });

  it('counts the changes from before the start', async () => {
    const { clock, store } = await opening(open);
    await write(store, 30);
    limitHistory(store, { clock, maxBytes, failed: vi.fn() });
    await vi.waitFor(async () => expect(await store.oldest()).toBe((await store.revision()) - 10));
  });
});

describe('a history limited by size', () => {
  it('continues where it was when the watch of the store ends, or at the oldest revision when that is compacted', async () => {
    const { clock, store: under } = await opening(openMemory);
    const sinks: WatchSink[] = [];
    const starts: number[] = [];
    const store = storeWith(under, {
      watch: (prefix, after, sink, options) => {
        starts.push(after);
        sinks.push(sink);
        return under.watch(prefix, after, sink, options);
      },
    });
    limitHistory(store, { clock, maxBytes, failed: vi.fn() });
    await vi.waitFor(() => expect(starts).toEqual([1]));
    await write(store, 3);
    await delivered();
    sinks[0]?.error(new StoreError('unavailable', 'cut'));
    clock.advance(1_000);
    await vi.waitFor(() => expect(starts).toEqual([1, 4]));
    await write(store, 2);
    await under.compact(6);
    sinks[1]?.error(new StoreError('compacted', 'compacted', { revision: 6 }));
    clock.advance(1_000);
    await vi.waitFor(() => expect(starts).toEqual([1, 4, 6]));
  });

  it('reports a failed compaction, and compacts with the next changes', async () => {
    const { clock, store: under } = await opening(openMemory);
    const compact = vi.fn(under.compact.bind(under)).mockRejectedValueOnce(new Error('no answer'));
    const failed = vi.fn();
    limitHistory(storeWith(under, { compact }), { clock, maxBytes, failed });
    await delivered();
    await write(under, 11);
    await vi.waitFor(() => expect(failed).toHaveBeenCalledTimes(1));
    expect(await under.oldest()).toBe(1);
    await write(under, 1);
    await vi.waitFor(async () => expect(await under.oldest()).toBe(3));
  });

  it('ends when the store is closed', async () => {
    const { clock, store } = await opening(openMemory);
    const oldest = vi.spyOn(store, 'oldest');
    limitHistory(store, { clock, maxBytes, failed: vi.fn() });
    await delivered();
    await store.close();
    await delivered();
    clock.advance(10_000);
    expect(oldest).toHaveBeenCalledTimes(1);
  });
});
