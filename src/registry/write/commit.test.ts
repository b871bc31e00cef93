import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openMemoryStore } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { bench, note } from '../testing/fixtures.ts';

it('stores each of two concurrent writes whole when the driver copies values a turn later', async () => {
  const clock = drivenClock();
  const store = openMemoryStore({ clock });
  const commit = store.commit.bind(store);
  store.commit = async (compares, writes) => {
    await turn();
    return commit(compares, writes);
  };
  const { create, registry, target } = bench({ clock, store });
  await Promise.all([create('configmaps', note('one', { a: 'x' })), create('configmaps', note('two', { a: 'yy' }))]);
  for (const [name, a] of [
    ['one', 'x'],
    ['two', 'yy'],
  ]) {
    const { entry } = await store.get(`${target('configmaps').resource.keyPrefix}ns/${name}`);
    expect(JSON.parse(Buffer.from(entry?.value ?? []).toString())).toMatchObject({ metadata: { name }, data: { a } });
  }
  registry.close();
});
