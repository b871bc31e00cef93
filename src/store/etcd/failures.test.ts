import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { etcdPath } from '../../../test/support/requirements.ts';
import type { CommitResult, Store, StoreError } from '../store.ts';
import { startEtcd, type TestEtcd } from '../testing/etcd.ts';
import { realClock, realRandom } from '../testing/real-time.ts';
import { Relay } from '../testing/relay.ts';
import { absent, put, Recorder, text } from '../testing/tools.ts';
import { type EtcdStoreOptions, openEtcdStore } from './etcd-store.ts';

const program = etcdPath();
/** The patience of a store is 10 s of its clock. */
const fast = realClock(10);

describe.skipIf(program === undefined)('etcd fails', () => {
  let etcd: TestEtcd;
  beforeAll(async () => {
    etcd = await startEtcd(program ?? '');
  });
  afterAll(() => etcd.stop());

  let relay: Relay;
  let prefix: string;
  /** A store with an undisturbed connection to the same keys, and one through the relay. */
  let direct: Store;
  let store: Store;
  const opened: Store[] = [];
  let cases = 0;
  async function open(options: Partial<EtcdStoreOptions> = {}): Promise<Store> {
    const defaults = { servers: etcd.servers, prefix, clock: realClock(), random: realRandom };
    const added = await openEtcdStore({ ...defaults, ...options });
    opened.push(added);
    return added;
  }
  beforeEach(async () => {
    prefix = `/case-${cases++}/`;
    relay = await Relay.to(etcd.members[0]?.port ?? 0);
    direct = await open();
    store = await open({ servers: [relay.url] });
  });
  afterEach(async () => {
    relay.refusing = false;
    relay.cut();
    for (const each of opened.splice(0)) await each.close();
    await expect.poll(() => relay.connections).toBe(0);
    await relay.close();
  });
  const entryOf = async (key: string) => (await direct.get(key)).entry;

  describe('the answer to a commit is lost', () => {
    /** Begins a commit whose answer is lost, and waits until it has taken place. */
    async function answerLost(...[compares, writes]: Parameters<Store['commit']>): Promise<Promise<CommitResult>[]> {
      const before = await direct.revision();
      relay.answers = false;
      const result = store.commit(compares, writes);
      await expect.poll(() => direct.revision()).toBe(before + 1);
      return [result];
    }

    test('a creation is answered with its own revision, and is not a conflict', async () => {
      const [result] = await answerLost([absent('a')], [put('a', 'mine')]);
      relay.cut();
      expect(await result).toEqual({ ok: true, revision: (await entryOf('a'))?.revision });
      expect(text(await entryOf('a'))).toBe('mine');
    });
    test('an update is answered with its own revision, though others have written the key since', async () => {
      const { revision } = await store.commit([], [put('a', 'before')]);
      const [result] = await answerLost([{ key: 'a', revision }], [put('a', 'mine')]);
      const mine = (await entryOf('a'))?.revision;
      await direct.commit([], [put('a', 'theirs')]);
      relay.cut();
      expect(await result).toEqual({ ok: true, revision: mine });
      expect(text(await entryOf('a'))).toBe('theirs');
    });
    test('a deletion is answered with its own revision, and does not delete what was created since', async () => {
      const { revision } = await store.commit([], [put('a')]);
      const [result] = await answerLost([{ key: 'a', revision }], [{ key: 'a' }]);
      const mine = await direct.revision();
      await direct.commit([absent('a')], [put('a', 'theirs')]);
      relay.cut();
      expect(await result).toEqual({ ok: true, revision: mine });
      expect(text(await entryOf('a'))).toBe('theirs');
    });
    test('a commit without a guard takes place once', async () => {
      const [result] = await answerLost([], [put('a', 'mine')]);
      await direct.commit([], [put('a', 'theirs')]);
      relay.cut();
      expect(await result).toMatchObject({ ok: true });
      expect(text(await entryOf('a'))).toBe('theirs');
    });
    test('one that may change nothing is uncertain', async () => {
      await store.commit([], [put('a')]);
      const [result] = await answerLost([], [{ key: 'a' }]);
      relay.cut();
      await expect(result).rejects.toMatchObject({ name: 'StoreError', code: 'uncertain' });
    });
    test('one with as many writes as etcd accepts is uncertain', async () => {
      const writes = Array.from({ length: 128 }, (_, i) => put(`a/${i}`));
      const [result] = await answerLost([], writes);
      relay.cut();
      await expect(result).rejects.toMatchObject({ code: 'uncertain' });
    });
    test('a refusal is told again, with what is there', async () => {
      await direct.commit([], [put('a', 'theirs')]);
      relay.answers = false;
      const result = store.commit([absent('a')], [put('a', 'mine')]);
      await expect.poll(() => relay.connections).toBeGreaterThan(0);
      relay.cut();
      expect(await result).toMatchObject({ ok: false, found: [{ revision: (await entryOf('a'))?.revision }] });
    });
  });

  test('a commit that did not arrive takes place when the connection is back, or is refused as others have written', async () => {
    await store.commit([], [put('warm')]);
    relay.requests = false;
    const results = ['a', 'b'].map((key) => store.commit([absent(key)], [put(key, 'mine')]));
    await direct.commit([absent('b')], [put('b', 'theirs')]);
    relay.cut();
    const [a, b] = await Promise.all(results);
    expect(a).toEqual({ ok: true, revision: (await entryOf('a'))?.revision });
    expect(b).toMatchObject({ ok: false, found: [{ key: 'b', revision: (await entryOf('b'))?.revision }] });
  });

  test('commits under a connection that breaks again and again are all answered truly', async () => {
    for (let [i, revision] = [0, 0]; i < 40; i++) {
      const commit = store.commit([{ key: 'a', revision }], [put('a', `${i}`)]);
      setTimeout(() => relay.cut(), i % 4);
      const result = await commit;
      expect(result.ok).toBe(true);
      ({ revision } = result);
      const entry = await entryOf('a');
      expect([text(entry), entry?.revision]).toEqual([`${i}`, revision]);
    }
  });

  test('a connection over which nothing comes is replaced, and all goes on when the network is back', async () => {
    const seen = new Recorder();
    store.watch('', await store.revision(), seen);
    const before = relay.accepted;
    relay.halt();
    const commit = store.commit([absent('a')], [put('a', 'mine')]);
    await direct.commit([], [put('b', 'theirs')]);
    await expect.poll(() => relay.accepted).toBeGreaterThan(before);
    relay.resume();
    const result = await commit;
    expect(result).toEqual({ ok: true, revision: (await entryOf('a'))?.revision });
    await seen.reached(result.revision);
    expect(seen.changes).toHaveLength(2);
    expect(await store.revision()).toBeGreaterThanOrEqual(result.revision);
  });

  test('without a connection every call fails as unavailable, and works when it is back', async () => {
    const cut = await open({ servers: [relay.url], clock: fast });
    relay.refusing = true;
    relay.cut();
    // The first one may still be sent over the old connection.
    await expect(cut.get('a')).rejects.toMatchObject({ code: 'unavailable' });
    const unavailable = { name: 'StoreError', code: 'unavailable', message: expect.stringContaining('No connection') };
    const calls = [cut.commit([], [put('a')]), cut.get('a'), cut.list({ prefix: '' }), cut.revision(), cut.compact(1)];
    for (const call of await Promise.allSettled(calls)) expect(call).toMatchObject({ reason: unavailable });
    relay.refusing = false;
    await expect.poll(() => cut.get('a').then(({ entry }) => entry)).toBeUndefined();
    expect(await cut.commit([], [put('a')])).toMatchObject({ ok: true });
  });

  test('a commit that is never answered is uncertain', async () => {
    const halted = await open({ servers: [relay.url], clock: fast });
    relay.answers = false;
    await expect(halted.commit([], [put('a')])).rejects.toMatchObject({ name: 'StoreError', code: 'uncertain' });
    relay.cut();
    expect(text(await entryOf('a'))).toBe('x');
  });

  describe('watch', () => {
    const watchFrom = (after: number, options = {}): Recorder => {
      const sink = new Recorder();
      store.watch('a/', after, sink, options);
      return sink;
    };

    test.each([{}, { previous: true }])(
      'goes on after broken connections without loss or repetition (%o)',
      async (options) => {
        const start = await direct.revision();
        const seen = watchFrom(start, options);
        const late = watchFrom(1, options);
        for (let i = 0; i < 300; i++) {
          if (i % 30 === 15) relay.cut();
          await direct.commit([], [put('a/1', `${i}`), put('b/1')]);
        }
        for (const each of [seen, late]) {
          await each.reached(start + 300);
          expect(each.revisions).toEqual(Array.from({ length: 300 }, (_, i) => start + 1 + i));
        }
      },
    );
    test.each([{}, { previous: true }])(
      'ends as compacted when its revision was compacted while it was cut off, and begins again there (%o)',
      async (options) => {
        const [seen, again] = [new Recorder(), new Recorder()];
        const ended = {
          batch: (...delivered: Parameters<Recorder['batch']>) => seen.batch(...delivered),
          error(error: StoreError) {
            seen.error(error);
            store.watch('a/', error.revision ?? 0, again, options);
          },
        };
        store.watch('a/', await direct.revision(), ended, options);
        await seen.reached((await direct.commit([], [put('a/1')])).revision);
        relay.refusing = true;
        relay.cut();
        for (let i = 0; i < 3; i++) await direct.commit([], [put('a/1')]);
        const oldest = await direct.revision();
        await direct.compact(oldest);
        const { revision } = await direct.commit([], [put('a/2')]);
        relay.refusing = false;
        expect(await seen.failed()).toMatchObject({ code: 'compacted', revision: oldest });
        await again.reached(revision);
        expect(again.revisions).toEqual([revision]);
      },
    );
    test('receives the next change when it begins at the latest revision while the stream is replaced', async () => {
      const [ended, next] = [new Recorder(), new Recorder()];
      store.watch('a/', await direct.revision(), {
        batch: (...batch) => ended.batch(...batch),
        error(error) {
          ended.error(error);
          store.watch('a/', error.revision ?? 0, next);
        },
      });
      await ended.reached((await direct.commit([], [put('a/1')])).revision);
      relay.refusing = true;
      relay.cut();
      for (let i = 0; i < 3; i++) await direct.commit([], [put('a/1')]);
      const latest = await direct.revision();
      await direct.compact(latest);
      relay.refusing = false;
      expect(await ended.failed()).toMatchObject({ code: 'compacted', revision: latest });
      // The new stream starts from a read of the revision, which this one follows.
      await store.revision();
      const { revision } = await direct.commit([], [put('a/2')]);
      await next.reached(revision);
      expect(next.revisions).toEqual([revision]);
    });
    test('progress is told when the connection is back', async () => {
      const sink = new Recorder();
      const watch = store.watch('a/', await direct.revision(), sink);
      relay.answers = false;
      const { revision } = await direct.commit([], [put('b/1')]);
      watch.progress();
      relay.cut();
      await sink.reached(revision);
    });
    test('a commit larger than one message of etcd is one batch', async () => {
      const write = (fill: number) => {
        const value = new Uint8Array(14_000).fill(fill);
        return direct.commit(
          [],
          Array.from({ length: 100 }, (_, i) => ({ key: `a/${i}`, value })),
        );
      };
      const { revision: after } = await write(1);
      const seen = watchFrom(after, { previous: true });
      const { revision } = await write(2);
      await seen.reached(revision);
      expect(seen.commits.map(({ changes }) => changes.length)).toEqual([100]);
      expect(
        seen.commits[0]?.changes.every(({ entry, previous }) => entry?.value[0] === 2 && previous?.value[0] === 1),
      ).toBe(true);
    });
  });
});
