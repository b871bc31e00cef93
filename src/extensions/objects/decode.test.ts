import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce, formatPath, inTurns, type Json, type JsonObject, namesFor } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { struct } from '../../schema/index.ts';
import { customType } from './decode.ts';
import { readSchema } from './read-schema.ts';

const names = namesFor('k8s.io');
const unused = struct('test/v1.Unused', {});
const typeOf = (properties: JsonObject, more: JsonObject = {}) =>
  customType(readSchema({ type: 'object', properties, ...more }, names, false).form, unused, names);

const keep = { 'x-kubernetes-preserve-unknown-fields': true };
const text = { type: 'string' };
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });
const embedded = object({}, { ...keep, 'x-kubernetes-embedded-resource': true });

describe('decoding of custom objects', () => {
  const cases: {
    readonly [title: string]: readonly [schema: JsonObject, given: Json, decoded: Json, unknown?: string[]];
  } = {
    'undeclared fields are pruned': [object({ a: text }), { a: 'x', b: 1 }, { a: 'x' }, ['spec.b']],
    'undeclared fields of list items are pruned': [
      object({ l: { type: 'array', items: object({ id: text }) } }),
      { l: [{ id: 'a' }, { id: 'b', z: 1, y: 2 }] },
      { l: [{ id: 'a' }, { id: 'b' }] },
      ['spec.l[1].y', 'spec.l[1].z'],
    ],
    'preserved fields are kept, and declared ones below them pruned': [
      object({ a: object({ b: text }) }, keep),
      { a: { b: 'x', c: 1 }, d: { e: 1 } },
      { a: { b: 'x' }, d: { e: 1 } },
      ['spec.a.c'],
    ],
    'a list that keeps unknown fields keeps those of its items': [
      { type: 'array', items: object({}), ...keep },
      [{ a: 1 }],
      [{ a: 1 }],
    ],
    'values of a map are pruned': [
      object({}, { additionalProperties: object({ a: text }) }),
      { k: { a: 'x', b: 1 } },
      { k: { a: 'x' } },
      ['spec.k.b'],
    ],
    'a map of anything keeps scalars alone': [
      { type: 'object', additionalProperties: true },
      { a: 1, b: { c: 1 }, d: [1, { e: 1 }] },
      { a: 1, b: {}, d: [1, {}] },
      ['spec.b.c', 'spec.d[1].e'],
    ],
    'nulls are removed unless they are nullable': [
      object({ a: text, b: { ...text, nullable: true } }),
      { a: null, b: null },
      { b: null },
    ],
    'a null with a default gets the default': [object({ a: { ...text, default: 'x' } }), { a: null }, { a: 'x' }],
    'a nullable null is kept although there is a default': [
      object({ a: { ...text, default: 'x', nullable: true } }),
      { a: null },
      { a: null },
    ],
    'nulls in lists are kept': [{ type: 'array', items: text }, [null, 'a'], [null, 'a']],
    'nulls of maps are removed': [{ type: 'object', additionalProperties: text }, { a: null, b: 'x' }, { b: 'x' }],
    'defaults within defaults are set': [
      object({ a: object({ b: { ...text, default: 'x' } }, { default: {} }) }),
      {},
      { a: { b: 'x' } },
    ],
    'defaults of list items are set': [
      { type: 'array', items: object({ p: { ...text, default: 'TCP' } }) },
      [{}, { p: 'UDP' }],
      [{ p: 'TCP' }, { p: 'UDP' }],
    ],
    'values of the wrong type are left to validation': [object({ a: text }), { a: { b: 1 } }, { a: {} }, ['spec.a.b']],
    'int-or-string takes both': [object({ a: { 'x-kubernetes-int-or-string': true } }), { a: '5%' }, { a: '5%' }],
    'metadata of embedded resources is decoded': [
      object({}, { ...keep, 'x-kubernetes-embedded-resource': true }),
      { apiVersion: 'v1', kind: 'P', metadata: { name: 'a', creationTimestamp: null, nope: 1 }, spec: { x: 1 } },
      { apiVersion: 'v1', kind: 'P', metadata: { name: 'a' }, spec: { x: 1 } },
      ['spec.metadata.nope'],
    ],
    'keys that objects inherit are data': [
      object({ constructor: text, a: object({}, keep) }),
      JSON.parse('{"constructor":"x","a":{"__proto__":{"b":1}},"__proto__":{"c":1},"toString":1}') as Json,
      JSON.parse('{"constructor":"x","a":{"__proto__":{"b":1}}}') as Json,
      ['spec.__proto__', 'spec.toString'],
    ],
  };
  for (const [title, [schema, given, decoded, unknown = []]] of Object.entries(cases)) {
    it(title, () => {
      const type = typeOf({ spec: schema });
      const found = type.decode({ kind: 'Gadget', metadata: { name: 'a' }, spec: given });
      expect(JSON.stringify(found.value['spec'])).toBe(JSON.stringify(decoded));
      expect(found.unknown.map(formatPath)).toEqual(unknown);
      expect(type.decode(found.value)).toEqual({ value: found.value, unknown: [] });
      expect(found.value['spec'] === type.decode(found.value).value['spec']).toBe(true);
      expect(atOnce(type.normalizeStored(found.value))).toBe(false);
    });
  }

  it.each(Object.entries(cases))('%s, also in steps', (_, [schema, given]) => {
    const listed = { spec: { type: 'array', items: schema }, e: embedded };
    const mapped = { spec: { type: 'object', additionalProperties: schema } };
    const keys = Array.from({ length: 1_500 }, (_, i) => `k${i}`);
    const labels = Object.fromEntries(keys.map((key) => [key, 'v']));
    const values = { spec: keys.map(() => given), e: { kind: 'P', metadata: { labels, nope: labels }, ...labels } };
    for (const [type, value] of [
      [typeOf(listed), values],
      [typeOf(mapped), { spec: Object.fromEntries(keys.map((key) => [key, given])) }],
      [typeOf({ spec: schema }), { spec: given, ...labels }],
    ] as const) {
      const [decoded, inSteps] = [type.decode(value), atOnce(type.decodeInSteps(value))];
      expect(JSON.stringify(inSteps.value)).toBe(JSON.stringify(decoded.value));
      expect(inSteps.unknown).toEqual(decoded.unknown);
      expect(atOnce(type.decodeInSteps(inSteps.value)).value['spec'] === inSteps.value['spec']).toBe(true);
    }
  });

  const structs = object({ a: text, d: { ...text, default: 'x' } });
  const many = (count: number, value: Json): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]));
  const large: { readonly [title: string]: readonly [schema: JsonObject, value: (count: number) => Json] } = {
    'a list with defaults': [{ type: 'array', items: structs }, (count) => Array<JsonObject>(count).fill({ a: 'x' })],
    'a map with defaults': [{ type: 'object', additionalProperties: structs }, (count) => many(count, {})],
    'unknown fields': [object({}), (count) => many(count, 'v')],
    'metadata of an embedded resource': [embedded, (count) => ({ metadata: { labels: many(count, 'v') } })],
    'defaults in place of null': [
      { type: 'array', items: { ...object({}, keep), default: many(5, 'v') } },
      (count) => Array<null>(count).fill(null),
    ],
  };
  it.each(Object.entries(large))('pauses in proportion to the size of %s', async (_, [schema, value]) => {
    const pauses = async (count: number) => {
      const turns = new EveryStep();
      await inTurns(typeOf({ spec: schema }).decodeInSteps({ metadata: {}, spec: value(count) }), turns);
      return turns.count;
    };
    const [one, two] = [await pauses(10_000), await pauses(20_000)];
    expect(one).toBeGreaterThanOrEqual(10);
    expect(two).toBeGreaterThanOrEqual(1.5 * one);
  });

  it('unknown fields of the metadata are reported before all others', () => {
    const { value, unknown } = typeOf({}).decode({ a: 1, metadata: { name: 'x', zz: 1, labels: { a: 'b' } } });
    expect(value).toEqual({ metadata: { name: 'x', labels: { a: 'b' } } });
    expect(unknown.map(formatPath)).toEqual(['metadata.zz', 'a']);
  });

  it('names the field with a value of the wrong type in metadata', () => {
    expect(() => typeOf({}).decode({ metadata: { labels: 5 } })).toThrow(
      'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type map[string]string',
    );
    const type = typeOf({ e: embedded });
    expect(() => type.decode({ e: { kind: 5 } })).toThrow('e.kind: Invalid value: 5: must be a string');
    expect(() => type.decode({ e: { metadata: { name: 5 } } })).toThrow(
      'e.metadata: Invalid value: {"name":5}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
    );
  });

  it('copies nothing that does not change, and defaults are not shared between objects', () => {
    const type = typeOf({
      spec: object({ a: object({ b: text }), d: { ...object({ x: text }), default: { x: 'y' } } }),
    });
    const given = { metadata: {}, spec: { a: { b: 'x' } } };
    const first = type.decode(given).value as { spec: { a: Json; d: { x: string } } };
    expect(first.spec.a).toBe(given.spec.a);
    expect(given.spec).toEqual({ a: { b: 'x' } });
    first.spec.d.x = 'changed';
    expect(type.decode(given).value['spec']).toEqual({ a: { b: 'x' }, d: { x: 'y' } });
  });

  it('a stored object gets the defaults of the schema as it is now, in place', () => {
    const type = typeOf({ spec: object({ a: { ...text, default: 'x' } }) });
    const stored = { apiVersion: 'a/v1', kind: 'G', metadata: { name: 'n' }, spec: { gone: 1 }, other: 1 };
    expect(atOnce(type.normalizeStored(stored))).toBe(true);
    expect(stored).toEqual({ apiVersion: 'a/v1', kind: 'G', metadata: { name: 'n' }, spec: { a: 'x' } });
  });

  const long = { ...text, default: 'x'.repeat(100_000) };
  const lists: { readonly [title: string]: readonly [schema: JsonObject, value: (count: number) => Json] } = {
    'of null items': [{ type: 'array', items: long }, (count) => Array<null>(count).fill(null)],
    'of absent members': [{ type: 'array', items: object({ a: long }) }, (count) => Array<JsonObject>(count).fill({})],
    'of map values': [
      { type: 'object', additionalProperties: object({ a: long }) },
      (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, {}])),
    ],
  };
  it.each(Object.entries(lists))('sets defaults %s within the size of an object', (_, [schema, value]) => {
    const type = typeOf({ spec: schema });
    const decoded = (count: number) => () => type.decode({ metadata: {}, spec: value(count) });
    expect(decoded(20)).not.toThrow();
    const message = 'Request entity too large: the defaults in "spec" take more than 2097152 bytes';
    expect(decoded(21)).toThrow(expect.objectContaining({ code: 413, message }));
    expect(decoded(10_000)).toThrow(expect.objectContaining({ code: 413, message }));
  });

  it('leaves a stored object as it is when it has no room for the defaults', () => {
    const type = typeOf({ spec: { type: 'array', items: object({ a: long }) } });
    const stored = (count: number): JsonObject => ({ metadata: {}, spec: Array<JsonObject>(count).fill({}) });
    const kept = stored(10_000);
    expect(atOnce(type.normalizeStored(kept))).toBe(false);
    expect(kept).toEqual(stored(10_000));
    expect(atOnce(type.normalizeStored(stored(20)))).toBe(true);
    expect(atOnce(type.normalizeStored({ ...stored(20), note: 'x'.repeat(200_000) }))).toBe(false);
  });

  it('is idempotent for any object', () => {
    const schema = object({
      a: object({ b: { ...text, default: 'x' } }, { default: {} }),
      l: { type: 'array', items: object({ a: text, b: { ...text, nullable: true } }) },
      m: { type: 'object', additionalProperties: object({ a: text }) },
      k: { ...object({ a: text }), ...keep },
    });
    const type = typeOf({ a: schema, b: text }, keep);
    const key = fc.constantFrom('a', 'b', 'l', 'm', 'k', '__proto__', 'constructor', '0');
    const { value: json } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<Json>(null, 1, 'x', true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
      ),
    }));
    fc.assert(
      fc.property(json, (value) => {
        const before = JSON.stringify(value);
        const once = type.decode({ metadata: {}, a: value }).value;
        expect(JSON.stringify(value)).toBe(before);
        const twice = type.decode(once);
        expect(JSON.stringify(twice.value)).toBe(JSON.stringify(once));
        expect(twice.unknown).toEqual([]);
      }),
    );
  });
});

it('objects into which a configuration was applied keep the nulls that validation refuses', () => {
  const lists = { l: { type: 'array', items: object({ a: text }) }, any: keep, n: { ...text, nullable: true } };
  const properties = { a: text, i: { 'x-kubernetes-int-or-string': true }, d: { ...text, default: 'x' }, ...lists };
  const type = typeOf({ spec: object(properties), other: object({}) });
  const given = {
    metadata: {},
    spec: { a: null, i: null, d: null, l: [{ a: null }], any: null, n: null },
    other: null,
  };
  const kept = { metadata: {}, spec: { a: null, i: null, d: 'x', l: [{ a: null }], n: null }, other: null };
  expect(type.applied?.decode(given).value).toEqual(kept);
  expect(type.decode(given).value).toEqual({ metadata: {}, spec: { d: 'x', l: [{}], n: null } });
});

it('a small object gets large defaults in steps, wherever they are, as at once', async () => {
  const value = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 'v']));
  const large = { type: 'object', additionalProperties: { type: 'string' }, default: value };
  const type = typeOf({
    direct: large,
    below: { type: 'object', properties: { a: large } },
    items: { type: 'array', items: large },
    free: { ...large, nullable: true },
  });
  const given = { metadata: {}, direct: null, below: {}, items: [null], free: null };
  const turns = new EveryStep();
  const inSteps = await inTurns(type.decodeInSteps(given), turns);
  expect(inSteps.value).toEqual({ metadata: {}, direct: value, below: { a: value }, items: [value], free: null });
  expect(inSteps).toEqual(type.decode(given));
  expect(turns.count).toBeGreaterThan(10);
});
