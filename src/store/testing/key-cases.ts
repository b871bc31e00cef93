import { describe, expect, test } from 'vitest';
import { StoreError } from '../store.ts';
import { absent, bytes, put, type Tools } from './tools.ts';

/** Valid keys and values, and key order. */
export function keyCases({ store, write, read, keys, watch }: Tools): void {
  describe('keys and values', () => {
    test('all 256 byte values are kept', async () => {
      const value = Uint8Array.from({ length: 256 }, (_, i) => i);
      await write({ key: 'a', value });
      expect(Uint8Array.from((await store.get('a')).entry?.value ?? [])).toEqual(value);
    });
    test('an empty value is not a deletion', async () => {
      const revision = await write({ key: 'a', value: new Uint8Array() });
      const { entry } = await store.get('a');
      expect(entry).toMatchObject({ key: 'a', revision });
      expect(entry?.value.length).toBe(0);
      expect((await store.list({ prefix: 'a' })).entries[0]?.value.length).toBe(0);
    });
    test('the largest value is a MiB or more, and is kept', async () => {
      expect(store.maxValueBytes).toBeGreaterThanOrEqual(1024 * 1024);
      const [one, two] = [31, 37].map((n) => Uint8Array.from({ length: store.maxValueBytes }, (_, i) => (i * n) & 255));
      const revision = await write({ key: 'big', value: one as Uint8Array });
      expect(Buffer.compare((await store.get('big')).entry?.value ?? bytes(''), one as Uint8Array)).toBe(0);
      const { entries } = await store.list({ prefix: 'b' });
      expect(Buffer.compare(entries[0]?.value ?? bytes(''), one as Uint8Array)).toBe(0);
      const last = await write({ key: 'big', value: two as Uint8Array });
      const seen = watch('big', revision);
      await seen.reached(last);
      const [change] = seen.commits[0]?.changes ?? [];
      expect(Buffer.compare(change?.entry?.value ?? bytes(''), two as Uint8Array)).toBe(0);
      expect(Buffer.compare(change?.previous?.value ?? bytes(''), one as Uint8Array)).toBe(0);
    });
    test('a larger value is invalid and nothing is written', async () => {
      const before = await store.revision();
      const value = new Uint8Array(store.maxValueBytes + 1);
      await expect(store.commit([], [put('a'), { key: 'b', value }])).rejects.toMatchObject({ code: 'invalid' });
      expect(await keys('')).toEqual([]);
      expect(await store.revision()).toBe(before);
    });
    test('several large values are committed at once, or are invalid and nothing is written', async () => {
      const before = await store.revision();
      const large = ['a', 'b', 'c'].map((key) => ({ key, value: new Uint8Array(store.maxValueBytes) }));
      const result = await store.commit([], large).catch((error: unknown) => error);
      if (result instanceof StoreError) expect(result.code).toBe('invalid');
      else expect(result).toEqual({ ok: true, revision: before + 1 });
      expect(await keys('')).toEqual(result instanceof StoreError ? [] : ['a', 'b', 'c']);
    });
    test('only the view of a larger buffer is stored', async () => {
      await write({ key: 'a', value: bytes('abcdef').subarray(2, 4) });
      expect(await read('a')).toBe('cd');
    });
    test('changing a buffer after the call does not change the stored value', async () => {
      const value = bytes('before');
      const commit = store.commit([], [{ key: 'a', value }]);
      value.fill(0);
      await commit;
      expect(await read('a')).toBe('before');
    });
    test.each([1023, 1024, 1025, 1977, 1978, 1979, 4000, 16 * 1024])('a key of %d bytes', async (length) => {
      const key = 'k'.repeat(length);
      const revision = await write(put(key, 'one'));
      expect(await read(key)).toBe('one');
      expect(await keys('k')).toEqual([key]);
      expect(await store.commit([absent(key)], [put(key)])).toMatchObject({ ok: false, found: [{ key, revision }] });
      const two = await write(put(key, 'two'));
      expect(await read(key, revision)).toBe('one');
      const seen = watch(key, revision - 1);
      await seen.reached(two);
      expect(seen.changes).toEqual([
        [key, 'one', undefined],
        [key, 'two', 'one'],
      ]);
      await write({ key });
      expect(await keys('')).toEqual([]);
    });
    test('a key over 16 KiB is invalid, counted in bytes', async () => {
      const long = 'k'.repeat(16 * 1024 + 1);
      const wide = 'é'.repeat(8 * 1024 + 1);
      for (const key of [long, wide]) {
        await expect(store.commit([], [put(key)])).rejects.toMatchObject({ code: 'invalid' });
        await expect(store.get(key)).rejects.toMatchObject({ code: 'invalid' });
      }
    });
    test('an empty key is invalid', async () => {
      await expect(store.commit([], [put('')])).rejects.toMatchObject({ code: 'invalid' });
      await expect(store.get('')).rejects.toMatchObject({ code: 'invalid' });
    });
    test('dots and slashes have no special meaning in keys: each spelling is a key of its own', async () => {
      const all = ['.', '..', '/', '//', 'a', 'a/', 'a/.', 'a/..', 'a/../a', 'a//', './a', '../a'];
      await write(...all.map((name) => put(name, name)));
      for (const name of all) expect(await read(name)).toBe(name);
      await write({ key: 'a/..' });
      expect(await keys('a/')).toEqual(['a/', 'a/.', 'a/../a', 'a//']);
      expect(await keys('')).toHaveLength(all.length - 1);
    });
    test('an unpaired surrogate in a key is invalid', async () => {
      for (const key of ['\uD800', 'a\uDC00b']) {
        await expect(store.commit([], [put(key)])).rejects.toMatchObject({ code: 'invalid' });
      }
    });
    test('keys such as __proto__ are plain data', async () => {
      await write(put('__proto__', 'p'), put('constructor', 'c'));
      expect(await read('__proto__')).toBe('p');
      expect(await read('constructor')).toBe('c');
      expect(await read('toString')).toBeUndefined();
    });
    test('any well-formed text is kept as a key', async () => {
      const all = ['\0', 'a\0b', ' ', 'é', '中文', '😀', '\uFFFF', 'a\u0080', '\u00ff'];
      await write(...all.map((key) => put(key, key)));
      for (const key of all) expect(await read(key)).toBe(key);
      expect(new Set(await keys(''))).toEqual(new Set(all));
    });
    test('keys are ordered by UTF-8 bytes, not by UTF-16 code units', async () => {
      const ordered = ['z', 'é', '\uD7FF', '\uE000', '\uFFFF', '\u{10000}', '\u{10FFFF}'];
      await write(...ordered.toReversed().map((key) => put(key)));
      expect(await keys('')).toEqual(ordered);
      expect(ordered.toSorted()).not.toEqual(ordered);
    });
    test('long and short keys are listed in one order', async () => {
      const k = 'k'.repeat(1024);
      const ordered = ['k', k.slice(1), k, `${k}\0`, `${k}a`, `${k}${k}`, `${k}${k}b`, `${k}l`, `${k.slice(1)}l`, 'l'];
      expect(ordered.toSorted()).toEqual(ordered);
      await write(...ordered.toReversed().map((key) => put(key)));
      expect(await keys('')).toEqual(ordered);
      for (const [i, after] of ordered.entries()) {
        const { entries, more, remaining } = await store.list({ prefix: '', after, limit: 2, count: true });
        expect(entries.map(({ key }) => key)).toEqual(ordered.slice(i + 1, i + 3));
        const following = Math.max(0, ordered.length - i - 3);
        expect([more, remaining]).toEqual([following > 0, following]);
      }
      expect(await keys(k)).toEqual(ordered.filter((key) => key.startsWith(k)));
      expect(await keys(`${k}${k}`)).toEqual([`${k}${k}`, `${k}${k}b`]);
    });
    test('a list after a long key continues with short ones', async () => {
      const k = 'k'.repeat(1024);
      const after = Array.from({ length: 1100 }, (_, i) => `l/${String(i).padStart(4, '0')}`);
      await write(put(k), put(`${k}a`));
      for (let i = 0; i < after.length; i += 100) await write(...after.slice(i, i + 100).map((key) => put(key)));
      const { entries } = await store.list({ prefix: '', after: `${k}a` });
      expect(entries.map(({ key }) => key)).toEqual(after);
    });
  });
}
