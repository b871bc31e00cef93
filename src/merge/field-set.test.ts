import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../meta/index.ts';
import {
  anyElement,
  countPaths,
  difference,
  equalSets,
  type FieldSet,
  has,
  intersection,
  isEmpty,
  leaf,
  pathsOf,
  recursiveDifference,
  selectPaths,
  setOf,
  union,
  unionOf,
} from './field-set.ts';
import { maxFieldSetDepth, maxFieldSetElements, parseFieldsV1, parseFieldsV1InSteps, toFieldsV1 } from './fields-v1.ts';
import { canonicalElement, entryElement, fieldPath, type Path, pathText, valueElement } from './path.ts';

const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'k:{"name":"y"}', 'v:"x"', 'v:1', 'i:0');
const path: fc.Arbitrary<Path> = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 8 });

/** A set as the texts of its paths: the model of each operation. */
const model = (set: FieldSet) => new Set([...pathsOf(set)].map((p) => p.join(' ')));
const modelOf = (list: readonly Path[]) => new Set(list.map((p) => p.join(' ')));
const list = (set: ReadonlySet<string>) => [...set].sort();
const below = (p: string, set: ReadonlySet<string>) => [...set].some((q) => p === q || p.startsWith(`${q} `));

type Check = (a: FieldSet, b: FieldSet, modelA: Set<string>, modelB: Set<string>) => void;

/** Paths of which many share a parent. */
const crowd: fc.Arbitrary<Path[]> = fc
  .tuple(path, fc.subarray(Array.from({ length: 250 }, (_, i) => `f:${i}`)), paths)
  .map(([place, elements, more]) => [...elements.map((e) => [...place, e]), ...more]);

/** Runs a check on pairs of small and large sets and their models. */
const pairs = (check: Check) => {
  const run = (x: readonly Path[], y: readonly Path[]) => check(setOf(...x), setOf(...y), modelOf(x), modelOf(y));
  fc.assert(fc.property(paths, paths, run), { numRuns: 200 });
  fc.assert(fc.property(crowd, fc.oneof(crowd, paths), run), { numRuns: 20 });
  fc.assert(fc.property(paths, crowd, run), { numRuns: 10 });
};

describe('field sets, compared with sets of paths', () => {
  it('contain the paths they are built from', () => {
    pairs((a, b, x) => {
      expect(list(model(a))).toEqual(list(x));
      expect(isEmpty(a)).toBe(x.size === 0);
      for (const p of pathsOf(b)) expect(has(a, p)).toBe(x.has(p.join(' ')));
    });
  });
  it('union', () => {
    pairs((a, b, x, y) => {
      expect(list(model(union(a, b)))).toEqual(list(new Set([...x, ...y])));
      expect(equalSets(union(a, b), union(b, a))).toBe(true);
      expect(union(a, a)).toBe(a);
    });
  });
  it('union of any number', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(paths, { arbitrary: crowd, weight: 1 }), { maxLength: 5 }), (lists) => {
        const sets = lists.map((x) => setOf(...x));
        expect(list(model(unionOf(sets)))).toEqual(list(modelOf(lists.flat())));
        expect(equalSets(unionOf(sets), sets.reduce(union, leaf))).toBe(true);
      }),
    );
  });
  it('count of paths', () => {
    pairs((a, _, x) => {
      expect(countPaths(a)).toBe(x.size);
    });
  });
  it('intersection', () => {
    pairs((a, b, x, y) => {
      expect(list(model(intersection(a, b)))).toEqual(list(new Set([...x].filter((p) => y.has(p)))));
      expect(equalSets(intersection(a, b), intersection(b, a))).toBe(true);
    });
  });
  it('selectPaths', () => {
    const pattern: fc.Arbitrary<Path> = fc.array(fc.oneof(element, fc.constant(anyElement)), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(paths, fc.array(pattern, { maxLength: 3 }), (x, patterns) => {
        const lies = (p: Path) =>
          patterns.some(
            (way) => way.length <= p.length && way.every((step, i) => step === anyElement || step === p[i]),
          );
        const kept = x.filter(lies);
        expect(list(model(selectPaths(setOf(...x), patterns)))).toEqual(list(modelOf(kept)));
      }),
      { numRuns: 200 },
    );
  });
  it('difference', () => {
    pairs((a, b, x, y) => {
      const left = difference(a, b);
      expect(list(model(left))).toEqual(list(new Set([...x].filter((p) => !y.has(p)))));
      if (isEmpty(intersection(a, b))) expect(left).toBe(a);
      expect(isEmpty(intersection(left, b))).toBe(true);
      expect(equalSets(union(left, intersection(a, b)), a)).toBe(true);
    });
  });
  it('recursive difference', () => {
    pairs((a, b, x, y) => {
      expect(list(model(recursiveDifference(a, b)))).toEqual(list(new Set([...x].filter((p) => !below(p, y)))));
    });
  });
  it('equality', () => {
    pairs((a, b, x, y) => {
      expect(equalSets(a, b)).toBe(list(x).join() === list(y).join());
    });
  });
  it('are not changed by any operation', () => {
    pairs((a, b) => {
      const before = JSON.stringify([a, b]);
      for (const op of [union, intersection, difference, recursiveDifference]) op(a, b);
      expect(JSON.stringify([a, b])).toBe(before);
      expect(leaf).toEqual({});
    });
  });
});

describe('fieldsV1', () => {
  it('decodes to the encoded set', () => {
    pairs((a) => {
      expect(equalSets(parseFieldsV1(JSON.parse(JSON.stringify(toFieldsV1(a))) as Json), a)).toBe(true);
    });
  });
  it('is canonical', () => {
    fc.assert(
      fc.property(
        paths.chain((x) => fc.tuple(fc.constant(x), fc.shuffledSubarray(x, { minLength: x.length }))),
        ([x, y]) => {
          expect(JSON.stringify(toFieldsV1(setOf(...y)))).toBe(JSON.stringify(toFieldsV1(setOf(...x))));
        },
      ),
    );
  });
  it('copies nothing when the set is sorted', () => {
    const set = { 'f:a': leaf, 'f:b': { '.': leaf, 'f:c': leaf } };
    expect(toFieldsV1(set)).toBe(set);
  });
  it('has "." first, then the elements in order', () => {
    const set = union(setOf(fieldPath('b', 'z'), fieldPath('b', 'a'), fieldPath('a')), setOf(fieldPath('b')));
    expect(JSON.stringify(toFieldsV1(set))).toBe('{"f:a":{},"f:b":{".":{},"f:a":{},"f:z":{}}}');
  });

  it.each([
    ['nothing', undefined, 'a node is not an object'],
    ['a list', [], 'a node is not an object'],
    ['a scalar below', { 'f:a': 1 }, 'a node is not an object'],
    ['an element of no kind', { a: {} }, '"a" is not a path element'],
    ['__proto__', JSON.parse('{"__proto__":{}}'), '"__proto__" is not a path element'],
    ['a broken key', { 'k:{': {} }, '"k:{" is not a path element'],
    ['a key without fields', { 'k:{}': {} }, '"k:{}" is not a path element'],
    ['a key that is not an object', { 'k:1': {} }, '"k:1" is not a path element'],
    ['a broken value', { 'v:x': {} }, '"v:x" is not a path element'],
    ['an index that is none', { 'i:x': {} }, '"i:x" is not a path element'],
    ['a negative index', { 'i:-1': {} }, '"i:-1" is not a path element'],
    [
      'a value that nests too deep',
      { [`v:${'['.repeat(1e4)}${']'.repeat(1e4)}`]: {} },
      `"v:${'['.repeat(98)}" is not a path element`,
    ],
    [
      'a key that nests too deep',
      { [`k:{"a":${'['.repeat(1e4)}${']'.repeat(1e4)}}`]: {} },
      `${JSON.stringify(`k:{"a":${'['.repeat(93)}`)} is not a path element`,
    ],
    ['the outermost node itself', { '.': {} }, 'the outermost node cannot be a member'],
    ['something below "."', { 'f:a': { '.': { 'f:b': {} } } }, 'the member "." is not {}'],
    ['the same element twice', { 'k:{"a":1}': {}, 'k:{ "a":1}': {} }, '"k:{\\"a\\":1}" is there twice'],
  ])('refuses %s', (_, wire, why) => {
    expect(() => parseFieldsV1(wire as Json)).toThrow(
      expect.objectContaining({ code: 400, message: `fieldsV1 is not a set of fields: ${why}` }) as Error,
    );
  });
  it('refuses a set that is too deep', () => {
    const deep = (levels: number) => JSON.parse(`${'{"f:a":'.repeat(levels)}{}${'}'.repeat(levels)}`) as Json;
    expect(() => parseFieldsV1(deep(maxFieldSetDepth + 1))).toThrow('deeper than 500 levels');
    expect(isEmpty(parseFieldsV1(deep(maxFieldSetDepth)))).toBe(false);
  });
  it('refuses a set that is too large', () => {
    const wide = Object.fromEntries(Array.from({ length: maxFieldSetElements + 1 }, (_, i) => [`f:${i}`, {}]));
    expect(() => parseFieldsV1(wide)).toThrow('more than 200000 elements');
  });
  it('takes steps for long keys and values of entries', () => {
    const keysOf = (i: number) => JSON.stringify({ name: `${i}`.padStart(40_000, 'x') });
    const wire = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k:${keysOf(i)}`, {}]));
    const steps = parseFieldsV1InSteps(wire);
    let count = 0;
    while (steps.next().done !== true) count++;
    expect(count).toBeGreaterThanOrEqual(5);
  });

  it('has values of any length that are texts, and others up to a length', () => {
    const text = `v:"${'x'.repeat(100_000)}"`;
    expect(parseFieldsV1({ [text]: {} })).toEqual({ [text]: {} });
    for (const start of ['k', 'v']) {
      expect(() => parseFieldsV1({ [`${start}:{"a":"${'x'.repeat(100_000)}"}`]: {} })).toThrow('is not a path element');
    }
  });

  it('reads a node with "." alone as an empty node', () => {
    expect(parseFieldsV1({ 'f:a': { '.': {} } })).toEqual({ 'f:a': {} });
    expect(parseFieldsV1({})).toBe(leaf);
  });
});

describe('path elements', () => {
  it.each([
    ['f:name', 'f:name', '.name'],
    ['k:{"name":"a"}', 'k:{"name":"a"}', '[name="a"]'],
    ['k:{ "protocol": "TCP", "port": 80 }', 'k:{"port":80,"protocol":"TCP"}', '[port=80,protocol="TCP"]'],
    ['v:"x"', 'v:"x"', '[="x"]'],
    ['v: 1', 'v:1', '[=1]'],
    ['v:true', 'v:true', '[=true]'],
    ['v:9007199254740993', 'v:9007199254740993', '[=9007199254740993]'],
    ['i:3', 'i:3', '[3]'],
    ['f:', 'f:', '.'],
  ])('%s', (text, canonical, shown) => {
    expect(canonicalElement(text)).toBe(canonical);
    expect(pathText([canonical])).toBe(shown);
  });
  it('encodes keys sorted by name, with defaults', () => {
    const keys = [
      { name: 'port', label: '"port":', default: undefined },
      { name: 'protocol', label: '"protocol":', default: 'TCP' },
    ];
    expect(entryElement(keys, { name: 'x', port: 80 })).toBe('k:{"port":80,"protocol":"TCP"}');
    expect(entryElement(keys, { port: 80, protocol: 'UDP' })).toBe('k:{"port":80,"protocol":"UDP"}');
    expect(() => entryElement(keys, {})).toThrow('has an element that omits key field "port"');
    expect(entryElement(keys, 'x')).toBe(valueElement('x'));
  });
});
