import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CachedObject } from '../../cache/index.ts';
import type { ByteString } from '../../meta/index.ts';
import { type Row, RowCache } from './row-cache.ts';

const columns = [{}, {}];
const rowOf = (text: string): Row => [text as ByteString, 1, ']' as ByteString];
const objectOf = (name: string) => ({ name }) as CachedObject;

it('returns the row that was kept for an object and its columns, or none, and never exceeds its limit', () => {
  const step = fc.record({ object: fc.nat(9), of: fc.nat(1), length: fc.nat(400), reads: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const cache = new RowCache(2_000);
      const objects = Array.from({ length: 10 }, (_, i) => objectOf(String(i)));
      const last = new Map<CachedObject, { readonly row: Row; readonly of: object }>();
      for (const { object: index, of: which, length, reads } of steps) {
        const object = objects[index] as CachedObject;
        const of = columns[which] as object;
        const known = last.get(object);
        if (reads) {
          const row = cache.get(object, of);
          if (row !== undefined) expect(known).toEqual({ row, of });
        } else {
          const row = rowOf('x'.repeat(length));
          cache.set(object, of, row);
          last.set(object, { row, of });
          expect(cache.get(object, of)).toBe(row);
        }
        expect(cache.bytes).toBeLessThanOrEqual(2_000);
      }
    }),
  );
});

it('keeps rows that are read, and drops those that are not, when it is full', () => {
  const cache = new RowCache(4_000);
  const of = {};
  const [read, unread] = [objectOf('read'), objectOf('unread')];
  for (const object of [read, unread]) cache.set(object, of, rowOf('first'));
  for (let i = 0; i < 100; i++) {
    cache.set(objectOf(String(i)), of, rowOf('other'));
    expect(cache.get(read, of)).toEqual(rowOf('first'));
  }
  expect(cache.has(unread, of)).toBe(false);
  expect(cache.get(unread, of)).toBeUndefined();
});

it('does not keep a row that is larger than half of its limit', () => {
  const cache = new RowCache(1_000);
  const object = objectOf('large');
  cache.set(object, columns, rowOf('x'.repeat(500)));
  expect(cache.has(object, columns)).toBe(false);
  expect(cache.bytes).toBe(0);
});
