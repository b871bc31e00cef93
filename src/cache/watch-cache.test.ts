import { describe, expect, it } from 'vitest';
import { StatusError, scheduler } from '../meta/index.ts';
import { EveryStep } from '../meta/testing/every-step.ts';
import { type ListRange, openMemoryStore } from '../store/index.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { format, prefix, put, Reader, settle, setup } from './testing/objects.ts';
import type { SubscribeOptions, Subscription } from './types.ts';

const bufferBytes = 1 << 20;
const keysOf = (objects: Iterable<{ key: string }>) => [...objects].map(({ key }) => key.slice(prefix.length));

async function ready(...options: Parameters<typeof setup>) {
  const all = setup(...options);
  await all.cache.ready();
  await settle();
  const follow = (more: Partial<SubscribeOptions> = {}) =>
    new Reader(all.cache.subscribe({ after: all.cache.revision, bufferBytes, ...more }));
  return { ...all, follow };
}

describe('loading', () => {
  it('is empty before it is loaded, then has the state of the store', async () => {
    const { store, cache } = setup();
    store.write([put('a/x', {}), put('b/y', {}), { key: '/other/z', value: Buffer.from('{}') }]);
    expect([cache.revision, cache.oldest, keysOf(cache.snapshot().range(prefix))]).toEqual([0, 0, []]);
    await Promise.all([cache.ready(), cache.ready()]);
    expect([cache.revision, cache.oldest]).toEqual([2, 2]);
    expect(keysOf(cache.snapshot().range(prefix))).toEqual(['a/x', 'b/y']);
    expect(cache.snapshot().get(`${prefix}a/x`)?.bytes).toBe('{"rv":"2","padding":""}');
    expect(store.calls.watches).toBe(1);
  });

  it('lists 100,000 objects in pages', async () => {
    const { store, cache } = setup();
    const entries = Array.from({ length: 100_000 }, (_, i) => ({
      key: `${prefix}n/${String(i).padStart(6, '0')}`,
      value: Buffer.from('{"padding":""}'),
      revision: 1,
    }));
    store.fill(entries, 1);
    // The fake store sorts all entries for every page, which takes too long here.
    store.list = async ({ after, limit = Number.POSITIVE_INFINITY }) => {
      store.calls.lists++;
      const start = after === undefined ? 0 : Number(after.slice(-6)) + 1;
      const page = entries.slice(start, start + limit);
      return { entries: page, revision: 1, more: start + page.length < entries.length, remaining: undefined };
    };
    await cache.ready();
    expect(store.calls.lists).toBe(200);
    expect(cache.snapshot().count(prefix)).toBe(100_000);
  });

  it('yields to the event loop between large objects too', async () => {
    const { store, cache } = setup();
    store.write(Array.from({ length: 8 }, (_, i) => put(`a/${i}`, { padding: 1 << 20 })));
    await store.compact(2);
    let turns = 0;
    let loading = true;
    const count = () => {
      turns++;
      if (loading) setImmediate(count);
    };
    setImmediate(count);
    await cache.ready();
    loading = false;
    expect(store.calls.lists).toBe(1);
    expect(turns).toBeGreaterThanOrEqual(8);
  });

  it('retries with exponential backoff while the store cannot be read', async () => {
    const { store, clock, cache } = setup();
    store.listFailures.push('unavailable', 'unavailable', 'compacted');
    let isReady = false;
    void cache.ready().then(() => {
      isReady = true;
    });
    for (const [delay, lists] of [
      [50, 1],
      [100, 2],
      [200, 3],
    ] as const) {
      await settle();
      expect(store.calls.lists).toBe(lists);
      clock.advance(delay - 1);
      await settle();
      expect([store.calls.lists, isReady]).toEqual([lists, false]);
      clock.advance(1);
    }
    await settle();
    expect(isReady).toBe(true);
  });

  it('retries at least twice a second for as long as the store cannot be reached, and less often when it is damaged', async () => {
    const attempts = async (code: 'unavailable' | 'damaged') => {
      const { store, clock, cache } = setup();
      store.listFailures.push(...Array.from({ length: 100 }, () => code));
      void cache.ready();
      await settle();
      for (let i = 0; i < 20; i++) {
        clock.advance(500);
        await settle();
      }
      return store.calls.lists;
    };
    expect(await attempts('unavailable')).toBeGreaterThanOrEqual(20);
    expect(await attempts('damaged')).toBeLessThan(10);
  });

  it('fails at once with 500 while stored data is damaged, tells it once, and goes on when it can be read', async () => {
    const told: StatusError[] = [];
    const { store, clock, cache } = setup({ onDamage: (error) => told.push(error) });
    store.listFailures.push('damaged', 'damaged');
    const failure = {
      code: 500,
      message: 'Internal error occurred: the stored data of things is damaged',
      cause: { code: 'damaged' },
    };
    await expect(cache.loaded()).rejects.toMatchObject(failure);
    await expect(cache.ready()).rejects.toMatchObject(failure);
    clock.advance(50);
    await settle();
    await expect(cache.loaded()).rejects.toBe(cache.damage);
    expect([store.calls.lists, told]).toEqual([2, [cache.damage]]);
    clock.advance(100);
    await settle();
    await cache.loaded();
    expect([store.calls.lists, cache.damage]).toEqual([3, undefined]);
    // Changes that cannot be read are made good by a list of the state.
    store.listFailures.push('damaged');
    const waiting = cache.reach(store.latest + 1, 3_000);
    store.fail('damaged');
    expect(await waiting).toBe(false);
    expect(cache.damage).toMatchObject(failure);
    expect(told).toHaveLength(2);
    store.write([put('a/x', {})]);
    clock.advance(10_000);
    await settle();
    clock.advance(10_000);
    await settle();
    expect([cache.damage, cache.revision]).toEqual([undefined, store.latest]);
  });

  it('lets a request wait for 34 seconds, then fails with 504', async () => {
    const { store, clock, cache } = setup();
    const list = store.list.bind(store);
    let release = () => {};
    store.list = (range) => new Promise<void>((resolve) => (release = resolve)).then(() => list(range));
    const first = cache.loaded();
    await settle();
    clock.advance(33_999);
    const second = cache.loaded();
    clock.advance(1);
    await expect(first).rejects.toMatchObject({
      code: 504,
      reason: 'Timeout',
      message: 'Timeout: request did not complete within requested timeout - context deadline exceeded',
    });
    store.list = list;
    release();
    await second;
    expect(cache.revision).toBe(1);
    await cache.loaded();
    const closed = setup();
    closed.store.list = () => new Promise(() => {});
    const waiting = closed.cache.loaded();
    closed.cache.close();
    await expect(waiting).rejects.toMatchObject({ code: 503 });
    await expect(closed.cache.loaded()).rejects.toMatchObject({ code: 503 });
  });

  it('fails with 503 once the cache or the store is closed', async () => {
    const first = setup();
    const waiting = first.cache.ready();
    first.cache.close();
    await expect(waiting).rejects.toMatchObject({ code: 503 });
    const second = setup();
    second.store.listFailures.push('closed');
    await expect(second.cache.ready()).rejects.toBeInstanceOf(StatusError);
    const third = setup();
    third.cache.close();
    await expect(third.cache.ready()).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
    expect(third.store.calls.lists).toBe(0);
  });

  it('lists each object once, at the latest revision, and reads no history', async () => {
    const { store, cache } = setup();
    for (let i = 0; i < 40; i++) store.write([put(`a/${i % 3}`, { padding: i })]);
    const lists: ListRange[] = [];
    const entries: string[] = [];
    const batches: number[] = [];
    const { list, watch } = { list: store.list.bind(store), watch: store.watch.bind(store) };
    store.list = async (range) => {
      lists.push(range);
      const result = await list(range);
      entries.push(...result.entries.map(({ key, revision }) => `${key.slice(prefix.length)} ${revision}`));
      return result;
    };
    store.watch = (from, after, sink) =>
      watch(from, after, {
        batch: (revision, changes) => {
          batches.push(revision);
          sink.batch(revision, changes);
        },
        error: (error) => sink.error(error),
      });
    await cache.ready();
    await settle();
    expect(lists).toEqual([{ prefix, limit: 500 }]);
    expect(entries).toEqual(['a/0 41', 'a/1 39', 'a/2 40']);
    expect(batches).toEqual([]);
    expect([cache.revision, cache.oldest]).toEqual([41, 41]);
  });

  it('ends with 410 a subscription from before the compacted revision, not one from a later revision', async () => {
    const { store, cache } = setup();
    const [early, late] = [2, 10].map((after) => new Reader(cache.subscribe({ after, bufferBytes })));
    for (let i = 0; i < 5; i++) store.write([put(`a/${i}`, {})]);
    await store.compact(4);
    await cache.ready();
    await settle();
    expect(early?.end).toBe('too old resource version: 2 (4)');
    for (let i = 5; i < 10; i++) store.write([put(`a/${i}`, {})]);
    await settle();
    expect([late?.end, late?.received]).toEqual([undefined, ['ADDED a/9 11']]);
  });
});

describe('snapshots', () => {
  it('are immutable, of one revision, and shared until the next change', async () => {
    const { store, cache } = await ready();
    store.write([put('a/x', {}), put('a/y', {}), put('b/z', {})]);
    const before = cache.snapshot();
    expect(cache.snapshot()).toBe(before);
    const range = before.range(`${prefix}a/`);
    store.write([put('a/x'), put('a/y', { node: 'n' })]);
    expect(before.revision).toBe(2);
    expect([...range].map(({ revision }) => revision)).toEqual([2, 2]);
    const after = cache.snapshot();
    expect([after.revision, keysOf(after.range(prefix)), after.count(prefix)]).toEqual([3, ['a/y', 'b/z'], 2]);
    expect(keysOf(after.range(prefix, `${prefix}a/y`))).toEqual(['b/z']);
    expect(after.count(prefix, `${prefix}b/z`)).toBe(0);
  });
});

describe('reach', () => {
  it('is immediate for a revision in the cache, else requests progress from the store', async () => {
    const { store, cache } = await ready();
    store.write([put('a/x', {})]);
    await expect(cache.reach(2, 0)).resolves.toBe(true);
    expect(store.calls.progress).toBe(0);
    store.write([{ key: '/other/y', value: Buffer.from('{}') }]);
    expect(cache.revision).toBe(2);
    await expect(cache.reach(3, 1_000)).resolves.toBe(true);
    expect([cache.revision, cache.snapshot().revision, store.calls.progress]).toEqual([3, 3, 1]);
  });

  it('resolves to false after its timeout', async () => {
    const { clock, cache } = await ready();
    let result: boolean | undefined;
    void cache.reach(99, 500).then((reached) => {
      result = reached;
    });
    clock.advance(499);
    await settle();
    expect(result).toBeUndefined();
    clock.advance(1);
    await settle();
    expect(result).toBe(false);
  });

  it('requests progress once for many readers, and a second time for those that arrived before the notification', async () => {
    const { store, cache } = await ready();
    store.holdProgress = true;
    store.write([{ key: '/other/y', value: Buffer.from('{}') }]);
    const first = [cache.reach(2, 1_000)];
    store.write([{ key: '/other/y', value: Buffer.from('{}') }]);
    const second = [cache.reach(3, 1_000), cache.reach(3, 1_000)];
    expect(store.calls.progress).toBe(1);
    store.releaseProgress();
    await expect(Promise.all(first)).resolves.toEqual([true]);
    expect([cache.revision, store.calls.progress]).toEqual([2, 2]);
    store.releaseProgress();
    await expect(Promise.all(second)).resolves.toEqual([true, true]);
    // A revision that the store has not reached causes no further requests.
    void cache.reach(99, 1_000);
    store.releaseProgress();
    store.releaseProgress();
    await settle();
    expect(store.calls.progress).toBe(3);
  });

  it('is not set back by a progress notification that is older than the last commit', async () => {
    const { store, cache } = await ready();
    store.holdProgress = true;
    store.write([{ key: '/other/y', value: Buffer.from('{}') }]);
    const reached = cache.reach(2, 1_000);
    store.write([put('a/x', {})]);
    store.releaseProgress();
    await expect(reached).resolves.toBe(true);
    expect([cache.revision, cache.snapshot().revision]).toEqual([3, 3]);
  });

  it('requests progress again when the watch of the store resumes, and resolves to false after close', async () => {
    const { store, clock, cache } = await ready();
    store.fail('unavailable');
    store.write([{ key: '/other/y', value: Buffer.from('{}') }]);
    const waiting = cache.reach(2, 10_000);
    expect(store.calls.progress).toBe(0);
    clock.advance(50);
    await expect(waiting).resolves.toBe(true);
    const late = cache.reach(77, 10_000);
    cache.close();
    await expect(late).resolves.toBe(false);
    await expect(cache.reach(78, 10_000)).resolves.toBe(false);
    expect(clock.pending).toBe(0);
  });
});

describe('forget', () => {
  it('ends watches from earlier revisions with 410, and spares those that are open or begin later', async () => {
    const { store, cache, follow } = await ready();
    const after = cache.revision;
    store.write([put('a/x', {})]);
    const live = follow({ after: cache.revision });
    const behind = cache.subscribe({ after, bufferBytes });
    store.write([put('a/y', {})]);
    await cache.forget(store.latest, 1_000);
    await store.compact(store.latest);
    const late = follow({ after });
    const now = follow();
    store.write([put('a/z', {})]);
    await settle();
    expect(late.end).toMatch(/^too old resource version/);
    expect([live.received, now.received]).toEqual([['ADDED a/y 3', 'ADDED a/z 4'], ['ADDED a/z 4']]);
    await expect(behind.next()).rejects.toMatchObject({ code: 410 });
  });

  it('waits until the cache has reached the revision: a watch may begin at its state', async () => {
    const { store, cache, follow } = await ready();
    store.late = true;
    store.write([put('a/x', {})]);
    const forgotten = cache.forget(store.latest, 1_000);
    await settle();
    expect(cache.oldest).toBeLessThan(store.latest);
    store.advance();
    await forgotten;
    expect(cache.oldest).toBe(store.latest);
    const now = follow();
    await settle();
    expect([now.received, now.end]).toEqual([[], undefined]);
  });
});

describe('the watch of the store', () => {
  it('resumes without a gap after a failure', async () => {
    const { store, clock, cache, follow } = await ready();
    const reader = follow();
    store.write([put('a/x', {})]);
    store.fail('unavailable');
    store.write([put('a/x', { node: 'n' })]);
    store.watchFailures.push('unavailable');
    clock.advance(50);
    await settle();
    store.write([put('a/x')]);
    expect(cache.revision).toBe(2);
    clock.advance(99);
    await settle();
    expect(cache.revision).toBe(2);
    clock.advance(1);
    await settle();
    expect(cache.revision).toBe(4);
    await settle();
    expect(reader.received).toEqual(['ADDED a/x 2', 'MODIFIED a/x 3', 'DELETED a/x 4']);
    expect([reader.end, store.calls.lists]).toEqual([undefined, 1]);
  });

  it('lists again, and ends subscriptions with 410, when its revision is compacted', async () => {
    const { store, clock, cache, follow } = await ready();
    store.write([put('a/x', {}), put('a/y', {})]);
    const kept = cache.snapshot().get(`${prefix}a/x`);
    const reader = follow();
    const future = follow({ after: 6 });
    store.fail('unavailable');
    store.write([put('a/y')]);
    store.write([put('a/z', {})]);
    await store.compact(4);
    clock.advance(50);
    await settle();
    clock.advance(100);
    await settle();
    expect([cache.revision, cache.oldest, keysOf(cache.snapshot().range(prefix))]).toEqual([4, 4, ['a/x', 'a/z']]);
    expect(cache.snapshot().get(`${prefix}a/x`)).toBe(kept);
    expect([reader.received, reader.end]).toEqual([[], 'too old resource version: 2 (4)']);
    const again = new Reader(cache.subscribe({ after: 2, bufferBytes }));
    await settle();
    expect(again.end).toBe('too old resource version: 2 (4)');
    for (let i = 5; i < 8; i++) store.write([put('a/z', {})]);
    await settle();
    expect([future.received, future.end]).toEqual([['MODIFIED a/z 7'], undefined]);
  });

  it('lists again and ends all subscriptions when the store has gone back', async () => {
    const { store, clock, cache, follow } = await ready();
    store.write([put('a/x', { node: 'old' })]);
    store.write([put('a/y', {})]);
    const [present, future] = [follow(), follow({ after: 9 })];
    const { key, value = Buffer.alloc(0) } = put('a/x', { node: 'new' });
    store.list = async () => ({
      entries: [{ key, value, revision: 2 }],
      revision: 2,
      more: false,
      remaining: undefined,
    });
    store.watch = () => ({ progress() {}, close() {} });
    store.fail('future');
    clock.advance(50);
    await settle();
    expect([cache.revision, cache.oldest]).toEqual([2, 2]);
    // The same key and revision, but of another history.
    expect([...cache.snapshot().range(prefix)].map(({ fields }) => fields['spec.nodeName'])).toEqual(['new']);
    for (const { end } of [present, future]) expect(end).toContain('too old resource version');
  });

  it('ends subscriptions when the store is closed', async () => {
    const { store, follow } = await ready();
    const reader = follow();
    await store.close();
    await settle();
    expect(reader.end).toBe('done');
  });
});

describe('over the memory store', () => {
  it('has an object before its commit is answered', async () => {
    const clock = new ManualClock();
    const store = openMemoryStore({ clock });
    const { cache } = setup({ store, clock });
    await store.commit([], [put('a/x', {})]);
    await cache.ready();
    const reader = new Reader(cache.subscribe({ after: cache.revision, bufferBytes }));
    for (const write of [put('a/y', {}), put('a/x'), put('a/y', { node: 'n' })]) {
      const { revision } = await store.commit([], [write]);
      expect([cache.revision, cache.snapshot().get(write.key)?.revision]).toEqual([
        revision,
        write.value === undefined ? undefined : revision,
      ]);
    }
    await store.commit([], [{ key: '/other/x', value: Buffer.from('{}') }]);
    await expect(cache.reach(await store.revision(), 1_000)).resolves.toBe(true);
    await settle();
    expect(reader.received).toEqual(['ADDED a/y 3', 'DELETED a/x 4', 'MODIFIED a/y 5']);
    await store.close();
    await settle();
    expect(reader.end).toBe('done');
  });
});

describe('replay', () => {
  it('returns the events after a revision, then live ones', async () => {
    const { store, follow } = await ready();
    store.write([put('a/x', {})]);
    store.write([put('a/x', { node: 'n' }), put('a/y', {})]);
    store.write([put('a/x')]);
    const reader = follow({ after: 2 });
    await settle();
    store.write([put('a/z', {})]);
    await settle();
    expect(reader.received).toEqual(['MODIFIED a/x 3', 'ADDED a/y 3', 'DELETED a/x 4', 'ADDED a/z 5']);
  });

  it('reads the window in slices, yields between them, and misses no change made meanwhile', async () => {
    const { store, follow } = await ready({ windowBytes: 1 << 30 });
    for (let i = 0; i < 30; i++) store.write(Array.from({ length: 100 }, (_, j) => put(`a/${i}-${j}`, {})));
    const turns = new EveryStep();
    const all = follow({ after: 1, turns });
    const inOneTurn = follow({ after: 1, turns: { over: false, next: async () => {} } });
    const none = follow({ after: 1, namespace: 'b' });
    for (let i = 0; i < 8; i++) {
      await settle(1);
      store.write([put(`b/${i}`, {})]);
    }
    await settle(10);
    expect([all.events.length, inOneTurn.events.length]).toEqual([3_008, 3_008]);
    expect(turns.count).toBeGreaterThanOrEqual(3);
    expect(Math.max(...inOneTurn.batches)).toBe(1_000);
    expect(none.received).toEqual(Array.from({ length: 8 }, (_, i) => `ADDED b/${i} ${32 + i}`));
  });

  it('returns about 256 KiB at a time at most, and only as fast as it is read', async () => {
    const { store, cache } = await ready({ windowBytes: 1 << 30 });
    for (let i = 0; i < 10; i++) store.write([put('a/x', { padding: 100_000 })]);
    const subscription = cache.subscribe({ after: 1, bufferBytes: 1 });
    const sizes: number[] = [(await subscription.next()).value?.length ?? 0];
    // Revisions 2 to 4 have been returned: it can be resumed from 4.
    expect(subscription.revision).toBe(4);
    while (sizes.reduce((a, b) => a + b, 0) < 10) sizes.push((await subscription.next()).value?.length ?? 0);
    expect(sizes).toEqual([3, 3, 3, 1]);
  });

  it('does not split a commit, also where that makes a slice longer', async () => {
    const { store, follow } = await ready({ windowBytes: 1 << 30 });
    for (let i = 0; i < 2; i++) store.write(Array.from({ length: 1_500 }, (_, j) => put(`a/${i}-${j}`, {})));
    const reader = follow({ after: 1 });
    await settle(5);
    expect(reader.batches).toEqual([1_500, 1_500]);
  });
});

describe('a costly subscriber', () => {
  it('has every event, and is evaluated behind the write that caused it', async () => {
    const { store, cache } = await ready();
    let evaluated = 0;
    const matches = ({ name }: { name: string }) => {
      evaluated++;
      return name.startsWith('m');
    };
    const turns = new EveryStep();
    const subscription = cache.subscribe({ after: cache.revision, bufferBytes, matches, costly: true, turns });
    const reader = new Reader(subscription);
    await settle(1);
    store.write([put('a/m1', {})]);
    store.write([put('a/n', {})]);
    expect(evaluated).toBe(0);
    await settle(10);
    store.write([put('a/m2', {}), put('a/m1')]);
    await settle(10);
    expect(reader.received).toEqual(['ADDED a/m1 2', 'ADDED a/m2 4', 'DELETED a/m1 4']);
    expect(turns.count).toBeGreaterThanOrEqual(3);
    expect(subscription.revision).toBe(cache.revision);
  });

  it('ends with 410 when it begins before the window, or falls behind it', async () => {
    const { store, cache, follow } = await ready({ windowBytes: 1 });
    const slow = cache.subscribe({ after: cache.revision, bufferBytes, matches: () => true, costly: true });
    for (let i = 0; i < 3; i++) store.write([put('a/x', { padding: 1_000 })]);
    await settle();
    expect(cache.oldest).toBeGreaterThan(1);
    await expect(slow.next()).rejects.toMatchObject({ code: 410 });
    const old = follow({ after: 1, matches: () => true, costly: true });
    await settle();
    expect(old.end).toContain('too old resource version: 1');
  });

  it('follows the cache also where no change matches, and where there is none', async () => {
    const { store, cache } = await ready();
    let evaluated = 0;
    const matches = () => {
      evaluated++;
      return false;
    };
    const idle = { over: false, next: async () => {} };
    const subscription = cache.subscribe({ after: cache.revision, bufferBytes, matches, costly: true, turns: idle });
    const reader = new Reader(subscription);
    await settle(1);
    for (let i = 0; i < 5; i++) store.write([put(`a/${i}`, {})]);
    await settle();
    void cache.reach(cache.revision + 1, 10);
    await settle();
    expect([evaluated, reader.received, subscription.revision]).toEqual([5, [], cache.revision]);
    subscription.close();
  });

  it('takes nothing more once it is closed', async () => {
    const { store, cache } = await ready();
    const subscription = cache.subscribe({ after: cache.revision, bufferBytes, matches: () => true, costly: true });
    const reader = new Reader(subscription);
    await settle(1);
    subscription.close();
    store.write([put('a/x', {})]);
    await settle();
    expect([reader.received, reader.end]).toEqual([[], 'done']);
  });
});

describe('the delivery of events', () => {
  it('comes after the turn of the change, and with it what has changed meanwhile', async () => {
    const { store, follow } = await ready();
    const reader = follow();
    store.write([put('a/x', {})]);
    for (let i = 0; i < 100; i++) await Promise.resolve();
    expect(reader.received).toEqual([]);
    store.write([put('a/y', {})]);
    await settle();
    expect([reader.received, reader.batches]).toEqual([['ADDED a/x 2', 'ADDED a/y 3'], [2]]);
  });

  it('gives each of many subscribers all events in their order', async () => {
    const { store, follow } = await ready();
    const all = Array.from({ length: 1_100 }, () => follow({}));
    await settle();
    store.write([put('a/x', {})]);
    await settle(1);
    store.write([put('a/y', {})]);
    await settle(20);
    for (const { received } of all) expect(received).toEqual(['ADDED a/x 2', 'ADDED a/y 3']);
  });

  it('of one user does not wait for that of another, who has many slow subscribers', async () => {
    const { store, cache } = await ready();
    const served: string[] = [];
    const read = async (owner: string) => {
      const turns = scheduler.turns(owner);
      for await (const _ of cache.subscribe({ after: cache.revision, bufferBytes, turns })) {
        served.push(owner);
        // Eight of these take longer than any slice.
        const began = performance.now();
        while (performance.now() < began + 2);
      }
    };
    for (let i = 0; i < 100; i++) void read('mallory');
    void read('ann');
    store.write([put('a/x', {})]);
    await settle(20);
    expect(served).toHaveLength(101);
    expect(served.indexOf('ann')).toBeLessThan(20);
    cache.close();
  });

  it('buffers no more than for a slow client until its turn comes, and then reads the window', async () => {
    const { store, cache } = await ready();
    const reader = new Reader(cache.subscribe({ after: cache.revision, bufferBytes: 3_000 }));
    const expected: string[] = [];
    for (let i = 2; i < 22; i++) {
      const type = i === 2 ? 'ADDED' : 'MODIFIED';
      store.write([put('a/x', { padding: 400 }), put('a/y', { padding: 400 })]);
      expected.push(`${type} a/x ${i}`, `${type} a/y ${i}`);
    }
    await settle(10);
    expect(reader.received).toEqual(expected);
    expect(cache.counts.replayed).toBeGreaterThan(30);
    store.write([put('a/z', {})]);
    await settle();
    expect(reader.received.at(-1)).toBe('ADDED a/z 22');
    expect([cache.counts.cutOff, reader.end]).toEqual([0, undefined]);
  });
});

describe('selection', () => {
  const labelled = (key: string, value: string) => (object: { labels: { readonly [key: string]: string } }) =>
    object.labels[key] === value;

  it('sends ADDED when an object begins to match, MODIFIED while it matches, DELETED with its last state when it no longer does', async () => {
    const { store, follow } = await ready();
    const live = follow({ matches: labelled('in', 'yes') });
    store.write([put('a/t', { labels: { in: 'no' } })]);
    store.write([put('a/t', { labels: { in: 'yes' } })]);
    store.write([put('a/t', { labels: { in: 'yes' }, node: 'x' })]);
    store.write([put('a/t', { labels: { in: 'no' } })]);
    store.write([put('a/t', { labels: { in: 'yes' } })]);
    store.write([put('a/t')]);
    const replayed = follow({ after: 1, matches: labelled('in', 'yes') });
    await settle();
    // The reference server sends the same five, in this order.
    const expected = ['ADDED a/t 3', 'MODIFIED a/t 4', 'DELETED a/t 5', 'ADDED a/t 6', 'DELETED a/t 7'];
    expect(live.received).toEqual(expected);
    expect(replayed.received).toEqual(expected);
    expect(live.events[2]?.object?.bytes).toBe('{"rv":"5","labels":{"in":"yes"},"node":"x","padding":""}');
    expect(live.events[4]?.object).toMatchObject({ revision: 7, labels: { in: 'yes' } });
  });

  const cases: [string, Partial<SubscribeOptions>, string[]][] = [
    ['everything', {}, ['a/x', 'a/y', 'b/x', 'b/y']],
    ['a namespace', { namespace: 'a' }, ['a/x', 'a/y']],
    ['a name in any namespace', { name: 'x' }, ['a/x', 'b/x']],
    ['one object', { namespace: 'b', name: 'x' }, ['b/x']],
    ['the value of an indexed field', { field: { path: 'spec.nodeName', value: 'n1' } }, ['a/x', 'b/x']],
    ['a field in a namespace', { namespace: 'b', field: { path: 'spec.nodeName', value: 'n1' } }, ['b/x']],
    ['a field and a name', { name: 'y', field: { path: 'spec.nodeName', value: 'n1' } }, []],
    ['an unset field', { field: { path: 'spec.nodeName', value: '' } }, ['a/y', 'b/y']],
    ['a field that is not indexed', { field: { path: '__proto__', value: '' } }, ['a/x', 'a/y', 'b/x', 'b/y']],
    ['empty names', { namespace: '', name: '' }, ['a/x', 'a/y', 'b/x', 'b/y']],
    ['names of members of Object.prototype', { namespace: '__proto__', name: 'constructor' }, []],
  ];
  it.each(cases)('matches %s', async (_, options, expected) => {
    const { store, follow } = await ready();
    const live = follow(options);
    for (const namespace of ['a', 'b']) {
      store.write([put(`${namespace}/x`, { node: 'n1' }), put(`${namespace}/y`, {})]);
    }
    const replayed = follow({ after: 1, ...options });
    await settle();
    for (const reader of [live, replayed]) expect(keysOf(reader.events.map(({ object }) => object!))).toEqual(expected);
  });

  it('sends DELETED to the old and ADDED to the new value of an indexed field', async () => {
    const { store, follow } = await ready();
    const [one, two] = ['n1', 'n2'].map((value) => follow({ field: { path: 'spec.nodeName', value } }));
    store.write([put('a/x', { node: 'n1' })]);
    store.write([put('a/x', { node: 'n2' })]);
    store.write([put('a/x', { node: 'n2', padding: 1 })]);
    store.write([put('a/x')]);
    await settle();
    expect(one?.received).toEqual(['ADDED a/x 2', 'DELETED a/x 3']);
    expect(two?.received).toEqual(['ADDED a/x 3', 'MODIFIED a/x 4', 'DELETED a/x 5']);
  });

  it('matches a change only against the subscribers that its index finds', async () => {
    const { store, follow } = await ready();
    let calls = 0;
    const matches = () => {
      calls++;
      return true;
    };
    for (let i = 0; i < 100; i++) {
      follow({ namespace: `ns${i}`, matches });
      follow({ namespace: `ns${i}`, name: 'x', matches });
      follow({ field: { path: 'spec.nodeName', value: `n${i}` }, matches });
    }
    store.write([put('ns7/x', { node: 'n3' })]);
    expect(calls).toBe(3);
  });

  it('encodes an event once for all watches', async () => {
    const { store, follow } = await ready();
    const [one, two] = [follow(), follow({ namespace: 'a' })];
    store.write([put('a/x', {})]);
    await settle();
    expect(one?.events[0]).toBe(two?.events[0]);
    expect(one?.events[0]?.frame).toBe('{"type":"ADDED","object":{"rv":"2","padding":""}}\n');
  });
});

describe('a subscription', () => {
  const subscribe = (
    { cache }: { cache: { revision: number; subscribe(options: SubscribeOptions): Subscription } },
    more: Partial<SubscribeOptions> = {},
  ) => cache.subscribe({ after: cache.revision, bufferBytes, ...more });

  it('returns all buffered events at once, and does not split a commit', async () => {
    const all = await ready();
    const waiting = all.follow();
    const subscription = subscribe(all);
    all.store.write([put('a/x', {}), put('a/y', {})]);
    all.store.write([put('a/z', {})]);
    const { value } = await subscription.next();
    expect(value?.map(format)).toEqual(['ADDED a/x 2', 'ADDED a/y 2', 'ADDED a/z 3']);
    await settle();
    expect(waiting.batches).toEqual([3]);
  });

  it('ends when its buffer is full, without effect on others', async () => {
    const all = await ready();
    const slow = subscribe(all, { bufferBytes: 3_000 });
    const patient = subscribe(all, { bufferBytes: 30_000 });
    const reader = all.follow({ bufferBytes: 3_000 });
    for (let i = 0; i < 4; i++) {
      all.store.write([put(`a/${i}`, { padding: 900 })]);
      await settle(1);
    }
    await expect(slow.next()).resolves.toEqual({ value: undefined, done: true });
    expect(slow.revision).toBe(1);
    expect((await patient.next()).value).toHaveLength(4);
    expect([reader.events.length, reader.end]).toEqual([4, undefined]);
    // It can be resumed from its revision.
    const again = new Reader(all.cache.subscribe({ after: slow.revision, bufferBytes }));
    await settle();
    expect(again.events).toHaveLength(4);
  });

  it('does not end for the first event in its buffer, nor for one commit while next is pending', async () => {
    const all = await ready();
    const subscription = subscribe(all, { bufferBytes: 100, bookmarkMs: 1_000 });
    all.clock.advance(1_000);
    await settle();
    all.store.write([put('a/x', { padding: 10_000 })]);
    expect((await subscription.next()).value?.map(format)).toEqual(['BOOKMARK 1', 'ADDED a/x 2']);
    const pending = subscription.next();
    all.store.write([put('a/y', { padding: 10_000 }), put('a/z', { padding: 10_000 })]);
    expect((await pending).value?.map(format)).toEqual(['ADDED a/y 3', 'ADDED a/z 3']);
  });

  it('has the revision up to which every event was returned', async () => {
    const all = await ready();
    const { store, cache } = all;
    const subscription = subscribe(all, { namespace: 'a' });
    store.write([put('b/x', {})]);
    expect(subscription.revision).toBe(2);
    store.write([put('a/x', {})]);
    store.write([put('b/x', {})]);
    expect(subscription.revision).toBe(2);
    await subscription.next();
    expect(subscription.revision).toBe(4);
    const replaying = subscribe(all, { after: 2, namespace: 'a' });
    expect(replaying.revision).toBe(2);
    await replaying.next();
    expect(replaying.revision).toBe(4);
    expect(subscribe(all, { after: 50 }).revision).toBe(50);
    store.write([put('a/y', {})]);
    cache.close();
    expect(subscription.revision).toBe(4);
    expect((await subscription.next()).value?.map(format)).toEqual(['ADDED a/y 5']);
    expect(subscription.revision).toBe(5);
  });

  it('gets bookmarks at its interval, after the buffered events', async () => {
    const all = await ready();
    const { store, clock } = all;
    const subscription = subscribe(all, { namespace: 'a', bookmarkMs: 1_000 });
    const pending = subscription.next();
    store.write([put('b/x', {})]);
    clock.advance(1_000);
    const [bookmark] = (await pending).value ?? [];
    expect(bookmark).toEqual({ type: 'BOOKMARK', revision: 2, object: undefined, frame: '' });
    store.write([put('a/x', {})]);
    clock.advance(1_000);
    await settle();
    store.write([put('b/x', {})]);
    clock.advance(1_000);
    await settle();
    expect(subscription.revision).toBe(2);
    store.write([put('a/y', {})]);
    expect((await subscription.next()).value?.map(format)).toEqual(['ADDED a/x 3', 'BOOKMARK 4', 'ADDED a/y 5']);
    clock.advance(1_000);
    await settle();
    expect([subscription.revision, (await subscription.next()).value?.map(format)]).toEqual([5, ['BOOKMARK 5']]);
    subscription.close();
    // The timer of the window is left.
    expect(clock.pending).toBe(1);
  });

  it('gets no bookmark before its own start', async () => {
    const { store, clock, follow } = await ready();
    const reader = follow({ after: 3, bookmarkMs: 1_000 });
    clock.advance(1_000);
    await settle();
    store.write([{ key: '/other/x', value: Buffer.from('{}') }]);
    clock.advance(1_000);
    await settle();
    expect(reader.received).toEqual([]);
    store.write([{ key: '/other/x', value: Buffer.from('{}') }]);
    clock.advance(1_000);
    await settle();
    expect(reader.received).toEqual(['BOOKMARK 3']);
  });

  it('gets bookmarks with the revision of the store, whose progress is requested once for all that are due in a second', async () => {
    const { store, clock, follow } = await ready();
    const readers = Array.from({ length: 100 }, (_, i) => {
      if (i % 10 === 0) clock.advance(10);
      return follow({ bookmarkMs: 60_000, namespace: `n${i}` });
    });
    for (let i = 0; i < 5; i++) store.write([{ key: '/other/x', value: Buffer.from('{}') }]);
    clock.advance(61_000);
    expect(readers.flatMap(({ received }) => received)).toEqual([]);
    await settle();
    for (const { received } of readers) expect(received).toEqual(['BOOKMARK 6']);
    expect(store.calls.progress).toBe(1);
  });

  it('gets bookmarks with the revision of the cache while the store is not watched', async () => {
    const { store, clock, follow } = await ready();
    const reader = follow({ bookmarkMs: 1_000 });
    store.write([put('a/x', {})]);
    store.fail('unavailable');
    store.watchFailures.push(...Array.from({ length: 10 }, () => 'unavailable' as const));
    for (const ms of [50, 100, 200, 400, 250]) {
      clock.advance(ms);
      await settle();
    }
    expect(reader.received).toEqual(['ADDED a/x 2', 'BOOKMARK 2']);
  });

  it('ends when it is closed, and drops its buffered events', async () => {
    const all = await ready();
    const subscription = subscribe(all);
    const waiting = subscribe(all);
    const pending = waiting.next();
    waiting.close();
    await expect(pending).resolves.toEqual({ value: undefined, done: true });
    all.store.write([put('a/x', {})]);
    subscription.close();
    await expect(subscription.next()).resolves.toEqual({ value: undefined, done: true });
    for await (const _ of subscribe(all, { after: 1 })) break;
    all.store.write([put('a/x', {})]);
  });

  it('ends without an error when the cache is closed, after the buffered events', async () => {
    const all = await ready();
    const reader = all.follow({ bookmarkMs: 1_000 });
    const subscription = subscribe(all);
    all.store.write([put('a/x', {})]);
    all.cache.close();
    await settle();
    expect([reader.received, reader.end]).toEqual([['ADDED a/x 2'], 'done']);
    expect((await subscription.next()).value).toHaveLength(1);
    expect((await subscription.next()).done).toBe(true);
    expect((await subscribe(all).next()).done).toBe(true);
    expect([all.clock.pending, all.store.followers]).toEqual([0, 0]);
  });

  it('rejects a second call of next while one is pending', async () => {
    const all = await ready();
    const subscription = subscribe(all);
    const first = subscription.next();
    await expect(subscription.next()).rejects.toBeInstanceOf(StatusError);
    all.store.write([put('a/x', {})]);
    expect((await first).value).toHaveLength(1);
  });
});

it('counts what it has received and passed on', async () => {
  const { store, cache, follow } = await ready();
  expect(cache.counts).toEqual({
    loads: 1,
    received: 0,
    replayed: 0,
    cutOff: 0,
    subscribers: 0,
    windowChanges: 0,
    windowBytes: 0,
    labelIndexes: 0,
    labelIndexBytes: 0,
  });
  const before = cache.revision;
  store.write([put('a/x', {}), put('a/y', {})]);
  store.write([{ key: `${prefix}a/x` }]);
  expect(cache.counts).toMatchObject({ received: 3, windowChanges: 3, replayed: 0 });
  expect(cache.counts.windowBytes).toBeGreaterThan(0);
  follow({ after: before });
  await settle();
  expect(cache.counts).toMatchObject({ subscribers: 1, replayed: 3, cutOff: 0 });
  // It takes nothing, and has no room for a second event.
  cache.subscribe({ after: cache.revision, bufferBytes: 1 });
  expect(cache.counts.subscribers).toBe(2);
  for (const padding of [10, 20]) store.write([put('a/z', { padding })]);
  expect(cache.counts).toMatchObject({ received: 5, cutOff: 1, subscribers: 1 });
});
