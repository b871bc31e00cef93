import { expect, test } from 'vitest';
import { openMemoryStore } from './memory/memory-store.ts';
import { offsetRevisions } from './revision-offset.ts';
import { storeContract } from './testing/contract.ts';
import { drivenClock } from './testing/driven-clock.ts';
import { storeWith } from './testing/store-with.ts';
import { put, Recorder } from './testing/tools.ts';

const offset = 1_000_000_700;

storeContract('a store with an offset of its revisions', async () => {
  const clock = drivenClock();
  const store = offsetRevisions(openMemoryStore({ clock }), offset);
  return { store, advance: async (ms) => clock.advance(ms), cleanup: () => store.close() };
});

test('the revisions up to the offset are compacted, and no entry has one of them', async () => {
  const store = offsetRevisions(openMemoryStore({ clock: drivenClock() }), offset);
  const { revision } = await store.commit([], [put('a')]);
  expect(revision).toBe(offset + 2);
  expect(await store.revision()).toBe(revision);
  expect(await store.oldest()).toBe(offset + 1);
  const compacted = { name: 'StoreError', code: 'compacted', revision: offset + 1 };
  for (const earlier of [1, 2, offset]) {
    await expect(store.get('a', earlier)).rejects.toMatchObject(compacted);
    await expect(store.list({ prefix: '', revision: earlier })).rejects.toMatchObject(compacted);
    const sink = new Recorder();
    store.watch('', earlier, sink);
    expect(await sink.failed()).toMatchObject(compacted);
    const refused = await store.commit([{ key: 'a', revision: earlier }], [put('a')]);
    expect(refused).toMatchObject({ ok: false, revision, found: [{ key: 'a', revision }] });
    await store.compact(earlier);
  }
  expect(await store.revision()).toBe(revision);
  const closed = new Recorder();
  store.watch('', 1, closed).close();
  await store.get('a');
  expect(closed.errors).toEqual([]);
});

test('the size is that of the store below', async () => {
  const below = storeWith(openMemoryStore({ clock: drivenClock() }), { size: async () => 4_096 });
  expect(await offsetRevisions(below, offset).size()).toBe(4_096);
});
