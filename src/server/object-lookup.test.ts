import { expect, it } from 'vitest';
import { bench, note } from '../registry/testing/fixtures.ts';
import { openMemoryStore, type Store } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { objectLookup } from './object-lookup.ts';

/** A store whose watches, once `hold` was called, deliver only when progress is requested. */
function laggingStore() {
  const store = openMemoryStore({ clock: drivenClock() });
  const batches: (() => void)[] = [];
  let holding = false;
  const lagging: Store = {
    revision: () => store.revision(),
    get: (key, revision) => store.get(key, revision),
    list: (range) => store.list(range),
    commit: (compares, writes) => store.commit(compares, writes),
    compact: (revision) => store.compact(revision),
    close: () => store.close(),
    watch: (prefix, after, sink) => {
      const watch = store.watch(prefix, after, {
        batch: (revision, changes) => {
          if (holding) batches.push(() => sink.batch(revision, changes));
          else sink.batch(revision, changes);
        },
        error: (error) => sink.error(error),
      });
      const progress = () => {
        holding = false;
        for (const deliver of batches.splice(0)) deliver();
        watch.progress();
      };
      return { progress, close: () => watch.close() };
    },
  };
  const hold = () => {
    holding = true;
  };
  return { store, lagging, hold };
}

/** A lookup whose cache holds the config map `a` and has not yet received `b`, which another server wrote. */
async function behind() {
  const { store, lagging, hold } = laggingStore();
  const own = bench({ store: lagging });
  const other = bench({ store });
  await own.create('configmaps', note('a'));
  const lookup = objectLookup(() => own.registry, lagging);
  await lookup.list('configmaps', 'ns', true);
  hold();
  await other.create('configmaps', note('b'));
  return lookup;
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
  const lookup = await behind();
  expect(lookup.get('configmaps', 'ns', 'a')).toMatchObject({ metadata: { name: 'a' } });
  expect(await lookup.get('configmaps', 'ns', 'b')).toMatchObject({ metadata: { name: 'b' } });
  expect(await lookup.get('configmaps', 'ns', 'c')).toBeUndefined();
});
