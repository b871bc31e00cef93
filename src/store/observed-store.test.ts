import { describe, expect, it } from 'vitest';
import { openMemoryStore } from './memory/memory-store.ts';
import { observedStore, type RequestObserver } from './observed-store.ts';
import { type Store, StoreError } from './store.ts';
import { storeContract } from './testing/contract.ts';
import { drivenClock } from './testing/driven-clock.ts';
import { storeWith } from './testing/store-with.ts';
import { bytes } from './testing/tools.ts';

storeContract('observed', async () => {
  const clock = drivenClock();
  const store = observedStore(openMemoryStore({ clock }), clock, () => undefined);
  return { store, advance: async (ms) => clock.advance(ms), cleanup: () => store.close() };
});

describe('an observed store', () => {
  const clock = drivenClock();
  const value = bytes('v');
  const observe = (under: Store) => {
    const seen: Parameters<RequestObserver>[] = [];
    return { seen, store: observedStore(under, clock, (...request) => void seen.push(request)) };
  };

  it('tells what each request does, and of which key', async () => {
    const { store, seen } = observe(openMemoryStore({ clock }));
    await store.commit([{ key: '/a', revision: 0 }], [{ key: '/a', value }, { key: '/b' }]);
    await store.commit([{ key: '/a', revision: 1 }], [{ key: '/a', value }]);
    await store.commit([], [{ key: '/a', value }]);
    await store.commit([{ key: '/a', revision: 0, below: true }], [{ key: '/a', value }]);
    await store.commit([{ key: '/b', revision: 0 }], [{ key: '/a' }]);
    await store.get('/a');
    await store.list({ prefix: '/' });
    await store.list({ prefix: '/', limit: 0, count: true });
    expect(seen.map(([operation, key, , failed]) => [operation, key, failed])).toEqual([
      ['create', '/a', false],
      // The compare does not hold, which is an answer.
      ['update', '/a', false],
      ['update', '/a', false],
      ['update', '/a', false],
      ['delete', '/a', false],
      ['get', '/a', false],
      ['list', '/', false],
      ['listWithCount', '/', false],
    ]);
  });

  it('tells nothing of what concerns no key', async () => {
    const { store, seen } = observe(openMemoryStore({ clock }));
    await store.revision();
    await store.oldest();
    await store.size();
    await store.commit([], []);
    await store.compact(1);
    expect(seen).toEqual([]);
  });

  it('tells how long a request took, and whether it failed', async () => {
    let fail: (error: StoreError) => void = () => undefined;
    const answer = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const { store, seen } = observe(storeWith(openMemoryStore({ clock }), { get: () => answer }));
    const getting = store.get('/a');
    clock.advance(1_500);
    expect(seen).toEqual([]);
    fail(new StoreError('unavailable', 'away'));
    await expect(getting).rejects.toMatchObject({ code: 'unavailable' });
    expect(seen).toEqual([['get', '/a', 1.5, true]]);
  });

  it('is otherwise what the store is', async () => {
    const under = { ...storeWith(openMemoryStore({ clock }), { size: async () => 4_096 }), encrypts: true };
    const { store } = observe(under);
    expect([await store.size(), store.encrypts, store.maxValueBytes]).toEqual([4_096, true, under.maxValueBytes]);
  });

  it('returns the answers of the store themselves, which settle no later', () => {
    const answers = { get: Promise.resolve(), list: Promise.resolve(), commit: Promise.resolve() };
    const under = storeWith(openMemoryStore({ clock }), {
      get: () => answers.get as never,
      list: () => answers.list as never,
      commit: () => answers.commit as never,
    });
    const { store } = observe(under);
    expect(store.get('/a')).toBe(answers.get);
    expect(store.list({ prefix: '/' })).toBe(answers.list);
    expect(store.commit([], [{ key: '/a' }])).toBe(answers.commit);
  });
});
