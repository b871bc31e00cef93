import { expect, it, vi } from 'vitest';
import { openMemoryStore } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { storeWith } from '../../store/testing/store-with.ts';
import { type Log, silentLog } from '../dependencies.ts';
import { createServer } from '../server.ts';

it('a store that never answers holds up the end of a server for a while only, and the log tells', async () => {
  const clock = drivenClock();
  const store = openMemoryStore({ clock });
  let silent = false;
  const asked = vi.fn();
  const unless = <Q extends unknown[], R>(call: (...given: Q) => Promise<R>) => {
    return (...given: Q): Promise<R> => {
      if (!silent) return call(...given);
      asked();
      return new Promise(() => {});
    };
  };
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
  const silenced = storeWith(store, {
    revision: unless(() => store.revision()),
    get: unless((...given) => store.get(...given)),
    list: unless((...given) => store.list(...given)),
    commit: unless((...given) => store.commit(...given)),
    close: unless(() => store.close()),
  });
  const server = await createServer({ apiDomain: 'k8s.io' }, { clock, log, store: silenced });
  silent = true;
  await expect
    .poll(() => {
      clock.advance(1_000);
      return asked.mock.calls.length;
    })
    .toBeGreaterThan(0);
  const began = clock.now();
  let closed = false;
  void server.close().then(() => {
    closed = true;
  });
  await expect
    .poll(() => {
      clock.advance(500);
      return closed;
    })
    .toBe(true);
  expect(clock.now() - began).toBeLessThanOrEqual(60_000);
  expect(warnings.filter((text) => text.includes('left behind'))).toEqual([
    'work of the server on the store had not ended 5 s after the server was closed, and is left behind',
    'the store had not ended 5 s after the server was closed, and is left behind',
  ]);
  await store.close();
});
