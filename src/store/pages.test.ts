import { expect, test } from 'vitest';
import { EveryStep } from '../meta/testing/every-step.ts';
import { openMemoryStore } from './memory/memory-store.ts';
import { pagesOf } from './pages.ts';
import { drivenClock } from './testing/driven-clock.ts';
import { put } from './testing/tools.ts';

test('a range is read in pages of one revision, with a pause before each', async () => {
  const store = openMemoryStore({ clock: drivenClock(), historyMs: 0 });
  const keys = Array.from({ length: 1_200 }, (_, i) => `/k/${1_000 + i}`);
  for (const key of keys) await store.commit([], [put(key)]);
  const revision = await store.revision();
  const turns = new EveryStep();
  const found: string[] = [];
  for await (const page of pagesOf(store, { prefix: '/k/' }, turns)) {
    expect(page.revision).toBe(revision);
    found.push(...page.entries.map(({ key }) => key));
    await store.commit([], [put('/k/later')]);
  }
  expect(found).toEqual(keys);
  expect(turns.count).toBe(3);
});
