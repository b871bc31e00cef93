import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, jsonCopy, jsonEqual, StatusError } from '../meta/index.ts';
import {
  applyJsonPatch as applyOperations,
  maxJsonPatchOperations,
  readOperations,
  unknownMembers,
  visitedBy,
} from './json-patch.ts';
import { reasonOfJsonPatch } from './json-patch-errors.ts';

const applyJsonPatch = (document: Json, patch: Json): Json => applyOperations(document, readOperations(patch));

const own = (text: string): Json => JSON.parse(text) as Json;

// The public suite of RFC 6902 (json-patch-tests), one case per line; a case without a result must fail.
const suite = readFileSync(new URL('testing/rfc6902-suite.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n');

interface SuiteCase {
  readonly comment: string;
  readonly doc: Json;
  readonly patch: Json;
  readonly expected?: Json;
}

describe('the public suite of RFC 6902', () => {
  it.each(suite.map((line) => JSON.parse(line) as SuiteCase))('$comment', ({ doc, patch, expected }) => {
    if (expected === undefined) expect(() => applyJsonPatch(doc, patch)).toThrow(StatusError);
    else expect(applyJsonPatch(doc, patch)).toEqual(expected);
  });
});

describe('test of an absent value', () => {
  it('passes for null in an object', () => {
    expect(applyJsonPatch({ a: {} }, [{ op: 'test', path: '/a/b', value: null }])).toEqual({ a: {} });
  });
  it.each<[Json, string, Json]>([
    [{ a: {} }, '/a/b', 1],
    [{ a: {} }, '/b/c', null],
    [{ a: [] }, '/a/0', null],
    [{ a: 'x' }, '/a/b', null],
  ])('fails otherwise: %j %s %j', (document, path, value) => {
    expect(() => applyJsonPatch(document, [{ op: 'test', path, value }])).toThrow(StatusError);
  });
});

describe('decoding of operations', () => {
  it('reports unknown fields', () => {
    const operations = readOperations([
      { op: 'add', path: '/a', value: 1 },
      { op: 'test', 'a"b': 1, OP: 2 },
    ]);
    expect(unknownMembers(operations)).toEqual([
      [1, 'a"b'],
      [1, 'OP'],
    ]);
  });
  it('reports at most 100 unknown fields', () => {
    const odd = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${i}${'k'.repeat(1000)}`, 1]));
    const errors = unknownMembers([{ op: 'test' }, odd]);
    expect(errors).toHaveLength(100);
  });
  it.each(['op', 'path', 'from'])('%s must be a string', (name) => {
    expect(() => unknownMembers([{ [name]: {} }])).toThrow(
      `cannot unmarshal object into Go struct field jsonPatchOp.${name} of type string`,
    );
  });
  it('visitedBy gives the objects on the paths', () => {
    const operations = [
      { op: 'copy', from: '/a/b~1c/d', path: '/e' },
      { op: 'add', path: '/a/x/y', value: 1 },
    ];
    expect(visitedBy(operations)).toEqual({ a: { 'b/c': {}, x: {} } });
  });
});

describe('limits of a patch', () => {
  const nested = (levels: number): Json => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as Json;
  const below = (levels: number) => '/a'.repeat(levels);

  it('a copy nests no deeper than a request body', () => {
    const copies: JsonObject[] = [];
    for (let i = 0; i < 13; i++) {
      copies.push({ op: 'copy', from: '/a', path: '/b' }, { op: 'copy', from: '/b', path: below(2 ** i + 1) });
    }
    expect(() => applyJsonPatch({ a: {} }, copies)).toThrow(
      expect.objectContaining({ code: 422, message: 'the patched object nests deeper than 512 levels' }) as Error,
    );
  });

  it('the document may nest deeper than a request body between operations', () => {
    const parts = Array.from({ length: 20 }, (_, i) => ({ op: 'replace', path: below(500 * i), value: nested(500) }));
    const test = { op: 'test', path: '', value: nested(500) };
    const end = { op: 'replace', path: '', value: {} };
    expect(applyJsonPatch({ a: {} }, [...parts, { ...test, path: below(9_500) }, end])).toEqual({});
    expect(() => applyJsonPatch({ a: {} }, [...parts, test, end])).toThrow('the server rejected our request');
  });

  it('visitedBy ignores a from that the operation does not use', () => {
    const operations = [{ op: 'add', path: '/a/b/c', value: 1, from: '/x/y' }];
    expect(visitedBy(operations)).toEqual({ a: { b: {} } });
  });

  it('reports at most 100 unknown fields over all operations', () => {
    const operations = readOperations(Array.from({ length: 300 }, () => ({ x: 1, y: 2 })));
    expect(unknownMembers(operations)).toHaveLength(100);
    expect(() => unknownMembers([...operations, { op: 1 }])).toThrow('cannot unmarshal number');
  });
});

describe('RFC 6902, appendix A', () => {
  const cases: { name: string; document: Json; patch: Json; result: Json }[] = [
    {
      name: 'A.1 adding an object member',
      document: { foo: 'bar' },
      patch: [{ op: 'add', path: '/baz', value: 'qux' }],
      result: { baz: 'qux', foo: 'bar' },
    },
    {
      name: 'A.2 adding an array element',
      document: { foo: ['bar', 'baz'] },
      patch: [{ op: 'add', path: '/foo/1', value: 'qux' }],
      result: { foo: ['bar', 'qux', 'baz'] },
    },
    {
      name: 'A.3 removing an object member',
      document: { baz: 'qux', foo: 'bar' },
      patch: [{ op: 'remove', path: '/baz' }],
      result: { foo: 'bar' },
    },
    {
      name: 'A.4 removing an array element',
      document: { foo: ['bar', 'qux', 'baz'] },
      patch: [{ op: 'remove', path: '/foo/1' }],
      result: { foo: ['bar', 'baz'] },
    },
    {
      name: 'A.5 replacing a value',
      document: { baz: 'qux', foo: 'bar' },
      patch: [{ op: 'replace', path: '/baz', value: 'boo' }],
      result: { baz: 'boo', foo: 'bar' },
    },
    {
      name: 'A.6 moving a value',
      document: { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
      patch: [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
      result: { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
    },
    {
      name: 'A.7 moving an array element',
      document: { foo: ['all', 'grass', 'cows', 'eat'] },
      patch: [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
      result: { foo: ['all', 'cows', 'eat', 'grass'] },
    },
    {
      name: 'A.8 testing a value: success',
      document: { baz: 'qux', foo: ['a', 2, 'c'] },
      patch: [
        { op: 'test', path: '/baz', value: 'qux' },
        { op: 'test', path: '/foo/1', value: 2 },
      ],
      result: { baz: 'qux', foo: ['a', 2, 'c'] },
    },
    {
      name: 'A.10 adding a nested member object',
      document: { foo: 'bar' },
      patch: [{ op: 'add', path: '/child', value: { grandchild: {} } }],
      result: { foo: 'bar', child: { grandchild: {} } },
    },
    {
      name: 'A.11 ignoring unrecognized elements',
      document: { foo: 'bar' },
      patch: [{ op: 'add', path: '/baz', value: 'qux', xyz: 123 }],
      result: { foo: 'bar', baz: 'qux' },
    },
    {
      name: 'A.14 ~ escape ordering',
      document: { '/': 9, '~1': 10 },
      patch: [{ op: 'test', path: '/~01', value: 10 }],
      result: { '/': 9, '~1': 10 },
    },
    {
      name: 'A.16 adding an array value',
      document: { foo: ['bar'] },
      patch: [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }],
      result: { foo: ['bar', ['abc', 'def']] },
    },
    {
      name: '4.1 add replaces an existing member',
      document: { foo: 1 },
      patch: [{ op: 'add', path: '/foo', value: 2 }],
      result: { foo: 2 },
    },
    {
      name: '4.1 add to the root replaces the document',
      document: { foo: 1 },
      patch: [{ op: 'add', path: '', value: { bar: 2 } }],
      result: { bar: 2 },
    },
    {
      name: '4.5 copy leaves the original alone',
      document: { a: { b: 1 } },
      patch: [
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'replace', path: '/c/b', value: 2 },
      ],
      result: { a: { b: 1 }, c: { b: 2 } },
    },
    {
      name: '4.6 objects are equal in any order',
      document: { a: { x: 1, y: [1, null] } },
      patch: [{ op: 'test', path: '/a', value: { y: [1, null], x: 1 } }],
      result: { a: { x: 1, y: [1, null] } },
    },
    { name: 'an empty patch changes nothing', document: { a: 1 }, patch: [], result: { a: 1 } },
    {
      name: 'the empty key is valid',
      document: { '': 1 },
      patch: [{ op: 'replace', path: '/', value: 2 }],
      result: { '': 2 },
    },
    {
      name: 'a value may be moved to its own path',
      document: { a: 1 },
      patch: [{ op: 'move', from: '/a', path: '/a' }],
      result: { a: 1 },
    },
    {
      name: 'null is a value',
      document: { a: null },
      patch: [{ op: 'test', path: '/a', value: null }],
      result: { a: null },
    },
  ];
  it.each(cases)('$name', ({ document, patch, result }) => {
    expect(applyJsonPatch(document, patch)).toEqual(result);
  });
});

describe('operations that do not apply', () => {
  const cases: [string, Json, JsonObject][] = [
    ['A.9 testing a value: error', { baz: 'qux' }, { op: 'test', path: '/baz', value: 'bar' }],
    ['A.12 adding to a nonexistent target', { foo: 'bar' }, { op: 'add', path: '/baz/bat', value: 'qux' }],
    ['A.15 comparing strings and numbers', { '/': 9, '~1': 10 }, { op: 'test', path: '/~01', value: '10' }],
    ['unknown operation', { a: 1 }, { op: 'nonsense', path: '/a' }],
    ['op missing', { a: 1 }, { path: '/a' }],
    ['path missing', { a: 1 }, { op: 'remove' }],
    ['path without a slash', { a: 1 }, { op: 'add', path: 'a', value: 1 }],
    ['value missing', { a: 1 }, { op: 'add', path: '/b' }],
    ['from missing', { a: 1 }, { op: 'move', path: '/b' }],
    ['absent member removed', { a: 1 }, { op: 'remove', path: '/b' }],
    ['absent member tested', { a: 1 }, { op: 'test', path: '/b', value: false }],
    ['index beyond the end', { a: [1] }, { op: 'add', path: '/a/2', value: 1 }],
    ['index with a leading zero', { a: [1, 2] }, { op: 'remove', path: '/a/01' }],
    ['negative index', { a: [1, 2] }, { op: 'remove', path: '/a/-1' }],
    ['- cannot be removed', { a: [1] }, { op: 'remove', path: '/a/-' }],
    ['stray escape', { '~2': 1 }, { op: 'remove', path: '/~2' }],
    ['pointer of too many characters', {}, { op: 'add', path: `/${'~1'.repeat(40_000)}`, value: 1 }],
    ['pointer of too many tokens', {}, { op: 'add', path: '/a'.repeat(20_000), value: 1 }],
    ['into a scalar', { a: 1 }, { op: 'add', path: '/a/b', value: 1 }],
    ['into itself', { a: { b: {} } }, { op: 'move', from: '/a', path: '/a/b/c' }],
    ['inherited members do not exist', {}, { op: 'test', path: '/constructor', value: 1 }],
    ['the whole document', { a: 1 }, { op: 'remove', path: '' }],
  ];
  it.each(cases)('%s', (_, document, operation) => {
    expect(() => applyJsonPatch(document, [operation])).toThrow(
      expect.objectContaining({
        code: 422,
        reason: 'Invalid',
        message: 'the server rejected our request due to an error in our request',
      }) as StatusError,
    );
  });

  const document = { a: { b: 1 }, list: [1, 2] };
  const reasons: [JsonObject, string][] = [
    [{ op: 'add', path: '/x/y', value: 1 }, 'add operation does not apply: doc is missing path: "/x/y": missing value'],
    [{ op: 'add', path: 'a', value: 1 }, 'add operation does not apply: doc is missing path: "a": missing value'],
    [
      { op: 'add', path: '/list/9', value: 1 },
      "error in add for path: '/list/9': Unable to access invalid index: 9: invalid index referenced",
    ],
    [
      { op: 'add', path: '/list/x', value: 1 },
      `error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
    ],
    [{ op: 'remove', path: '/x/y' }, 'remove operation does not apply: doc is missing path: "/x/y": missing value'],
    [
      { op: 'remove', path: '/x' },
      "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value",
    ],
    [
      { op: 'replace', path: '/x/y', value: 1 },
      'replace operation does not apply: doc is missing path: /x/y: missing value',
    ],
    [
      { op: 'replace', path: '/list/-', value: 1 },
      'replace operation does not apply: doc is missing key: /list/-: missing value',
    ],
    [
      { op: 'move', from: '/x/y', path: '/z' },
      'move operation does not apply: doc is missing from path: /x/y: missing value',
    ],
    [
      { op: 'move', from: '/a', path: '/x/y' },
      'move operation does not apply: doc is missing destination path: /x/y: missing value',
    ],
    [
      { op: 'move', from: '/x', path: '/z' },
      "error in move for path: 'x': Unable to remove nonexistent key: x: missing value",
    ],
    [
      { op: 'copy', from: '/list/7', path: '/z' },
      "error in copy for from: '/list/7': Unable to access invalid index: 7: invalid index referenced",
    ],
    [{ op: 'test', path: '/x/y', value: 1 }, 'test operation does not apply: is missing path: /x/y: missing value'],
    [{ op: 'test', path: '/a/b', value: 2 }, 'testing value /a/b failed: test failed'],
    [{ op: 'nonsense', path: '/a' }, 'Unexpected kind: nonsense'],
  ];
  it.each(reasons)('%j: %s', (operation, message) => {
    try {
      applyJsonPatch(document, [operation]);
      expect.unreachable();
    } catch (error) {
      expect(reasonOfJsonPatch(error)).toMatchObject({
        message,
        isTest: operation['op'] === 'test' && operation['path'] === '/a/b',
      });
    }
  });

  it('an absent member is replaced by adding it', () => {
    expect(applyJsonPatch({ a: 1 }, [{ op: 'replace', path: '/b', value: 2 }])).toEqual({ a: 1, b: 2 });
  });

  it('a patch that is not an array of objects is a bad request', () => {
    expect(() => applyJsonPatch({}, { op: 'add' })).toThrow(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
    expect(() => applyJsonPatch({}, [1])).toThrow('cannot unmarshal number');
  });

  it('refuses more operations than the limit', () => {
    const patch = Array.from({ length: maxJsonPatchOperations + 1 }, () => ({ op: 'test', path: '/a', value: 1 }));
    expect(() => applyJsonPatch({ a: 1 }, patch)).toThrow(
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    );
    expect(applyJsonPatch({ a: 1 }, patch.slice(1))).toEqual({ a: 1 });
  });

  it('bounds the size that copies add', () => {
    const double = { op: 'copy', from: '/a', path: '/a/-' };
    expect(() => applyJsonPatch({ a: ['x'.repeat(100)] }, Array(40).fill(double) as Json)).toThrow(StatusError);
  });

  it('bounds the elements that insertions shift', () => {
    const front = { op: 'add', path: '/a/0', value: 1 };
    expect(() => applyJsonPatch({ a: Array(100_000).fill(0) }, Array(1_000).fill(front) as Json)).toThrow(
      'too much work',
    );
  });
});

describe('keys are plain data', () => {
  it('sets, tests and removes __proto__', () => {
    const patch = own(
      '[{"op":"add","path":"/__proto__","value":{"x":1}},{"op":"test","path":"/__proto__/x","value":1}]',
    );
    const result = applyJsonPatch({}, patch) as JsonObject;
    expect(Object.hasOwn(result, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(applyJsonPatch(result, [{ op: 'remove', path: '/__proto__' }])).toEqual({});
  });
});

/** A patch from one value to another, with operations on every kind of path. */
function differences(from: Json, to: Json, path: string): JsonObject[] {
  if (jsonEqual(from, to)) return [];
  const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
  const objects = [from, to].every((v) => typeof v === 'object' && v !== null && !Array.isArray(v));
  if (objects) {
    const a = from as JsonObject;
    const b = to as JsonObject;
    return [
      ...Object.keys(a)
        .filter((key) => !Object.hasOwn(b, key))
        .map((key) => ({ op: 'remove', path: `${path}/${escaped(key)}` })),
      ...Object.keys(b).flatMap((key) =>
        Object.hasOwn(a, key)
          ? differences(a[key] as Json, b[key] as Json, `${path}/${escaped(key)}`)
          : [{ op: 'add', path: `${path}/${escaped(key)}`, value: b[key] as Json }],
      ),
    ];
  }
  if (Array.isArray(from) && Array.isArray(to)) {
    return [
      ...from.map(() => ({ op: 'remove', path: `${path}/0` })),
      ...to.map((value, i) => ({ op: 'add', path: i % 2 === 0 ? `${path}/-` : `${path}/${i}`, value })),
    ];
  }
  return [{ op: 'replace', path, value: to }];
}

describe('properties', () => {
  const json = fc.jsonValue({ maxDepth: 4 }).map((value) => own(JSON.stringify(value)));
  it('the diff of two documents patches one into the other', () => {
    fc.assert(
      fc.property(json, json, (from, to) => {
        const before = jsonCopy(from);
        expect(jsonEqual(applyJsonPatch(from, differences(from, to, '')), to)).toBe(true);
        expect(jsonEqual(from, before)).toBe(true);
      }),
    );
  });

  it('never throws anything but a StatusError', () => {
    const operation = fc.record(
      {
        op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
        path: fc.constantFrom('', '/', '/a', '/a/0', '/a/-', '/a/b', '/__proto__', '/~1', 'x'),
        from: fc.constantFrom('', '/a', '/a/0', '/b'),
        value: json,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(json, fc.array(operation), (document, patch) => {
        try {
          applyJsonPatch(document, patch as Json);
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
        }
      }),
    );
  });
});
