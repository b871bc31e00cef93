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

it('answers without a promise what the cache holds', async () => {
  const { registry, create } = bench();
  const { objects } = registry;
  await create('namespaces', { metadata: { name: 'ns' } });
  await create('configmaps', note('one'));
  await objects.namespace('ns');
  await objects.get('configmaps', 'ns', 'one');
  expect(objects.namespace('ns')).toEqual({ terminating: false });
  expect(objects.get('configmaps', 'ns', 'one')).toMatchObject({ metadata: { name: 'one' } });
  expect(objects.list('configmaps', 'ns')).toMatchObject([{ metadata: { name: 'one' } }]);
  expect(await objects.namespace('other')).toBeUndefined();
});

it('refuses a consistent list that holds an object that cannot be read', async () => {
  const { registry, store, target } = bench();
  const key = `${target('configmaps').resource.keyPrefix}ns/broken`;
  await store.commit([{ key, revision: 0 }], [{ key, value: Buffer.from('garbage') }]);
  const { objects } = registry;
  expect(await failure(Promise.resolve(objects.list('configmaps', 'ns', true)))).toMatchObject({ code: 500 });
  expect(await objects.list('configmaps', 'ns')).toMatchObject([{ metadata: { name: 'broken' } }]);
});
