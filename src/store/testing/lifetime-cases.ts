import { describe, expect, test } from 'vitest';
import type { ListResult, StoreError } from '../store.ts';
import { absent, put, type Tools, text } from './tools.ts';

/** Compaction and close. */
export function lifetimeCases({ store, advance, write, read, keys, watch }: Tools): void {
  describe('compact', () => {
    test('reads at an earlier revision fail as compacted with the first revision that can be read', async () => {
      const first = await write(put('a', 'one'));
      const second = await write(put('a', 'two'));
      const third = await write(put('a', 'three'));
      await store.compact(second);
      expect(await store.oldest()).toBe(second);
      const expected = { name: 'StoreError', code: 'compacted', revision: second };
      await expect(store.get('a', first)).rejects.toMatchObject(expected);
      await expect(store.list({ prefix: '', revision: first })).rejects.toMatchObject(expected);
      expect(await read('a', second)).toBe('two');
      expect(await read('a', third)).toBe('three');
    });
    test('current entries are kept, however old', async () => {
      await write(put('old', 'kept'), put('b', '1'));
      for (let i = 2; i < 6; i++) await write(put('b', `${i}`));
      await write({ key: 'b' });
      const latest = await write(put('c'));
      await store.compact(latest);
      await advance(10);
      expect(await read('old')).toBe('kept');
      expect(await read('old', latest)).toBe('kept');
      expect(await keys('')).toEqual(['c', 'old']);
      expect(await read('b')).toBeUndefined();
      expect((await store.commit([absent('b')], [put('b', 'again')])).ok).toBe(true);
      expect(await read('b')).toBe('again');
      expect(await read('b', latest)).toBeUndefined();
    });
    test('a list at the compacted revision is complete', async () => {
      await write(put('a/1', 'one'), put('a/2', 'two'), put('a/3', 'three'));
      const at = await write({ key: 'a/2' }, put('a/1', 'new'));
      await write({ key: 'a/1' }, put('a/2', 'later'));
      await store.compact(at);
      await advance(10);
      const { entries } = await store.list({ prefix: 'a/', revision: at });
      expect(entries.map((e) => [e.key, text(e)])).toEqual([
        ['a/1', 'new'],
        ['a/3', 'three'],
      ]);
    });
    test('a watch after an earlier revision fails as compacted, one after the compacted revision works', async () => {
      const start = await write(put('a', 'one'));
      const kept = await write(put('a', 'two'));
      const last = await write(put('a', 'three'));
      await store.compact(kept);
      await advance(10);
      expect(await watch('', start).failed()).toMatchObject({ code: 'compacted', revision: kept });
      const seen = watch('', kept);
      await seen.reached(last);
      expect(seen.changes).toEqual([['a', 'three', 'two']]);
    });
    test('a live watch continues', async () => {
      const start = await store.revision();
      const seen = watch('', start);
      for (let i = 1; i <= 5; i++) {
        const revision = await write(put('a', `${i}`));
        await seen.reached(revision);
        await store.compact(revision);
      }
      expect(seen.revisions).toEqual([1, 2, 3, 4, 5].map((i) => start + i));
    });
    test('to the same or an earlier revision does nothing', async () => {
      const first = await write(put('a', 'one'));
      const second = await write(put('a', 'two'));
      await store.compact(second);
      await store.compact(second);
      await store.compact(first);
      expect(await store.oldest()).toBe(second);
      await expect(store.get('a', first)).rejects.toMatchObject({ code: 'compacted', revision: second });
      expect(await read('a', second)).toBe('two');
    });
    test('to a revision that has not been reached fails as future', async () => {
      const latest = await store.revision();
      await expect(store.compact(latest + 1)).rejects.toMatchObject({ code: 'future', revision: latest });
      await expect(store.compact(0)).rejects.toMatchObject({ code: 'invalid' });
    });
    test('takes no revision', async () => {
      const latest = await write(put('a'));
      await store.compact(latest);
      expect(await store.revision()).toBe(latest);
    });
    describe('while something reads', () => {
      const all = Array.from({ length: 40 }, (_, i) => `a/${String(i + 10)}`);
      const value = new Uint8Array(1_000_000);
      /** Writes much data, begins to read it, then replaces and compacts it. Returns the last revision below 'a/'. */
      async function replaceAndCompact(read: () => void): Promise<number> {
        for (const key of all) await write({ key, value });
        read();
        const last = await write(...all.map((key) => put(key, 'new')));
        await store.compact(last);
        await advance(100);
        for (let i = 0; i < 3; i++) await write(put('other', `${i}`));
        return last;
      }
      test('a list is consistent at its revision or fails as compacted', async () => {
        const listings: Promise<unknown>[] = [];
        const compacted = ({ code }: StoreError) => code;
        const last = await replaceAndCompact(() => listings.push(store.list({ prefix: 'a/' }).catch(compacted)));
        for (const found of await Promise.all(listings)) {
          if (found === 'compacted') continue;
          const { entries, revision } = found as ListResult;
          expect(entries.length).toBeGreaterThan(0);
          expect(entries.map(({ key }) => key)).toEqual(all.slice(0, entries.length));
          const size = revision < last ? value.length : 'new'.length;
          expect(entries.every((entry) => entry.value.length === size)).toBe(true);
          expect(entries.every((entry) => entry.revision <= revision)).toBe(true);
        }
      });
      test('a watch misses no change or fails as compacted', async () => {
        const start = await store.revision();
        const watches: ReturnType<typeof watch>[] = [];
        const last = await replaceAndCompact(() => watches.push(watch('a/', start)));
        for (const seen of watches) {
          await seen.until(() => seen.errors.length > 0 || seen.revisions.at(-1) === last);
          expect(seen.errors.filter(({ code }) => code !== 'compacted')).toEqual([]);
          expect(seen.revisions).toEqual(seen.revisions.map((_, i) => start + 1 + i));
        }
      });
    });
    test('a long replay misses no change or fails as compacted', async () => {
      const start = await store.revision();
      for (let round = 0; round < 25; round++) {
        await Promise.all(Array.from({ length: 100 }, (_, i) => store.commit([], [put(`a/${i}`, `${round}`)])));
      }
      const seen = watch('a/', start);
      await store.compact(start + 2500);
      await advance(100);
      await write(put('a/0'));
      await seen.until(() => seen.errors.length > 0 || seen.revisions.at(-1) === start + 2501);
      expect(seen.errors.filter(({ code }) => code !== 'compacted')).toEqual([]);
      expect(seen.revisions).toEqual(seen.revisions.map((_, i) => start + 1 + i));
    });
    test('of much history while commits run keeps the current entries', async () => {
      for (let round = 0; round < 30; round++) {
        await Promise.all(Array.from({ length: 50 }, (_, i) => store.commit([], [put(`a/${i}`, `${round}`)])));
      }
      const at = await store.revision();
      const commits = Array.from({ length: 50 }, (_, i) => store.commit([], [put(`b/${i}`)]));
      await Promise.all([store.compact(at), ...commits]);
      await advance(100);
      const { entries } = await store.list({ prefix: 'a/' });
      expect(entries).toHaveLength(50);
      expect(entries.every((e) => text(e) === '29')).toBe(true);
      expect((await store.list({ prefix: 'a/', revision: at })).entries).toEqual(entries);
      expect(await keys('b/')).toHaveLength(50);
    });
  });

  describe('close', () => {
    test('ends watches as closed, once, and delivers nothing more', async () => {
      const seen = [watch('', await store.revision()), watch('a', await store.revision())];
      const revision = await write(put('a'));
      for (const each of seen) await each.reached(revision);
      await store.close();
      for (const each of seen) {
        expect(await each.failed()).toMatchObject({ name: 'StoreError', code: 'closed' });
        each.progress();
        each.close();
      }
      await new Promise(setImmediate);
      expect(seen.map(({ errors, commits }) => [errors.length, commits.length])).toEqual([
        [1, 1],
        [1, 1],
      ]);
    });
    test('finishes the commits in flight', async () => {
      const commits = Array.from({ length: 20 }, (_, i) => store.commit([], [put(`a/${i}`)]));
      const closing = store.close();
      expect((await Promise.all(commits)).every(({ ok }) => ok)).toBe(true);
      await closing;
    });
    test('later calls fail as closed', async () => {
      await store.close();
      const closed = { name: 'StoreError', code: 'closed' };
      await expect(store.revision()).rejects.toMatchObject(closed);
      await expect(store.oldest()).rejects.toMatchObject(closed);
      await expect(store.size()).rejects.toMatchObject(closed);
      await expect(store.get('a')).rejects.toMatchObject(closed);
      await expect(store.list({ prefix: '' })).rejects.toMatchObject(closed);
      await expect(store.commit([], [put('a')])).rejects.toMatchObject(closed);
      await expect(store.compact(1)).rejects.toMatchObject(closed);
      expect(await watch('', 1).failed()).toMatchObject(closed);
    });
    test('is idempotent', async () => {
      await Promise.all([store.close(), store.close()]);
      await store.close();
    });
  });
}
