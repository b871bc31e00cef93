import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openMemoryStore } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { bench, failure, note } from './testing/fixtures.ts';

it('fails rather than answer from a cache that has not seen every write', async () => {
  const clock = drivenClock();
  const store = openMemoryStore({ clock });
  const { registry, create } = bench({ clock, store });
  const { objects } = registry;
  await create('configmaps', note('one'));
  expect(await objects.list('configmaps', 'ns', true)).toHaveLength(1);
  const latest = await store.revision();
  store.revision = async () => latest + 1;
  const missing = failure(Promise.resolve(objects.get('configmaps', 'ns', 'two')));
  const listed = failure(Promise.resolve(objects.list('configmaps', 'ns', true)));
  await turn();
  clock.advance(3_000);
  expect(await missing).toMatchObject({ code: 504 });
  expect(await listed).toMatchObject({ code: 504 });
});
