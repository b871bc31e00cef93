import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BTree, type BTreeSnapshot, needsUtf8Order, plainBefore, utf8Before } from './btree.ts';

interface Item {
  readonly key: string;
  readonly revision: number;
}

const item = (key: string, revision = 1): Item => ({ key, revision });
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const keysOf = (items: Iterable<Item>) => [...items].map(({ key }) => key);

/** Compares every read of a snapshot with a sorted list of the same keys. */
function expectSnapshot(snapshot: BTreeSnapshot<Item>, keys: readonly string[], probes: readonly string[]): void {
  const sorted = [...keys].sort(byBytes);
  for (const probe of [...probes, '']) {
    expect(snapshot.get(probe)?.key).toBe(keys.includes(probe) ? probe : undefined);
    for (const after of [undefined, ...probes]) {
      const expected = sorted.filter(
        (key) => key.startsWith(probe) && (after === undefined || byBytes(key, after) > 0),
      );
      expect(keysOf(snapshot.range(probe, after))).toEqual(expected);
      expect(snapshot.count(probe, after)).toBe(expected.length);
    }
  }
}

describe('key order', () => {
  // Characters above U+FFFF are surrogates (U+D800..DFFF) in a string, and sort above U+E000..FFFF in UTF-8.
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'é', '\uE000', '\uFFFD', '😀', '𐀀'), maxLength: 6 });

  it('is the order of UTF-8 bytes', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(utf8Before(a, b)).toBe(byBytes(a, b) < 0);
      }),
    );
  });

  it('is `<` unless both keys need the UTF-8 order', () => {
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

describe('BTree', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'é', '\uE000', '😀'), minLength: 1, maxLength: 4 });
  const write = fc.record({ key, remove: fc.boolean(), snap: fc.nat(9).map((n) => n === 0) });

  it('reads like a sorted list, and later writes do not change a snapshot', () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 60 }), fc.array(key, { maxLength: 3 }), (writes, probes) => {
        const tree = new BTree<Item>();
        const model = new Set<string>();
        const snapshots: [BTreeSnapshot<Item>, string[]][] = [];
        for (const { key, remove, snap } of writes) {
          expect(remove ? tree.delete(key) : tree.set(item(key))).toEqual(model.has(key) ? item(key) : undefined);
          if (remove) model.delete(key);
          else model.add(key);
          if (snap) snapshots.push([tree.snapshot(), [...model]]);
        }
        expect(tree.size).toBe(model.size);
        for (const [snapshot, keys] of [...snapshots, [tree.snapshot(), [...model]] as const])
          expectSnapshot(snapshot, keys, probes);
      }),
      { numRuns: 50 },
    );
  });

  it('stays ordered through thousands of random inserts and deletes', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    const tree = new BTree<Item>();
    const model = new Set<string>();
    const snapshots: [BTreeSnapshot<Item>, string[]][] = [];
    for (let i = 0; i < 30_000; i++) {
      // Grows to thousands, shrinks to nothing, grows again: nodes are split, merged and removed.
      const shrinking = i % 12_000 > 7_000;
      const key = `/${random(40)}/${random(200)}`;
      const remove = random(10) < (shrinking ? 9 : 2);
      if (remove) {
        for (const victim of [key, ...(shrinking ? [...model].slice(0, 1) : [])]) {
          expect(tree.delete(victim) !== undefined).toBe(model.delete(victim));
        }
      } else {
        tree.set(item(key, i));
        model.add(key);
      }
      if (i % 3_000 === 0) snapshots.push([tree.snapshot(), [...model].sort(byBytes)]);
    }
    snapshots.push([tree.snapshot(), [...model].sort(byBytes)]);
    expect(Math.max(...snapshots.map(([, keys]) => keys.length))).toBeGreaterThan(2_000);
    for (const [snapshot, keys] of snapshots) {
      expect(keysOf(snapshot.range('', undefined))).toEqual(keys);
      const below = keys.filter((key) => key.startsWith('/1/'));
      expect(keysOf(snapshot.range('/1/', undefined))).toEqual(below);
      expect(snapshot.count('/1/', below[10])).toBe(Math.max(0, below.length - 11));
    }
  });

  it('finds every key while it grows to three levels and shrinks again', () => {
    // 7919 has no factor in common with 20,000: every number comes once, in no apparent order.
    const keys = Array.from({ length: 20_000 }, (_, i) => String((i * 7_919) % 20_000).padStart(5, '0'));
    const tree = new BTree<Item>();
    const left = new Set<string>();
    const check = () => {
      const sorted = [...left].sort(byBytes);
      const snapshot = tree.snapshot();
      expect(keysOf(snapshot.range('', undefined))).toEqual(sorted);
      expect(snapshot.count('', '10000')).toBe(sorted.filter((key) => key > '10000').length);
      expect(sorted.every((key) => snapshot.get(key)?.key === key)).toBe(true);
    };
    const add = (key: string) => {
      tree.set(item(key));
      left.add(key);
    };
    const remove = (key: string) => {
      expect(tree.delete(key)?.key).toBe(key);
      left.delete(key);
    };
    keys.forEach(add);
    // The lowest 900 of each thousand: first children of nodes are removed, and lower keys are inserted again.
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

  it('returns the replaced or deleted item', () => {
    const tree = new BTree<Item>();
    const first = item('a', 1);
    const second = item('a', 2);
    tree.set(first);
    const snapshot = tree.snapshot();
    expect(tree.set(second)).toBe(first);
    expect(tree.get('a')).toBe(second);
    expect(snapshot.get('a')).toBe(first);
    expect(tree.delete('a')).toBe(second);
    expect(tree.delete('a')).toBeUndefined();
  });

  it('reads a range lazily and from the state of its snapshot', () => {
    const tree = new BTree<Item>();
    for (let i = 0; i < 1_000; i++) tree.set(item(String(i).padStart(4, '0')));
    const range = tree.snapshot().range('', undefined);
    expect(range.next().value.key).toBe('0000');
    for (let i = 0; i < 1_000; i++) tree.delete(String(i).padStart(4, '0'));
    expect(keysOf(range)).toHaveLength(999);
  });
});
