import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ByteString } from '../meta/index.ts';
import { needsUtf8Order, plainBefore, utf8Before } from './key-order.ts';
import { Tree, type TreeView } from './tree.ts';
import type { CachedObject } from './types.ts';

const object = (key: string, revision = 1): CachedObject => ({
  key,
  namespace: '',
  name: key,
  revision,
  bytes: '' as ByteString,
  labels: {},
  fields: {},
});
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const keysOf = (objects: Iterable<CachedObject>) => [...objects].map(({ key }) => key);

/** Every answer of a view against a plain sorted list of the same keys. */
function expectView(view: TreeView, keys: readonly string[], probes: readonly string[]): void {
  const sorted = [...keys].sort(byBytes);
  for (const probe of [...probes, '']) {
    expect(view.get(probe)?.key).toBe(keys.includes(probe) ? probe : undefined);
    for (const after of [undefined, ...probes]) {
      const expected = sorted.filter(
        (key) => key.startsWith(probe) && (after === undefined || byBytes(key, after) > 0),
      );
      expect(keysOf(view.range(probe, after))).toEqual(expected);
      expect(view.count(probe, after)).toBe(expected.length);
    }
  }
}

describe('key order', () => {
  // Surrogates (U+D800..DFFF) stand for characters that take four bytes, U+E000..FFFF take three.
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'é', '\uE000', '\uFFFD', '😀', '𐀀'), maxLength: 6 });

  it('is that of UTF-8 bytes', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(utf8Before(a, b)).toBe(byBytes(a, b) < 0);
      }),
    );
  });

  it('is the plain one unless both keys have high characters', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        if (needsUtf8Order(a) && needsUtf8Order(b)) return;
        expect(plainBefore(a, b)).toBe(byBytes(a, b) < 0);
      }),
    );
    expect(plainBefore('\uE000', '😀')).toBe(false);
    expect(utf8Before('\uE000', '😀')).toBe(true);
  });
});

describe('Tree', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'é', '\uE000', '😀'), minLength: 1, maxLength: 4 });
  const write = fc.record({ key, gone: fc.boolean(), look: fc.nat(9).map((n) => n === 0) });

  it('answers as a sorted list does, and views stay as they were', () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 60 }), fc.array(key, { maxLength: 3 }), (writes, probes) => {
        const tree = new Tree();
        const model = new Set<string>();
        const views: [TreeView, string[]][] = [];
        for (const { key, gone, look } of writes) {
          expect(gone ? tree.delete(key) : tree.set(object(key))).toEqual(model.has(key) ? object(key) : undefined);
          if (gone) model.delete(key);
          else model.add(key);
          if (look) views.push([tree.view(), [...model]]);
        }
        expect(tree.size).toBe(model.size);
        for (const [view, keys] of [...views, [tree.view(), [...model]] as const]) expectView(view, keys, probes);
      }),
      { numRuns: 50 },
    );
  });

  it('keeps its order through thousands of inserts and deletes in any order', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    const tree = new Tree();
    const model = new Set<string>();
    const snapshots: [TreeView, string[]][] = [];
    for (let i = 0; i < 30_000; i++) {
      // Grows to thousands, shrinks to nothing, grows again: nodes split, join, vanish.
      const shrinking = i % 12_000 > 7_000;
      const key = `/${random(40)}/${random(200)}`;
      const gone = random(10) < (shrinking ? 9 : 2);
      if (gone) {
        for (const victim of [key, ...(shrinking ? [...model].slice(0, 1) : [])]) {
          expect(tree.delete(victim) !== undefined).toBe(model.delete(victim));
        }
      } else {
        tree.set(object(key, i));
        model.add(key);
      }
      if (i % 3_000 === 0) snapshots.push([tree.view(), [...model].sort(byBytes)]);
    }
    snapshots.push([tree.view(), [...model].sort(byBytes)]);
    expect(Math.max(...snapshots.map(([, keys]) => keys.length))).toBeGreaterThan(2_000);
    for (const [view, keys] of snapshots) {
      expect(keysOf(view.range('', undefined))).toEqual(keys);
      const below = keys.filter((key) => key.startsWith('/1/'));
      expect(keysOf(view.range('/1/', undefined))).toEqual(below);
      expect(view.count('/1/', below[10])).toBe(Math.max(0, below.length - 11));
    }
  });

  it('grows to three levels and shrinks again without losing its way', () => {
    // 7919 has no factor in common with 20,000: every number comes once, in no apparent order.
    const keys = Array.from({ length: 20_000 }, (_, i) => String((i * 7_919) % 20_000).padStart(5, '0'));
    const tree = new Tree();
    const left = new Set<string>();
    const check = () => {
      const sorted = [...left].sort(byBytes);
      const view = tree.view();
      expect(keysOf(view.range('', undefined))).toEqual(sorted);
      expect(view.count('', '10000')).toBe(sorted.filter((key) => key > '10000').length);
      expect(sorted.every((key) => view.get(key)?.key === key)).toBe(true);
    };
    const add = (key: string) => {
      tree.set(object(key));
      left.add(key);
    };
    const remove = (key: string) => {
      expect(tree.delete(key)?.key).toBe(key);
      left.delete(key);
    };
    keys.forEach(add);
    // From the front of each thousand: first children vanish, and come back from below.
    const fronts = keys.filter((key) => Number(key.slice(2)) < 900).sort(byBytes);
    fronts.forEach(remove);
    check();
    fronts.reverse().forEach(add);
    check();
    for (const [i, key] of keys.entries()) {
      remove(key);
      if (i % 2_999 === 0) check();
    }
    expect(tree.size).toBe(0);
  });

  it('gives the old object back and the new one from then on', () => {
    const tree = new Tree();
    const first = object('a', 1);
    const second = object('a', 2);
    tree.set(first);
    const view = tree.view();
    expect(tree.set(second)).toBe(first);
    expect(tree.get('a')).toBe(second);
    expect(view.get('a')).toBe(first);
    expect(tree.delete('a')).toBe(second);
    expect(tree.delete('a')).toBeUndefined();
  });

  it('reads a range as it is asked for', () => {
    const tree = new Tree();
    for (let i = 0; i < 1_000; i++) tree.set(object(String(i).padStart(4, '0')));
    const range = tree.view().range('', undefined);
    expect(range.next().value.key).toBe('0000');
    for (let i = 0; i < 1_000; i++) tree.delete(String(i).padStart(4, '0'));
    expect(keysOf(range)).toHaveLength(999);
  });
});
