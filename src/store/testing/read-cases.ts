import { describe, expect, test } from 'vitest';
import { pageBytes } from '../store.ts';
import { put, type Tools, text } from './tools.ts';

/** Revisions, get and list. */
export function readCases({ store, write, read, keys }: Tools): void {
  describe('revisions', () => {
    test('a store starts at a revision of at least 1', async () => {
      expect(await store.revision()).toBeGreaterThanOrEqual(1);
    });
    test('a commit takes the next revision', async () => {
      const before = await store.revision();
      expect(await write(put('a'))).toBe(before + 1);
      expect(await store.revision()).toBe(before + 1);
    });
    test('a failed commit takes none', async () => {
      const before = await store.revision();
      expect(await store.commit([{ key: 'a', revision: before }], [put('a')])).toMatchObject({ ok: false });
      expect(await store.revision()).toBe(before);
    });
    test('writing the same value again takes a revision', async () => {
      const first = await write(put('a'));
      expect(await write(put('a'))).toBe(first + 1);
      expect((await store.get('a')).entry?.revision).toBe(first + 1);
    });
    test('a commit without writes takes none and returns the latest one', async () => {
      const before = await write(put('a'));
      expect(await store.commit([{ key: 'a', revision: before }], [])).toEqual({ ok: true, revision: before });
      expect(await store.revision()).toBe(before);
    });
    test('the revision never goes backwards while commits run', async () => {
      const commits = Array.from({ length: 50 }, (_, i) => store.commit([], [put(`a/${i}`)]));
      let last = 0;
      let running = true;
      void Promise.all(commits).then(() => {
        running = false;
      });
      while (running) {
        const now = await store.revision();
        expect(now).toBeGreaterThanOrEqual(last);
        last = now;
        await new Promise(setImmediate);
      }
      const taken = (await Promise.all(commits)).map(({ revision }) => revision);
      expect(await store.revision()).toBe(Math.max(...taken));
    });
    test('the oldest revision is one that can be read, and not later than the latest', async () => {
      const oldest = await store.oldest();
      expect(oldest).toBeGreaterThanOrEqual(1);
      expect(oldest).toBeLessThanOrEqual(await store.revision());
      expect((await store.get('a', oldest)).revision).toBe(oldest);
    });
    test('the revision includes every commit that has been answered', async () => {
      for (let i = 0; i < 10; i++) expect(await store.revision()).toBe(await write(put('a')).then((r) => r - 1));
    });
  });

  describe('get', () => {
    test('an absent key', async () => {
      expect(await store.get('a')).toEqual({ entry: undefined, revision: await store.revision() });
    });
    test('the latest value with the revision that wrote it, and the latest revision', async () => {
      const revision = await write(put('a', 'one'));
      const later = await write(put('b'));
      expect(await store.get('a')).toEqual({
        entry: { key: 'a', value: expect.anything(), revision },
        revision: later,
      });
      expect(await read('a')).toBe('one');
    });
    test('each earlier value at its revision', async () => {
      const before = await store.revision();
      const revisions: number[] = [];
      for (let i = 0; i < 5; i++) revisions.push(await write(put('a', `v${i}`)));
      expect(await read('a', before)).toBeUndefined();
      for (const [i, revision] of revisions.entries()) {
        expect(await read('a', revision)).toBe(`v${i}`);
        expect((await store.get('a', revision)).revision).toBe(revision);
      }
    });
    test('a read between two writes returns the earlier value', async () => {
      const first = await write(put('a', 'one'));
      const other = await write(put('b'));
      await write(put('a', 'two'));
      expect((await store.get('a', other)).entry).toMatchObject({ revision: first });
    });
    test('a deleted key is absent from its deletion on', async () => {
      const first = await write(put('a', 'one'));
      const deleted = await write({ key: 'a' });
      expect(await read('a')).toBeUndefined();
      expect(await read('a', deleted)).toBeUndefined();
      expect(await read('a', first)).toBe('one');
    });
    test('delete and recreate in history', async () => {
      const one = await write(put('a', 'one'));
      const gone = await write({ key: 'a' });
      const two = await write(put('a', 'two'));
      const goneAgain = await write({ key: 'a' });
      expect(await Promise.all([one, gone, two, goneAgain].map((r) => read('a', r)))).toEqual([
        'one',
        undefined,
        'two',
        undefined,
      ]);
    });
    test('a revision that has not been reached fails as future with the latest one', async () => {
      const latest = await write(put('a'));
      await expect(store.get('a', latest + 1)).rejects.toMatchObject({ code: 'future', revision: latest });
    });
    test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('revision %s is invalid', async (revision) => {
      await expect(store.get('a', revision)).rejects.toMatchObject({ name: 'StoreError', code: 'invalid' });
    });
  });

  describe('list', () => {
    test('an empty range', async () => {
      expect(await store.list({ prefix: 'a/' })).toEqual({
        entries: [],
        revision: await store.revision(),
        more: false,
        remaining: undefined,
      });
    });
    test('entries in key order with value and revision', async () => {
      const second = await write(put('a/2', 'two'));
      const first = await write(put('a/1', 'one'));
      const { entries, revision, more } = await store.list({ prefix: 'a/' });
      expect(entries.map((e) => [e.key, text(e), e.revision])).toEqual([
        ['a/1', 'one', first],
        ['a/2', 'two', second],
      ]);
      expect([revision, more]).toEqual([first, false]);
    });
    test('only keys that begin with the prefix', async () => {
      await write(...['a', 'a.', 'a/', 'a/x', 'a0', 'a/\u{10FFFF}', 'b'].map((key) => put(key)));
      expect(await keys('a/')).toEqual(['a/', 'a/x', 'a/\u{10FFFF}']);
      expect(await keys('a')).toEqual(['a', 'a.', 'a/', 'a/x', 'a/\u{10FFFF}', 'a0']);
      expect(await keys('a/x/')).toEqual([]);
      expect(await keys('')).toHaveLength(7);
    });
    test('a prefix that ends with the last character', async () => {
      await write(put('\u{10FFFF}'), put('\u{10FFFF}a'), put('\u{10FFFE}'));
      expect(await keys('\u{10FFFF}')).toEqual(['\u{10FFFF}', '\u{10FFFF}a']);
    });
    test.each([true, false])(
      'pages by after and limit, and returns the remaining count if requested (%s)',
      async (count) => {
        const all = Array.from({ length: 10 }, (_, i) => `a/${i}`);
        await write(...all.map((key) => put(key)), put('b/0'));
        const seen: string[] = [];
        let after: string | undefined;
        for (;;) {
          const page = await store.list({ prefix: 'a/', limit: 3, count, ...(after === undefined ? {} : { after }) });
          seen.push(...page.entries.map(({ key }) => key));
          expect(page.remaining).toBe(count ? all.length - seen.length : undefined);
          expect(page.more).toBe(seen.length < all.length);
          if (!page.more) break;
          after = page.entries.at(-1)?.key;
        }
        expect(seen).toEqual(all);
      },
    );
    test('after need not be an existing key', async () => {
      await write(put('a/1'), put('a/3'));
      const { entries } = await store.list({ prefix: 'a/', after: 'a/2' });
      expect(entries.map(({ key }) => key)).toEqual(['a/3']);
    });
    test('after outside of the prefix is invalid', async () => {
      await expect(store.list({ prefix: 'a/', after: 'b' })).rejects.toMatchObject({ code: 'invalid' });
    });
    test('limit 0 returns only the count', async () => {
      await write(put('a/1'), put('a/2'));
      const found = await store.list({ prefix: 'a/', limit: 0, count: true });
      expect(found).toMatchObject({ entries: [], more: true, remaining: 2 });
    });
    test.each([-1, 1.5, Number.NaN])('limit %s is invalid', async (limit) => {
      await expect(store.list({ prefix: '', limit })).rejects.toMatchObject({ code: 'invalid' });
    });
    test('deleted keys are neither listed nor counted', async () => {
      await write(put('a/1'), put('a/2'), put('a/3'), put('a/4'));
      await write({ key: 'a/2' }, { key: 'a/4' });
      const page = await store.list({ prefix: 'a/', limit: 1, count: true });
      expect(page).toMatchObject({ entries: [{ key: 'a/1' }], remaining: 1 });
      expect(await store.list({ prefix: 'a/', limit: 2 })).toMatchObject({ more: false });
    });
    test('at a past revision it has keys deleted since, none created since, and pages', async () => {
      await write(put('a/1', 'old'), put('a/2', 'gone'), put('a/3', 'same'));
      const past = await store.revision();
      await write(put('a/1', 'new'), { key: 'a/2' }, put('a/0', 'late'));
      const { entries, revision } = await store.list({ prefix: 'a/', revision: past });
      expect(entries.map((e) => [e.key, text(e)])).toEqual([
        ['a/1', 'old'],
        ['a/2', 'gone'],
        ['a/3', 'same'],
      ]);
      expect(revision).toBe(past);
      const page = await store.list({ prefix: 'a/', revision: past, after: 'a/1', limit: 1, count: true });
      expect(page).toMatchObject({ entries: [{ key: 'a/2' }], remaining: 1, revision: past });
    });
    test('a page ends where its values reach 8 MiB', async () => {
      const value = new Uint8Array(1_000_000);
      const all = Array.from({ length: 20 }, (_, i) => `a/${i + 10}`);
      for (const key of all) await write({ key, value });
      await write({ key: 'a/10', value: new Uint8Array() });
      const past = await store.revision();
      for (const limit of [undefined, 100]) {
        const seen: string[] = [];
        for (let [more, after] = [true, ''] as [boolean, string | undefined]; more; ) {
          const range = { prefix: 'a/', revision: past, ...(after && { after }), ...(limit && { limit }) };
          const page = await store.list({ ...range, count: true });
          seen.push(...page.entries.map(({ key }) => key));
          expect(page.entries.length).toBeGreaterThan(0);
          const sizes = page.entries.map((entry) => entry.value.length);
          expect(sizes.slice(0, -1).reduce((sum, size) => sum + size, 0)).toBeLessThan(pageBytes);
          expect([page.more, page.remaining]).toEqual([seen.length < all.length, all.length - seen.length]);
          ({ more } = page);
          after = seen.at(-1);
          await write(put('a/29', 'later'), put(`a/30${seen.length}`));
        }
        expect(seen).toEqual(all);
      }
    });
    test('at a future revision', async () => {
      const latest = await store.revision();
      await expect(store.list({ prefix: '', revision: latest + 1 })).rejects.toMatchObject({
        code: 'future',
        revision: latest,
      });
    });
    test('is consistent at one revision while commits run', async () => {
      const all = Array.from({ length: 3000 }, (_, i) => `a/${String(i).padStart(4, '0')}`);
      for (let i = 0; i < all.length; i += 100) await write(...all.slice(i, i + 100).map((key) => put(key, 'old')));
      const listing = store.list({ prefix: 'a/' });
      const changed = all.slice(-50);
      const commits = changed.map((key) => store.commit([], [put(key, 'new'), put(`${key}x`, 'new')]));
      const { entries, revision } = await listing;
      const seen = (await Promise.all(commits)).map((commit) => commit.revision <= revision);
      const expected = all.flatMap((key) =>
        seen[changed.indexOf(key)]
          ? [
              [key, 'new'],
              [`${key}x`, 'new'],
            ]
          : [[key, 'old']],
      );
      expect(entries.map((entry) => [entry.key, text(entry)])).toEqual(expected);
      expect(entries.every((entry) => entry.revision <= revision)).toBe(true);
    });
  });
}
