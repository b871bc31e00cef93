import { expect, test } from 'vitest';
import { storeContract } from '../testing/contract.ts';
import { drivenClock } from '../testing/driven-clock.ts';
import { openMemoryStore } from './memory-store.ts';

storeContract('memory', async () => {
  const clock = drivenClock();
  const store = openMemoryStore({ clock });
  return { store, advance: async (ms) => clock.advance(ms), cleanup: () => store.close() };
});

const value = new Uint8Array([1]);

test('an empty store is at revision 1', async () => {
  expect(await openMemoryStore({ clock: drivenClock() }).revision()).toBe(1);
});

test('a change is delivered to watches before its commit is answered', async () => {
  const store = openMemoryStore({ clock: drivenClock() });
  const seen: number[] = [];
  store.watch('', 1, { batch: (revision) => seen.push(revision), error: () => undefined });
  for (let i = 2; i < 10; i++) {
    await store.commit([], [{ key: 'a', value }]);
    expect(seen.at(-1)).toBe(i);
  }
});
