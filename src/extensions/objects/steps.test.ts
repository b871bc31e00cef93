import { describe, expect, it, vi } from 'vitest';
import { type Json, type JsonObject, namesFor, type Steps } from '../../meta/index.ts';
import { ruleValidator } from '../rules/evaluate.ts';
import { structuralOf } from '../structural.ts';
import { withinChecks } from './checks.ts';
import { Correlation } from './correlation.ts';
import { validateDefaults } from './defaults.ts';
import { validateEmbedded } from './embedded.ts';
import { isValid } from './valid.ts';
import { validateLists, validateValue } from './validate.ts';
import { valueSchemaOf } from './value-schema.ts';

const names = namesFor('k8s.io');
const text = { type: 'string' };
const keyed = { type: 'object', properties: { k: text } };
const map = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const objects = (count: number) => times(count, (i) => ({ k: `k${i}` }));

/** How often a computation pauses, and its result. */
function paused<T>(steps: Steps<T>): { readonly pauses: number; readonly result: T } {
  for (let pauses = 0; ; pauses++) {
    const step = steps.next();
    if (step.done === true) return { pauses, result: step.value };
  }
}

const ofValue = (schema: JsonObject, value: Json) => paused(validateValue(valueSchemaOf(schema, names), value, ''));
const ofLists = (schema: JsonObject, value: Json) =>
  paused(validateLists(structuralOf({ type: 'object', properties: { x: schema } }, names), { x: value }, undefined));

describe('the validation of large custom objects pauses in proportion to their size', () => {
  it.each<readonly [string, (count: number) => { readonly pauses: number }]>([
    ['a list of type map', (count) => ofLists({ type: 'array', items: keyed, ...map }, objects(count))],
    [
      'a list of type set',
      (count) =>
        ofLists(
          { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
          times(count, (i) => `k${i}`),
        ),
    ],
    [
      'a map of texts',
      (count) => {
        const value = Object.fromEntries(times(count, (i) => [`k${i}`, 'v']));
        return ofValue({ type: 'object', additionalProperties: text }, value);
      },
    ],
    [
      'an enumeration of objects',
      (count) =>
        ofValue(
          { type: 'array', items: { ...keyed, enum: objects(5_000) } },
          times(count, () => ({ k: 'k4999' })),
        ),
    ],
    [
      'alternatives',
      (count) =>
        ofValue(
          { type: 'array', items: { anyOf: times(20, (i) => ({ pattern: `^b${i}|a$` })) } },
          times(count, () => 'a'),
        ),
    ],
    [
      'an unchanged list',
      (count) => {
        const schema = structuralOf({ type: 'array', items: keyed, ...map }, names);
        return paused(new Correlation(objects(count), objects(count), schema).isUnchanged());
      },
    ],
  ])('%s', (_, run) => {
    const [one, two] = [run(10_000).pauses, run(20_000).pauses];
    expect(one).toBeGreaterThanOrEqual(5);
    expect(two).toBeGreaterThanOrEqual(1.5 * one);
    expect(two).toBeLessThanOrEqual(2.5 * one);
  });

  it('a long text, for each of its patterns', () => {
    const patterns = times(20, (i) => ({ pattern: `^[a-z]+${i}[0-9]*$` }));
    const { pauses, result } = ofValue({ ...text, anyOf: patterns }, 'a'.repeat(500_000));
    expect(pauses).toBeGreaterThanOrEqual(20 * 15);
    expect(result).toHaveLength(2);
  });

  it('texts that take many states of a pattern, of which there may be only so many', () => {
    const schema = { type: 'array', items: { ...text, pattern: '^(a?){0,999}b$' } };
    const one = ofValue(schema, ['a'.repeat(300)]);
    expect(one.pauses).toBeGreaterThan(50);
    const limited = (limit: number) =>
      paused(withinChecks(limit, (checks) => isValid(valueSchemaOf(schema, names), ['a'.repeat(300)], checks)));
    expect(limited(10_000_000).result).toBe(false);
    expect(limited(10_000).result).toBeUndefined();
  });

  it('short texts, in proportion to the size of their pattern', () => {
    const list = times(2_000, (i) => `a${i}`);
    const small = ofValue({ type: 'array', items: { ...text, pattern: '^[a-z0-9]+$' } }, list);
    const large = ofValue({ type: 'array', items: { ...text, pattern: '^(a|[0-9])?([a-z]?){900}$' } }, list);
    expect(large.pauses).toBeGreaterThan(10 * small.pauses);
  });

  it('a text that takes too many states of a pattern does not match', () => {
    let seed = 1;
    const random = times(50_000, () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return 'abc'[(seed >>> 16) % 3];
    }).join('');
    const { pauses, result } = ofValue({ ...text, pattern: '(a|b|c)*a(a|b|c){300}[de]' }, random);
    expect(pauses).toBeGreaterThan(10);
    expect(result).toHaveLength(1);
  });
});

describe('a schema with many properties', () => {
  /** So many objects of ten texts each. */
  const schemaOf = (count: number) => ({
    type: 'object',
    properties: Object.fromEntries(times(count, (i) => [`o${i}`, { type: 'object', properties: fields }])),
  });
  const fields = Object.fromEntries(times(10, (i) => [`f${i}`, text]));

  it('pauses in proportion to their number when its defaults are validated', () => {
    const run = (count: number) => {
      const { properties } = schemaOf(count);
      const fields = { a: { ...text, default: 'a' } };
      const all = Object.keys(properties).map((name) => [name, { type: 'object', properties: fields }]);
      const schema = { type: 'object', properties: Object.fromEntries(all) };
      return paused(validateDefaults(structuralOf(schema, names), '', names)).pauses;
    };
    const [one, two] = [run(1_000), run(2_000)];
    expect(one).toBeGreaterThanOrEqual(10);
    expect(two).toBeGreaterThanOrEqual(1.5 * one);
    expect(two).toBeLessThanOrEqual(2.5 * one);
  });

  it('is not searched for rules, embedded resources and types of lists when an object is validated', () => {
    const structural = structuralOf(schemaOf(1_000), names);
    const { properties } = structural;
    const searched = vi.fn();
    for (const method of ['values', 'entries', Symbol.iterator] as const) {
      Object.defineProperty(properties, method, { value: searched });
    }
    const object = { o7: { f1: 'a' } };
    expect(paused(validateLists(structural, object, undefined)).result).toEqual([]);
    expect(paused(validateEmbedded(structural, object, names)).result).toEqual([]);
    expect(ruleValidator(structural)).toBeUndefined();
    expect(searched).not.toHaveBeenCalled();
  });
});

describe('the validation of custom objects', () => {
  it('reads no more of the schema once it has found as much as it reports', () => {
    const names = times(5_000, (i) => `p${i}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'integer' }]));
    const read = vi.fn(() => ({ type: 'integer' }));
    Object.defineProperty(properties, 'p4999', { get: read, enumerable: true });
    const value = Object.fromEntries(names.map((name) => [name, 'text']));
    expect(ofValue({ type: 'object', properties }, value).result.length).toBeLessThan(5_000);
    expect(read).not.toHaveBeenCalled();
  });

  it('explains objects without a look at properties that they do not have', () => {
    const properties = Object.fromEntries(times(1_000, (i) => [`p${i}`, text]));
    const looks = vi.fn(() => Object.keys(properties));
    const wide = { type: 'object', properties: new Proxy(properties, { ownKeys: looks }) };
    const schema = { type: 'object', properties: { list: { type: 'array', items: wide }, n: { type: 'integer' } } };
    const value = { list: times(500, () => ({ p9: 'a' })), n: 'text' };
    const read = valueSchemaOf(schema, names);
    read.properties?.get('list');
    looks.mockClear();
    expect(paused(validateValue(read, value, '')).result).toHaveLength(1);
    expect(looks).not.toHaveBeenCalled();
  });

  it('pauses in proportion to the required properties', () => {
    const required = times(1_000, (i) => `p${i}`);
    const whole = Object.fromEntries(required.map((name) => [name, 1]));
    const anyOf = [{ required }, { required: ['q'] }];
    const valid = ofValue(
      { type: 'array', items: { anyOf } },
      times(100, () => whole),
    );
    expect(valid.result).toEqual([]);
    expect(valid.pauses).toBeGreaterThanOrEqual(100);
    const items = times(100, (): Json => ({ q: 1 }));
    const invalid = ofValue({ type: 'array', items: { anyOf } }, [...items, {}]);
    expect(invalid.result).not.toEqual([]);
    expect(invalid.pauses).toBeGreaterThanOrEqual(100);
    const repeated = valueSchemaOf({ required: times(1_000, () => 'a') }, names);
    expect(repeated.required).toEqual(['a']);
  });

  it('finds lists and objects in enumerations whatever the order of their keys', () => {
    const schema = { type: 'object', enum: [{ a: 1, b: [{ c: 'x', d: null }] }] };
    expect(ofValue(schema, { b: [{ d: null, c: 'x' }], a: 1 }).result).toEqual([]);
    expect(ofValue(schema, { b: [{ d: null, c: 'y' }], a: 1 }).result).toHaveLength(1);
  });

  it('distinguishes texts, numbers and objects that are written alike in a set', () => {
    const schema = { type: 'array', 'x-kubernetes-list-type': 'set', items: {} };
    expect(ofLists(schema, ['1', 1, '"1', null, 'null', '{}', {}, [], '[]']).result).toEqual([]);
    expect(
      ofLists(schema, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]).result,
    ).toHaveLength(1);
  });
});
