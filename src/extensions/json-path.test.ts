import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ApiObject, type Json, namesFor } from '../meta/index.ts';
import { firstResult, JsonPathError, parseJsonPath } from './json-path.ts';
import { columnsOf } from './objects/columns.ts';

const object: Json = {
  metadata: { labels: { 'app.example/name': 'web', a: 'b' } },
  spec: {
    n: 3,
    list: [
      { id: 'a', n: 1 },
      { id: 'b', n: 2 },
      { id: 'c', n: 3 },
    ],
    empty: [],
    none: null,
    'it"s': 1,
  },
  status: {
    conditions: [
      { type: 'Synced', status: 'False' },
      { type: 'Ready', status: 'True' },
    ],
  },
};

describe('JSONPath', () => {
  const cases: { readonly [path: string]: Json | undefined } = {
    '.spec.n': 3,
    'spec.n': 3,
    '$.spec.n': 3,
    '.spec.none': null,
    '.spec.nope': undefined,
    '.spec.n.x': undefined,
    '.metadata.labels.app\\.example/name': 'web',
    ".metadata.labels['app.example/name']": 'web',
    '.metadata.labels["a"]': 'b',
    '.spec.list[0].id': 'a',
    '.spec.list[-1].id': 'c',
    '.spec.list[9].id': undefined,
    '.spec.list[1:].id': 'b',
    '.spec.list[0:2:2].n': 1,
    '.spec.list[-2:].id': 'b',
    '.spec.list[0:3].id': 'a',
    '.spec.list[0:4].id': undefined,
    '.spec.list[2,0].id': 'c',
    '.spec.list[*].id': 'a',
    '.spec.empty[*]': undefined,
    '..status': {
      conditions: [
        { type: 'Synced', status: 'False' },
        { type: 'Ready', status: 'True' },
      ],
    },
    '..conditions[1].status': 'True',
    '.status.conditions[?(@.type=="Ready")].status': 'True',
    ".status.conditions[?(@.type == 'Ready')].status": 'True',
    '.status.conditions[?(@.type!="Synced")].status': 'True',
    '.status.conditions[?(@.type=="a]b)")].status': undefined,
    '.spec.list[?(@.n>1)].id': 'b',
    '.spec.list[?(@.n>=3)].id': 'c',
    '.spec.list[?(@.n<2)].id': 'a',
    '.spec.list[?(@.id)].n': 1,
    '.spec.list[?(@.x)].n': undefined,
    '.spec.constructor': undefined,
    '.__proto__': undefined,
  };
  for (const [path, expected] of Object.entries(cases)) {
    it(path, () => expect(firstResult(parseJsonPath(path), object)).toEqual(expected));
  }

  it.each(['.a[', '.a[x]', '.a[]', '.a[?(x==1)]', '.a{b}', `.${'a'.repeat(5000)}`])('rejects %s', (path) => {
    expect(() => parseJsonPath(path)).toThrow(JsonPathError);
  });

  it('visits a bounded number of values', () => {
    const wide: Json = Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => [1, 2, 3]));
    expect(firstResult(parseJsonPath('[*][*][*]'), wide)).toBeUndefined();
  });

  it('visits no more values for all columns of a row than for ten', () => {
    const items = Array.from({ length: 9_000 }, () => ({ a: 1 }));
    const object = { metadata: { name: 'x' }, items } as unknown as ApiObject;
    const cellsOf = (count: number) => {
      const column = { name: 'c', type: 'integer', jsonPath: '.items[*].a' };
      const [, ...columns] = columnsOf(Array.from({ length: count }, () => column));
      return new Set(columns.map(({ cell }) => cell(object, { names: namesFor('k8s.io'), now: 0 })));
    };
    expect([...cellsOf(10)]).toEqual([1]);
    expect([...cellsOf(12)]).toEqual([null]);
  });

  it('parses or throws a JsonPathError for any text, and finds results without throwing', () => {
    const text = fc.string({
      unit: fc.constantFrom('.', 'a', '[', ']', '*', '?', '(', ')', '@', '=', '"', '0', ':', ',', '\\', '-'),
    });
    fc.assert(
      fc.property(text, (path) => {
        try {
          firstResult(parseJsonPath(path), { a: [{ a: 1 }, [0]] });
        } catch (error) {
          expect(error).toBeInstanceOf(JsonPathError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
