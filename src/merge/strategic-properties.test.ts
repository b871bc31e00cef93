import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, jsonCopy, jsonEqual, StatusError } from '../meta/index.ts';
import { apply, item } from './testing/strategic.ts';

describe('laws', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const tags = fc.uniqueArray(name, { maxLength: 4 });
  const entry = fc.record(
    { name, value: fc.string(), tags, set: fc.dictionary(name, fc.string()) },
    { requiredKeys: ['name'] },
  );
  const things = fc.record(
    {
      items: fc.uniqueArray(entry, { selector: (value) => value.name, maxLength: 4 }),
      rows: fc.array(entry, { maxLength: 3 }),
      tags,
      args: fc.array(name),
      inner: entry,
      whole: entry,
      labels: fc.dictionary(name, fc.string()),
      any: fc.constantFrom<Json>({ a: { b: [1] } }, [1, { a: 2 }], 'x', { a: 1 }),
      text: fc.string(),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonObject>;

  /** Adds random directives to a patch. */
  const marked = (value: Json): fc.Arbitrary<Json> => {
    if (Array.isArray(value)) return fc.tuple(...value.map(marked)).map((entries) => [...entries]);
    if (typeof value !== 'object' || value === null) return fc.constant(value);
    const members = fc.tuple(...Object.entries(value).map(([key, part]) => marked(part).map((v) => [key, v] as const)));
    const mark = fc.constantFrom<JsonObject>(
      {},
      {},
      {},
      {},
      { $patch: 'delete' },
      { $patch: 'replace' },
      { $retainKeys: Object.keys(value) },
      { '$deleteFromPrimitiveList/tags': ['a', 'b'] },
    );
    return fc.tuple(members, mark).map(([entries, more]) => ({ ...Object.fromEntries(entries), ...more }));
  };
  const patches = things.chain(marked);

  it('the empty patch is the identity', () => {
    fc.assert(
      fc.property(things, (object) => {
        expect(apply(object, {})).toEqual(object);
      }),
    );
  });

  it('an object as patch of the empty object gives the object', () => {
    fc.assert(
      fc.property(things, (object) => {
        expect(apply({}, object)).toEqual(object);
      }),
    );
  });

  it('an object as patch of itself changes nothing', () => {
    fc.assert(
      fc.property(things, (object) => {
        expect(apply(object, object)).toEqual(object);
      }),
    );
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(things, things, (object, patch) => {
        const once = apply(object, patch);
        expect(apply(once, patch)).toEqual(once);
      }),
    );
  });

  it('changes neither argument', () => {
    fc.assert(
      fc.property(things, patches, (object, patch) => {
        const before = [jsonCopy(object), jsonCopy(patch)];
        apply(object, patch);
        expect([object, patch].every((value, i) => jsonEqual(value, before[i]))).toBe(true);
      }),
    );
  });

  it('replace gives the members of the patch', () => {
    fc.assert(
      fc.property(things, things, (object, patch) => {
        expect(apply(object, { ...patch, $patch: 'replace' })).toEqual(patch);
      }),
    );
  });

  it('$setElementOrder orders the entries it names and loses none', () => {
    const keys = fc.uniqueArray(fc.integer({ min: 0, max: 12 }), { maxLength: 10 });
    fc.assert(
      fc.property(keys, keys, (live, wanted) => {
        const byName = (list: number[]) => list.map((n) => item(String(n)));
        const after = apply({ items: byName(live) }, { '$setElementOrder/items': byName(wanted) }) as {
          items: { name: string }[];
        };
        const found = after.items.map((entry) => Number(entry.name));
        expect(new Set(found)).toEqual(new Set(live));
        expect(found.length).toBe(live.length);
        expect(found.filter((n) => wanted.includes(n))).toEqual(wanted.filter((n) => live.includes(n)));
        expect(found.filter((n) => !wanted.includes(n))).toEqual(live.filter((n) => !wanted.includes(n)));
      }),
    );
  });

  it('any JSON as a patch gives an object or a StatusError', () => {
    const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
    const member = fc.constantFrom(
      'items',
      'tags',
      'inner',
      'labels',
      '$patch',
      '$retainKeys',
      '$setElementOrder/items',
    );
    fc.assert(
      fc.property(things, fc.dictionary(member, json), (object, patch) => {
        try {
          expect(typeof apply(object, patch)).toBe('object');
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
        }
      }),
    );
  });
});
