import { describe, expect, test } from 'vitest';
import { put, shown, type Tools } from './tools.ts';

/** How late a key may expire (ms) after its time to live of at most 20 seconds. */
const lateMs = 1_000;

/** Keys with a time to live. */
export function leaseCases({ store, advance, passUntil, elapsed, realTime, write, read, keys, watch }: Tools): void {
  describe('lease', () => {
    test('an expired key is deleted in a commit, which watches deliver, not too early and not too late', async () => {
      const start = await store.revision();
      const seen = watch('', start);
      const began = elapsed();
      const revision = await write({ ...put('a', 'short'), ttl: 3 }, put('b'));
      await passUntil(seen, () => seen.commits.length === 2);
      const passed = elapsed() - began;
      expect(seen.commits[1]?.changes.map(shown)).toEqual([['a', undefined, 'short']]);
      expect(seen.revisions).toEqual([revision, revision + 1]);
      expect(await keys('')).toEqual(['b']);
      expect(await read('a', revision)).toBe('short');
      expect(passed).toBeGreaterThanOrEqual(3_000);
      if (!realTime()) expect(passed).toBeLessThanOrEqual(3_000 + lateMs);
    });
    test('writing the key again renews or removes its lease', async () => {
      await write({ ...put('renewed'), ttl: 3 }, { ...put('freed'), ttl: 3 });
      await advance(1000);
      await write({ ...put('renewed', 'again'), ttl: 12 }, put('freed'));
      const seen = watch('', await store.revision());
      await advance(3500);
      expect(await keys('')).toEqual(['freed', 'renewed']);
      await passUntil(seen, () => seen.commits.length > 0);
      expect(seen.changes).toEqual([['renewed', undefined, 'again']]);
      expect(await keys('')).toEqual(['freed']);
    });
    test('a key that is deleted and recreated without a lease stays', async () => {
      await write({ ...put('a'), ttl: 1 });
      await write({ key: 'a' });
      await write(put('a', 'stays'), { ...put('b'), ttl: 2 });
      const seen = watch('b', await store.revision());
      await passUntil(seen, () => seen.commits.length > 0);
      expect(await read('a')).toBe('stays');
    });
    test('of several writes of one key in flight the lease of the last one counts', async () => {
      const results = await Promise.all([
        store.commit([], [{ ...put('a', 'first'), ttl: 1 }]),
        store.commit([], [{ ...put('a', 'second'), ttl: 2 }]),
        store.commit([], [put('a', 'kept'), { ...put('b'), ttl: 3 }]),
      ]);
      const seen = watch('', Math.max(...results.map(({ revision }) => revision)));
      const last = await read('a');
      const left = last === 'kept' ? ['a'] : [];
      await passUntil(seen, () => seen.changes.length === 2 - left.length);
      expect(await keys('')).toEqual(left);
    });
    test('many keys expire, each once', async () => {
      const start = await store.revision();
      await Promise.all(Array.from({ length: 700 }, (_, i) => store.commit([], [{ ...put(`a/${i}`), ttl: 1 }])));
      // On a busy machine the first ones expire while the last ones are written.
      const seen = watch('a/', start);
      const gone = () => seen.commits.flatMap(({ changes }) => changes).filter(({ entry }) => entry === undefined);
      await passUntil(seen, () => gone().length >= 700);
      expect([gone().length, new Set(gone().map(({ key }) => key)).size]).toEqual([700, 700]);
      expect(await keys('')).toEqual([]);
    });
    test.each([0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('of %s seconds is invalid', async (ttl) => {
      await expect(store.commit([], [{ ...put('a'), ttl }])).rejects.toMatchObject({ code: 'invalid' });
    });
    test('on a deletion is invalid', async () => {
      await expect(store.commit([], [{ key: 'a', ttl: 5 }])).rejects.toMatchObject({ code: 'invalid' });
    });
  });
}
