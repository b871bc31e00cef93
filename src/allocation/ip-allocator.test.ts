import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { bench, failure } from '../registry/testing/fixtures.ts';
import { openMemoryStore } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { type AddressRange, rangeOf } from './address-range.ts';
import { newChanges } from './changes.ts';
import { ipAllocator } from './ip-allocator.ts';

it('does not report a full range from a cache that has not seen every write', async () => {
  const clock = drivenClock();
  const store = openMemoryStore({ clock });
  const { registry, target, create } = bench({ clock, store });
  for (const name of ['10.0.0.1', '10.0.0.2']) await create('namespaces', { metadata: { name } });
  await registry.objects.list('namespaces', '', true);
  const range = rangeOf({ address: '10.0.0.0', prefix: 30 }) as AddressRange;
  const world = {
    store,
    random: { integer: () => 0, uuid: () => '' },
    registry: () => registry,
    addresses: () => target('namespaces').resource,
    ranges: async () => [range],
  };
  const holder = { resource: 'services', namespace: 'ns', name: 's' };
  const allocator = ipAllocator(world, 'IPv4', holder, newChanges());
  expect(await allocator.allocateNext()).toBeUndefined();
  const latest = await store.revision();
  store.revision = async () => latest + 1;
  const answer = failure(allocator.allocateNext());
  for (let i = 0; i < 3; i++) await turn();
  clock.advance(3_000);
  expect(await answer).toMatchObject({ code: 504 });
});
