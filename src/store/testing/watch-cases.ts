import { describe, expect, test } from 'vitest';
import type { CommitResult } from '../store.ts';
import { byKey, put, Recorder, shown, type Tools, text } from './tools.ts';

/** Watches. */
export function watchCases({ store, write, watch }: Tools): void {
  describe('watch', () => {
    test('delivers creations, updates and deletions with previous entries, one batch per commit', async () => {
      const seen = watch('a/', await store.revision());
      const revisions = [
        await write(put('a/1', 'one')),
        await write(put('a/1', 'two'), put('a/2', 'x')),
        await write({ key: 'a/1' }),
        await write(put('a/1', 'three')),
      ];
      await seen.reached(revisions[3] ?? 0);
      expect(seen.revisions).toEqual(revisions);
      expect(seen.commits.map(({ changes }) => changes.toSorted(byKey).map(shown))).toEqual([
        [['a/1', 'one', undefined]],
        [
          ['a/1', 'two', 'one'],
          ['a/2', 'x', undefined],
        ],
        [['a/1', undefined, 'two']],
        [['a/1', 'three', undefined]],
      ]);
      expect(seen.commits[1]?.changes[0]).toMatchObject({
        entry: { revision: revisions[1] },
      });
      expect(seen.commits[1]?.changes.find(({ key }) => key === 'a/1')?.previous?.revision).toBe(revisions[0]);
    });
    test('replays from a past revision, with previous entries', async () => {
      const start = await write(put('a', 'zero'));
      await write(put('a', 'one'));
      await write({ key: 'a' });
      const last = await write(put('a', 'two'));
      const seen = watch('', start);
      await seen.reached(last);
      expect(seen.changes).toEqual([
        ['a', 'one', 'zero'],
        ['a', undefined, 'one'],
        ['a', 'two', undefined],
      ]);
      expect(seen.revisions).toEqual([start + 1, start + 2, start + 3]);
    });
    test('without the option changes have no previous entries, replayed or live, even when another watch has them', async () => {
      const start = await write(put('a', 'zero'));
      await write(put('a', 'one'));
      const watches = [watch('a', start, {}), watch('', start), watch('', start, { previous: false })];
      for (const seen of watches) await seen.reached(start + 1);
      await write(put('a', 'two'));
      const last = await write({ key: 'a' });
      for (const seen of watches) await seen.reached(last);
      const values = [
        ['a', 'one'],
        ['a', 'two'],
        ['a', undefined],
      ];
      const previous = ['zero', 'one', 'two'];
      const plain = values.map((change) => [...change, undefined]);
      expect(watches.map(({ changes }) => changes)).toEqual([
        plain,
        values.map((change, i) => [...change, previous[i]]),
        plain,
      ]);
    });
    test('continues after the replay without a gap or a duplicate', async () => {
      const start = await store.revision();
      for (let i = 0; i < 5; i++) await write(put(`a/${i}`));
      const seen = watch('a/', start);
      for (let i = 5; i < 10; i++) await write(put(`a/${i}`));
      await seen.reached(start + 10);
      expect(seen.revisions).toEqual(Array.from({ length: 10 }, (_, i) => start + 1 + i));
    });
    test('begun while commits run it misses no commit and repeats none', async () => {
      const start = await store.revision();
      const watches = [watch('a/', start)];
      const commits: Promise<CommitResult>[] = [];
      for (let i = 0; i < 300; i++) {
        commits.push(store.commit([], [put(`a/${i % 7}`, `${i}`)]));
        if (i % 50 === 25) {
          watches.push(watch('a/', start), watch('a/', await store.revision()));
        }
      }
      const last = Math.max(...(await Promise.all(commits)).map(({ revision }) => revision));
      expect(last).toBe(start + 300);
      for (const seen of watches) {
        await seen.reached(last);
        const first = seen.revisions[0] ?? 0;
        expect(seen.revisions).toEqual(Array.from({ length: last - first + 1 }, (_, i) => first + i));
      }
    });
    test('a long replay arrives in order and complete', async () => {
      const start = await store.revision();
      for (let round = 0; round < 25; round++) {
        await Promise.all(Array.from({ length: 100 }, (_, i) => store.commit([], [put(`a/${i}`, `${round}`)])));
      }
      const seen = watch('a/', start);
      await Promise.all(Array.from({ length: 100 }, (_, i) => store.commit([], [put(`a/${i}`, 'live')])));
      await seen.reached(start + 2600);
      expect(seen.revisions).toEqual(Array.from({ length: 2600 }, (_, i) => start + 1 + i));
    });
    test('the previous entry of a change is the entry of the change before', async () => {
      const seen = watch('a', await store.revision());
      const results = await Promise.all(Array.from({ length: 100 }, (_, i) => store.commit([], [put('a', `${i}`)])));
      await seen.reached(Math.max(...results.map(({ revision }) => revision)));
      const changes = seen.batches.flatMap((batch) => batch.changes);
      for (const [i, { previous }] of changes.entries()) expect(previous).toEqual(changes[i - 1]?.entry);
    });
    test('several watches deliver only keys with their prefix', async () => {
      const start = await store.revision();
      const seen = ['a/', 'b/', '', 'a/x/', 'c'].map((prefix) => watch(prefix, start));
      await write(put('a/1'), put('b/1'));
      await write(put('a0'));
      const last = await write(put('a/x/1'), put('b/2'), put('a/2'));
      await Promise.all(seen.slice(0, 4).map((each) => each.reached(last)));
      const keysOf = seen.map(({ commits }) => commits.map(({ changes }) => changes.map(({ key }) => key).toSorted()));
      expect(keysOf).toEqual([
        [['a/1'], ['a/2', 'a/x/1']],
        [['b/1'], ['b/2']],
        [['a/1', 'b/1'], ['a0'], ['a/2', 'a/x/1', 'b/2']],
        [['a/x/1']],
        [],
      ]);
    });
    test('the sink is not called before watch has returned', async () => {
      const start = await store.revision();
      await write(put('a'));
      let returned = false;
      const early: boolean[] = [];
      const sink = new Recorder();
      store.watch('', start, {
        batch: (revision, changes) => {
          if (changes.length > 0) early.push(!returned);
          sink.batch(revision, changes);
        },
        error: () => early.push(!returned),
      });
      store.watch('', start + 1000, { batch: () => undefined, error: () => early.push(!returned) });
      returned = true;
      await sink.reached(start + 1);
      await expect.poll(() => early).toEqual([false, false]);
    });
    test.each(['catching up', 'live'])('a sink that commits while %s is not called re-entrantly', async (when) => {
      const start = await store.revision();
      let [running, nested, count] = [false, false, 0];
      const sink = new Recorder();
      const begun = store.watch('', start, {
        batch(revision, changes) {
          nested ||= running;
          running = true;
          if (changes.length > 0 && count++ < 5) void store.commit([], [put('a', `${count}`)]);
          sink.batch(revision, changes);
          running = false;
        },
        error: () => undefined,
      });
      if (when === 'live') {
        begun.progress();
        await sink.reached(start);
      }
      await write(put('a', '0'));
      await sink.reached(start + 6);
      expect(nested).toBe(false);
      const values = sink.batches.flatMap(({ changes }) => changes.map(({ entry }) => text(entry)));
      expect(values).toEqual(['0', '1', '2', '3', '4', '5']);
    });
    test('a sink can read the revision that is being delivered', async () => {
      const start = await store.revision();
      const reads: Promise<unknown>[] = [];
      const sink = new Recorder();
      store.watch('', start, {
        batch(revision, changes) {
          for (const { key } of changes) reads.push(store.get(key, revision), store.get(key));
          sink.batch(revision, changes);
        },
        error: () => undefined,
      });
      for (let i = 0; i < 3; i++) await Promise.all([write(put('a', `${i}`)), write(put('b', `${i}`))]);
      await sink.reached(start + 6);
      const found = (await Promise.all(reads)) as { entry: { revision: number } }[];
      for (const [i, { entry }] of found.entries()) {
        if (i % 2 === 0) expect(entry.revision).toBe(start + 1 + i / 2);
        else expect(entry.revision).toBeGreaterThanOrEqual(start + 1 + (i - 1) / 2);
      }
    });
    test('a closed watch delivers nothing more, and no error', async () => {
      const start = await store.revision();
      const closed = watch('', start);
      const open = watch('', start);
      await write(put('a'));
      await closed.reached(start + 1);
      closed.close();
      closed.close();
      closed.progress();
      await write(put('a'));
      await open.reached(start + 2);
      expect(closed.revisions).toEqual([start + 1]);
      expect(closed.errors).toEqual([]);
    });
    test('a watch closed by its own sink delivers nothing more', async () => {
      const start = await store.revision();
      for (let i = 0; i < 3; i++) await write(put('a'));
      const seen: number[] = [];
      await new Promise<void>((resolve) => {
        const mine = store.watch('', start, {
          batch(revision, changes) {
            if (changes.length === 0) return;
            seen.push(revision);
            mine.close();
            resolve();
          },
          error: () => undefined,
        });
      });
      const other = watch('', start);
      await other.reached(start + 3);
      expect(seen).toEqual([start + 1]);
    });
    test('closed immediately it delivers nothing', async () => {
      const start = await store.revision();
      await write(put('a'));
      const closed = [watch('', start), watch('', start + 100)];
      for (const each of closed) each.close();
      const other = watch('', start);
      await other.reached(start + 1);
      expect(closed.map(({ batches, errors }) => batches.length + errors.length)).toEqual([0, 0]);
    });
    test('after a future revision fails with the latest one', async () => {
      const latest = await write(put('a'));
      expect(await watch('', latest + 1).failed()).toMatchObject({ code: 'future', revision: latest });
    });
    test.each([0, -1, 1.5])('after revision %s is invalid', async (after) => {
      expect(await watch('', after).failed()).toMatchObject({ name: 'StoreError', code: 'invalid' });
    });
    test('a progress notification has the latest revision, also without a change below the prefix', async () => {
      const seen = watch('a/', await store.revision());
      const latest = await write(put('b/1'));
      seen.progress();
      await seen.reached(latest);
      expect([seen.notifications.at(-1), seen.changes]).toEqual([latest, []]);
    });
    test('a progress notification follows every change up to the revision of the call', async () => {
      const start = await store.revision();
      for (let i = 0; i < 10; i++) await write(put(`a/${i}`));
      const seen = watch('a/', start);
      seen.progress();
      const reached = ({ revision, changes }: (typeof seen.batches)[number]) =>
        changes.length === 0 && revision >= start + 10;
      await seen.until(() => seen.batches.some(reached));
      const before = seen.batches.slice(0, seen.batches.findIndex(reached));
      expect(before.flatMap(({ changes }) => changes.map(({ key }) => key))).toHaveLength(10);
    });
    test('every request for progress is notified', async () => {
      const seen = watch('a/', await store.revision());
      for (let i = 1; i <= 3; i++) {
        const latest = await write(put('b'));
        seen.progress();
        await seen.reached(latest);
      }
      for (let i = 0; i < 100; i++) seen.progress();
      const latest = await write(put('b'));
      seen.progress();
      await seen.reached(latest);
      expect(seen.changes).toEqual([]);
    });
    test('progress is notified of a watch that has still to begin, or to replay', async () => {
      const start = await store.revision();
      for (let i = 0; i < 1200; i += 100) {
        await Promise.all(Array.from({ length: 100 }, (_, n) => store.commit([], [put(`a/${i + n}`)])));
      }
      const latest = await write(put('b'));
      const watches = [watch('a/', start), watch('a/', start + 1190), watch('a/', latest), watch('c/', start)];
      for (const seen of watches) seen.progress();
      for (const seen of watches) await seen.until(() => (seen.notifications.at(-1) ?? 0) >= latest);
      expect(watches.map(({ revisions }) => revisions.length)).toEqual([1200, 10, 0, 0]);
    });
    test('a commit in flight at the time of the call is delivered once', async () => {
      const start = await store.revision();
      const commit = store.commit([], [put('a')]);
      const seen = watch('', start);
      await commit;
      const last = await write(put('b'));
      await seen.reached(last);
      expect(seen.revisions).toEqual([start + 1, start + 2]);
    });
  });
}
