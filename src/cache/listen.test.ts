import { describe, expect, it } from 'vitest';
import { prefix, put, settle, setup } from './testing/objects.ts';

async function listening() {
  const made = setup();
  made.store.write([put('a/x', {}), put('a/y', {})]);
  await made.cache.ready();
  await settle();
  const told: string[] = [];
  made.cache.listen(({ key, revision }, deleted) =>
    told.push(`${deleted ? 'deleted' : 'written'} ${key.slice(prefix.length)} ${revision}`),
  );
  return { ...made, told };
}

describe('a listener', () => {
  it('is told every later change, with the last state of a deleted object', async () => {
    const { store, told } = await listening();
    store.write([put('a/x', {}), put('b/z', {})]);
    store.write([put('a/y'), put('a/absent')]);
    expect(told).toEqual(['written a/x 3', 'written b/z 3', 'deleted a/y 2']);
  });

  it('is told before those who wait for the revision', async () => {
    const { store, cache, told } = await listening();
    const waiting = cache.reach(3, 1_000).then(() => told.push('reached'));
    store.write([put('a/x', {})]);
    await waiting;
    expect(told).toEqual(['written a/x 3', 'reached']);
  });

  it('is told the difference when the objects are listed again', async () => {
    const { store, clock, told } = await listening();
    store.fail('unavailable');
    store.write([put('a/y'), put('b/z', {})]);
    store.write([put('b/z', {})]);
    await store.compact(4);
    for (const ms of [50, 100]) {
      clock.advance(ms);
      await settle();
    }
    expect(told).toEqual(['deleted a/y 2', 'written b/z 4']);
  });
});
