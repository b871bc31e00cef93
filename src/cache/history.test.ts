import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../store/index.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { format, prefix, put, Reader, settle, setup } from './testing/objects.ts';
import type { SubscribeOptions } from './types.ts';

const bufferBytes = 1 << 20;

/** A cache that was loaded after these commits. */
async function late(
  commits: readonly (readonly ReturnType<typeof put>[])[],
  options: Parameters<typeof setup>[0] = {},
) {
  const all = setup(options);
  for (const writes of commits) all.store.write(writes);
  await all.cache.ready();
  await settle();
  const subscribe = (more: Partial<SubscribeOptions> = {}) => all.cache.subscribe({ after: 1, bufferBytes, ...more });
  const follow = (more: Partial<SubscribeOptions> = {}) => new Reader(subscribe(more));
  return { ...all, subscribe, follow };
}

const many = (count: number) => Array.from({ length: count }, (_, i) => [put(`a/${i % 50}`, {})]);

describe('a subscription that starts before the event window', () => {
  it('gets events from the history of the store, then from the window, then live', async () => {
    const { store, follow } = await late([[put('a/x', {})], [put('a/x', { node: 'n' }), put('b/y', {})], [put('a/x')]]);
    store.write([put('a/z', {})]);
    const reader = follow({ after: 2 });
    const whole = follow();
    await settle();
    store.write([put('b/y')]);
    await settle();
    const expected = ['MODIFIED a/x 3', 'ADDED b/y 3', 'DELETED a/x 4', 'ADDED a/z 5', 'DELETED b/y 6'];
    expect(reader.received).toEqual(expected);
    expect(whole.received).toEqual(['ADDED a/x 2', ...expected]);
    expect(reader.events[2]?.object).toMatchObject({ revision: 4, bytes: '{"rv":"4","node":"n","padding":""}' });
  });

  it('gets ADDED and DELETED for objects that enter and leave its selection, as from the window', async () => {
    const steps = ['no', 'yes', 'yes', 'no', 'yes'].map((value) => [put('a/t', { labels: { in: value } })]);
    const { follow } = await late([...steps, [put('a/t')]]);
    const matches: SubscribeOptions['matches'] = ({ labels }) => labels['in'] === 'yes';
    const reader = follow({ matches });
    await settle();
    expect(reader.received).toEqual(['ADDED a/t 3', 'MODIFIED a/t 4', 'DELETED a/t 5', 'ADDED a/t 6', 'DELETED a/t 7']);
    expect(reader.events[2]?.object?.bytes).toBe('{"rv":"5","labels":{"in":"yes"},"padding":""}');
  });

  it('is indexed by namespace, name and field', async () => {
    const { follow } = await late([
      [put('a/x', { node: 'n1' }), put('b/x', { node: 'n2' })],
      [put('a/x', { node: 'n2' })],
    ]);
    const readers = [
      follow({ namespace: 'b' }),
      follow({ name: 'x' }),
      follow({ namespace: 'a', name: 'x' }),
      follow({ field: { path: 'spec.nodeName', value: 'n1' } }),
    ];
    await settle();
    expect(readers.map(({ received }) => received)).toEqual([
      ['ADDED b/x 2'],
      ['ADDED a/x 2', 'ADDED b/x 2', 'MODIFIED a/x 3'],
      ['ADDED a/x 2', 'MODIFIED a/x 3'],
      ['ADDED a/x 2', 'DELETED a/x 3'],
    ]);
  });

  it('ends with 410 when the store has compacted its revision, and only then', async () => {
    const { store, subscribe, follow } = await late(many(5));
    await store.compact(4);
    const early = subscribe({ after: 3 });
    await expect(early.next()).rejects.toMatchObject({
      code: 410,
      reason: 'Expired',
      message: 'too old resource version: 3 (4)',
    });
    await expect(early.next()).resolves.toEqual({ value: undefined, done: true });
    const kept = follow({ after: 4 });
    const both = [follow({ after: 2 }), follow({ after: 4 })];
    await settle(10);
    expect([kept.received, kept.end]).toEqual([['ADDED a/3 5', 'ADDED a/4 6'], undefined]);
    expect(both.map(({ received, end }) => [received.length, end])).toEqual([
      [0, 'too old resource version: 2 (4)'],
      [2, undefined],
    ]);
  });

  it('reads the history again when its position was evicted from the window', async () => {
    const { store, subscribe } = await late([], { windowBytes: 128 * 5 });
    for (const writes of many(5)) store.write(writes);
    const subscription = subscribe({ after: 2 });
    for (let i = 5; i < 10; i++) store.write([put(`a/${i}`, {})]);
    const received: string[] = [];
    while (received.length < 9) received.push(...((await subscription.next()).value ?? []).map(format));
    expect(received).toEqual(Array.from({ length: 9 }, (_, i) => `ADDED a/${i + 1} ${i + 3}`));
  });

  it('misses no event while the watch of the store was interrupted', async () => {
    const { store, clock, cache, follow } = await late([[put('a/x', {})]]);
    const reader = follow({ after: 2 });
    await settle();
    store.fail('unavailable');
    store.write([put('a/x', { node: 'n' })]);
    store.watchFailures.push('compacted');
    clock.advance(50);
    await settle();
    clock.advance(100);
    await settle();
    expect([cache.revision, cache.oldest, reader.received]).toEqual([3, 3, ['MODIFIED a/x 3']]);
    store.write([put('a/x')]);
    await settle();
    expect(reader.received).toEqual(['MODIFIED a/x 3', 'DELETED a/x 4']);
  });

  it('gets no bookmark before it has caught up', async () => {
    const { clock, subscribe } = await late(many(2_000));
    const subscription = subscribe({ bookmarkMs: 1_000 });
    const events = [...((await subscription.next()).value ?? [])];
    clock.advance(1_000);
    await settle();
    while (events.length < 2_000) events.push(...((await subscription.next()).value ?? []));
    events.forEach(({ type, revision }, i) => {
      expect([type, revision]).toEqual([i < 50 ? 'ADDED' : 'MODIFIED', i + 2]);
    });
    const last = subscription.next();
    clock.advance(1_000);
    expect((await last).value?.map(format)).toEqual(['BOOKMARK 2001']);
  });
});

describe('a read of the history', () => {
  it('is not open while nothing is read, and buffers a bounded number of events for a slow client', async () => {
    const { store, subscribe } = await late(many(5_000));
    const { watches } = store.calls;
    const subscription = subscribe();
    await settle();
    expect(store.calls.watches).toBe(watches);
    const sizes: number[] = [];
    let count = 0;
    while (count < 5_000) {
      const { value = [] } = await subscription.next();
      sizes.push(value.length);
      count += value.length;
      await settle();
      // The store is read only as fast as the client reads.
      expect(subscription.revision).toBe(1 + count);
    }
    expect(Math.max(...sizes)).toBe(1_024);
    // No read of the history is open; the follower is the cache.
    expect(store.followers).toBe(1);
  });

  it('buffers a bounded number of bytes, and does not split a commit', async () => {
    const commits = Array.from({ length: 6 }, (_, i) =>
      Array.from({ length: 3 }, (_unused, j) => put(`a/${i}-${j}`, { padding: 400_000 })),
    );
    const { subscribe } = await late(commits);
    const subscription = subscribe();
    const sizes: number[] = [];
    while (sizes.reduce((a, b) => a + b, 0) < 18) {
      sizes.push((await subscription.next()).value?.length ?? 0);
      await settle();
    }
    expect(sizes.every((size) => size === 3)).toBe(true);
  });

  it('buffers only matching events', async () => {
    const { store, subscribe } = await late([...many(5_000), [put('b/x', {})]]);
    const { watches } = store.calls;
    const { value } = await subscribe({ namespace: 'b' }).next();
    expect(value?.map(format)).toEqual(['ADDED b/x 5002']);
    expect(store.calls.watches - watches).toBe(1);
  });

  it('serves all subscribers that start at once, with shared events', async () => {
    const { store, cache } = setup();
    for (const writes of many(100)) store.write(writes);
    await cache.ready();
    const { watches } = store.calls;
    const readers = Array.from(
      { length: 200 },
      (_, i) => new Reader(cache.subscribe({ after: 1 + (i % 50), bufferBytes })),
    );
    await settle(10);
    for (const [i, { received }] of readers.entries()) expect(received).toHaveLength(100 - (i % 50));
    expect(store.calls.watches - watches).toBe(1);
    expect(readers[0]?.events.at(-1)).toBe(readers[1]?.events.at(-1));
  });

  it('goes on for a subscriber with buffer space while another has none', async () => {
    const { store, subscribe, follow } = await late(many(4_000));
    const slow = subscribe();
    let count = (await slow.next()).value?.length ?? 0;
    const reader = follow({ after: 2_000 });
    await settle(10);
    expect(reader.received).toHaveLength(2_001);
    while (count < 4_000) count += (await slow.next()).value?.length ?? 0;
    expect([count, slow.revision, store.followers]).toEqual([4_000, 4_001, 1]);
  });

  it('ends when all its subscribers, or the cache, are closed', async () => {
    const { store, clock, cache, subscribe } = await late(many(10));
    const [first, second] = [subscribe(), subscribe()];
    const pending = [first.next(), second.next()];
    first.close();
    second.close();
    await Promise.all(pending);
    await settle();
    expect(store.followers).toBe(1);
    const third = subscribe().next();
    cache.close();
    await expect(third).resolves.toEqual({ value: undefined, done: true });
    await settle();
    expect([store.followers, clock.pending]).toEqual([0, 0]);
  });
});

describe('a failure of the store during a read of the history', () => {
  it('is retried with exponential backoff', async () => {
    const { store, clock, follow } = await late(many(3));
    const reader = follow();
    store.watchFailures.push('unavailable', 'unavailable');
    for (const delay of [50, 100]) {
      await settle();
      expect([reader.received, reader.end]).toEqual([[], undefined]);
      clock.advance(delay);
    }
    await settle();
    expect(reader.received).toHaveLength(3);
  });

  it('ends the subscription when the store has gone back or is closed', async () => {
    const { store, follow } = await late(many(3));
    store.watchFailures.push('future');
    const reader = follow();
    await settle();
    expect(reader.end).toContain('too old resource version: 1');
    const last = follow();
    await store.close();
    await settle();
    expect(last.end).toBe('done');
  });

  it('is retried when a replica of the store has not reached the window', async () => {
    const { store, clock, follow } = await late(many(3));
    const watch = store.watch.bind(store);
    store.watch = (_prefix, _after, sink) => {
      store.watch = watch;
      queueMicrotask(() => {
        const { key, value = Buffer.alloc(0) } = put('a/0', {});
        sink.batch(2, [{ key, entry: { key, value, revision: 2 }, previous: undefined }]);
        sink.batch(2, []);
      });
      return { progress() {}, close() {} };
    };
    const reader = follow();
    await settle();
    expect(reader.received).toEqual(['ADDED a/0 2']);
    clock.advance(50);
    await settle();
    expect(reader.received).toEqual(['ADDED a/0 2', 'ADDED a/1 3', 'ADDED a/2 4']);
  });
});

describe('over the memory store', () => {
  it('joins the window without a gap while commits run', async () => {
    const clock = new ManualClock();
    const store = openMemoryStore({ clock });
    for (let i = 0; i < 2_500; i++) await store.commit([], [put(`a/${i}`, {})]);
    const { cache } = setup({ store, clock, windowBytes: 128 * 50 });
    await cache.ready();
    const readers = [1, 1_000, 2_499].map((after) => new Reader(cache.subscribe({ after, bufferBytes })));
    for (let i = 0; i < 300; i++) await store.commit([], [put(`b/${i}`, {}), { key: `/other${prefix}x` }]);
    await settle(20);
    for (const [i, after] of [1, 1_000, 2_499].entries()) {
      expect(readers[i]?.events.map(({ revision }) => revision)).toEqual(
        Array.from({ length: 2_801 - after }, (_, j) => after + 1 + j),
      );
    }
    await store.close();
  });
});
