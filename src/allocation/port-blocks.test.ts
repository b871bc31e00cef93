import { expect, it } from 'vitest';
import { openMemoryStore } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { storeWith } from '../store/testing/store-with.ts';
import { newChanges } from './changes.ts';
import { nodePortAllocator } from './node-port-allocator.ts';
import { loadPortBlocks } from './port-blocks.ts';

it('finds a free port of a nearly full range with one list', async () => {
  const memory = openMemoryStore({ clock: drivenClock() });
  const taken = loadPortBlocks(memory);
  const range = { from: 30_000, to: 32_767 };
  await taken.load();
  for (let port = range.from; port <= range.to; port++) if (port !== 31_111) taken.use(port, true);
  const changes = newChanges();
  taken.finish(changes);
  expect((await memory.commit(changes.compares, changes.writes)).ok).toBe(true);
  const reads: string[] = [];
  const store = storeWith(memory, {
    get: (...given) => {
      reads.push('get');
      return memory.get(...given);
    },
    list: (...given) => {
      reads.push('list');
      return memory.list(...given);
    },
  });
  const allocator = nodePortAllocator(loadPortBlocks(store), range, { integer: () => 0, uuid: () => '' });
  expect(await allocator.allocateNext()).toBe('31111');
  expect(await allocator.allocateNext()).toBeUndefined();
  expect(reads).toEqual(['list']);
});
