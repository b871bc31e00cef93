import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, jsonCopy, jsonEqual } from '../meta/index.ts';
import { applyMergePatch } from './merge-patch.ts';

describe('RFC 7386, appendix A', () => {
  const cases: [Json, Json, Json][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  it.each(cases)('%j patched with %j gives %j', (document, patch, result) => {
    expect(applyMergePatch(document, patch)).toEqual(result);
  });
});

describe('laws', () => {
  const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);

  it('applied twice it changes no more than applied once', () => {
    fc.assert(
      fc.property(json, json, (document, patch) => {
        const once = applyMergePatch(document, patch);
        expect(jsonEqual(applyMergePatch(once, patch), once)).toBe(true);
      }),
    );
  });

  it('changes neither argument', () => {
    fc.assert(
      fc.property(json, json, (document, patch) => {
        const before = [jsonCopy(document), jsonCopy(patch)];
        applyMergePatch(document, patch);
        expect([document, patch].every((value, i) => jsonEqual(value, before[i]))).toBe(true);
      }),
    );
  });

  it('the empty patch changes no object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), (document) => {
        expect(jsonEqual(applyMergePatch(document, {}), document)).toBe(true);
      }),
    );
  });

  it('keys are plain data', () => {
    const result = applyMergePatch(
      {},
      JSON.parse('{"__proto__":{"x":1},"constructor":{"y":null}}') as Json,
    ) as JsonObject;
    expect(Object.keys(result)).toEqual(['__proto__', 'constructor']);
    expect(result['constructor']).toEqual({});
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(applyMergePatch(result, JSON.parse('{"__proto__":null}') as Json)).toEqual({ constructor: {} });
  });
});
