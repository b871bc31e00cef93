import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { struct } from '../../schema/index.ts';
import { openMemoryStore } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { heldStore } from '../../store/testing/held-store.ts';
import { bench, failure, note, notes } from '../testing/fixtures.ts';

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

it('answers from the cache without a promise', async () => {
  const { registry, create } = bench();
  const { objects } = registry;
  await create('namespaces', { metadata: { name: 'ns' } });
  await create('configmaps', note('one'));
  await objects.namespace('ns');
  await objects.get('configmaps', 'ns', 'one');
  expect(objects.namespace('ns')).toMatchObject({ terminating: false });
  expect(objects.get('configmaps', 'ns', 'one')).toMatchObject({ metadata: { name: 'one' } });
  expect(objects.list('configmaps', 'ns')).toMatchObject([{ metadata: { name: 'one' } }]);
  expect(await objects.namespace('other')).toBeUndefined();
});

it('decodes a large object in steps', async () => {
  const { registry, create } = bench();
  const { objects } = registry;
  await create('configmaps', note('large', { a: 'x'.repeat(100_000) }));
  await create('configmaps', note('small'));
  await objects.get('configmaps', 'ns', 'small');
  const large = objects.get('configmaps', 'ns', 'large');
  expect(large).toBeInstanceOf(Promise);
  expect(await large).toMatchObject({ metadata: { name: 'large' } });
  expect(objects.get('configmaps', 'ns', 'small')).not.toBeInstanceOf(Promise);
});

it('decodes a large list in steps, once for all who ask meanwhile', async () => {
  const { registry, create } = bench();
  const { objects } = registry;
  for (const name of ['one', 'two']) await create('configmaps', note(name, { a: 'x'.repeat(200_000) }));
  await objects.get('configmaps', 'ns', 'one');
  const list = objects.list('configmaps', 'ns');
  expect(list).toBeInstanceOf(Promise);
  expect(objects.list('configmaps', 'ns')).toBe(list);
  expect(await list).toMatchObject([{ metadata: { name: 'one' } }, { metadata: { name: 'two' } }]);
  const { revision } = await objects.cached('configmaps', 'ns');
  expect(revision).toBe(registry.find('', 'v1', 'configmaps')?.storage.cache.revision);
  // The result is not kept.
  expect(objects.list('configmaps', 'ns')).not.toBe(list);
});

it('finds a resource by the schema of its storage version as by its name', async () => {
  const { registry, create } = bench();
  const { objects } = registry;
  const [{ schema } = { schema: struct('core/v1.None', {}) }] = notes.versions;
  await create('configmaps', note('one'));
  expect(await objects.get(schema, 'ns', 'one')).toMatchObject({ metadata: { name: 'one' } });
  expect(await objects.list(schema, 'ns')).toBe(await objects.list('configmaps', 'ns'));
  expect(await objects.read(schema, 'ns', 'one')).toEqual(await objects.read('configmaps', 'ns', 'one'));
  const other = struct('core/v1.ConfigMap', {});
  expect(await objects.get(other, 'ns', 'one')).toBeUndefined();
  expect(await failure(objects.read(other, 'ns', 'one'))).toMatchObject({ code: 404 });
});

it('rejects a consistent list with an object that cannot be read', async () => {
  const { registry, store, target } = bench();
  const key = `${target('configmaps').resource.keyPrefix}ns/broken`;
  await store.commit([{ key, revision: 0 }], [{ key, value: Buffer.from('garbage') }]);
  const { objects } = registry;
  expect(await failure(Promise.resolve(objects.list('configmaps', 'ns', true)))).toMatchObject({ code: 500 });
  expect(await objects.list('configmaps', 'ns')).toMatchObject([{ metadata: { name: 'broken' } }]);
});

/** The objects of a registry whose cache holds the config map `a` and has not yet received `b`, which another server wrote. */
async function behind() {
  const store = heldStore(openMemoryStore({ clock: drivenClock() }), { releaseOnProgress: true });
  const own = bench({ store });
  const other = bench({ store: store.under });
  await other.create('configmaps', note('a'));
  const { objects } = own.registry;
  await objects.list('configmaps', 'ns', true);
  store.hold();
  await other.create('configmaps', note('b'));
  return objects;
}

const namesOf = (objects: readonly { readonly metadata: { readonly name?: string } }[]) =>
  objects.map(({ metadata }) => metadata.name);

it('lists the state of the cache, without waiting for the store', async () => {
  const found = (await behind()).list('configmaps', 'ns');
  expect(found).not.toBeInstanceOf(Promise);
  expect(namesOf(await found)).toEqual(['a']);
});

it('lists the latest state: with every commit answered before the call', async () => {
  expect(namesOf(await (await behind()).list('configmaps', 'ns', true))).toEqual(['a', 'b']);
});

it('gets a cached object from the cache, and looks for a missing one in the latest state', async () => {
  const objects = await behind();
  expect(objects.get('configmaps', 'ns', 'a')).toMatchObject({ metadata: { name: 'a' } });
  expect(await objects.get('configmaps', 'ns', 'b')).toMatchObject({ metadata: { name: 'b' } });
  expect(await objects.get('configmaps', 'ns', 'c')).toBeUndefined();
});
