import { describe, expect, it } from 'vitest';
import { atOnce, type JsonObject, namesFor } from '../../meta/index.ts';
import { structuralOf } from '../structural.ts';
import { validateDefaults } from './defaults.ts';
import { normalForms, normalize } from './normal-form.ts';

const names = namesFor('k8s.io');
const at = 'spec.validation.openAPIV3Schema';
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });
const errorsOf = (schema: JsonObject) =>
  atOnce(validateDefaults(structuralOf(schema, names), at, names)).map(({ field, message }) => `${field}: ${message}`);

describe('defaults in definitions', () => {
  it('have the type of their field', () => {
    expect(errorsOf(object({ spec: object({ n: { type: 'integer', default: 'x' } }) }))).toEqual([
      `${at}.properties[spec].properties[n].default: Invalid value: "string":  in body must be of type integer: "string"`,
    ]);
  });

  it('have no unknown fields', () => {
    const schema = object({ a: { type: 'string' } }, { default: { a: 'x', b: 1 } });
    expect(errorsOf(object({ s: schema }))).toEqual([
      `${at}.properties[s].default: Invalid value: {"a":"x","b":1}: must not have unknown fields`,
    ]);
  });

  it('name the field inside that is not valid', () => {
    const items = object({ a: { type: 'string', maxLength: 1 } }, { default: { a: 'xx' } });
    expect(errorsOf(object({ l: { type: 'array', items } }))).toEqual([
      `${at}.properties[l].items.default.a: Too long: may not be more than 1 byte`,
    ]);
  });

  it('of embedded resources have an apiVersion and a kind', () => {
    const embedded = { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-embedded-resource': true };
    expect(errorsOf(object({ e: object({}, { ...embedded, default: { kind: 'A' } }) }))).toEqual([
      `${at}.properties[e].default.apiVersion: Required value`,
    ]);
  });

  // As the reference server answers.
  it('of the root are objects with an apiVersion and a kind', () => {
    const root = (value: JsonObject) => errorsOf(object({ spec: { type: 'string' } }, { default: value }));
    const named = { apiVersion: 'a/v1', kind: 'A', metadata: { name: 'a' } };
    expect(root({})).toEqual([`${at}.default.apiVersion: Required value`, `${at}.default.kind: Required value`]);
    expect(root({ spec: 'x' })).toHaveLength(2);
    expect(root({ ...named, spec: 'x' })).toEqual([]);
    expect(root({ ...named, more: 1 })).toEqual([expect.stringContaining('must not have unknown fields')]);
    expect(root({ apiVersion: 'a/b/c', kind: 'D d', metadata: { name: 'a/b' } })).toEqual([
      `${at}.default.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`,
      expect.stringContaining(
        `${at}.default.kind: Invalid value: "D d": may have mixed case, but should otherwise match: `,
      ),
      `${at}.default.metadata.name: Invalid value: "a/b": may not contain '/'`,
    ]);
    expect(root({ apiVersion: 5, kind: 'A' })).toEqual([
      `${at}.default.apiVersion: Invalid value: 5: must be a string`,
    ]);
  });

  it('may have metadata with unknown fields, which objects do not get', () => {
    const embedded = { 'x-kubernetes-embedded-resource': true };
    const typed = { apiVersion: { type: 'string', default: 'a/v1' }, kind: { type: 'string', default: 'A' } };
    const metadata = { name: 'a', unknown: 'b' };
    const field = (value: string) => ({ type: 'string', default: value });
    const declared = object({ name: field('a'), unknown: field('b') });
    const schema = object({
      whole: object({ x: { type: 'string' } }, { ...embedded, default: { apiVersion: 'a/v1', kind: 'A', metadata } }),
      metadata: object({ ...typed, metadata: { type: 'object', default: metadata } }, embedded),
      fields: object({ ...typed, metadata: declared }, embedded),
    });
    const root = object({ spec: schema });
    expect(errorsOf(root)).toEqual([]);
    const form = normalForms(names)(structuralOf(root, names));
    const given = { spec: { metadata: {}, fields: { metadata: {} } } };
    const whole = { apiVersion: 'a/v1', kind: 'A', metadata: { name: 'a' } };
    expect(normalize(form, given, { names, dropped: false, lenient: false, room: 10_000 })).toEqual({
      spec: { whole, metadata: whole, fields: whole },
    });
  });

  it('may rely on defaults within', () => {
    const inner = object({ a: { type: 'string', default: 'x' } }, { default: {} });
    expect(errorsOf(object({ s: inner, n: { type: 'integer', default: 1 } }))).toEqual([]);
  });

  it('do not multiply', () => {
    let schema: JsonObject = { type: 'string', default: 'x' };
    for (let i = 0; i < 6; i++) {
      const list = { type: 'array', items: object({ a: schema }), default: Array<JsonObject>(30).fill({}) };
      schema = i === 0 ? object({ a: schema }) : list;
    }
    const found = errorsOf(object({ s: schema }));
    expect(found).not.toEqual([]);
    for (const error of found) {
      expect(error).toMatch(
        /\.default: Forbidden: defaults within the defaults of a schema must take no more than 524288 bytes in all$/,
      );
    }
  });

  it('are read once, however deep they are nested', () => {
    const reads = (depth: number): number => {
      let count = 0;
      const countReads = (schema: JsonObject): JsonObject =>
        Object.defineProperty(schema, 'enum', { get: () => void count++, enumerable: true });
      let schema: JsonObject = { type: 'string', default: 'x' };
      for (let i = 0; i < depth; i++) schema = countReads(object({ a: schema }, { default: {} }));
      expect(errorsOf(object({ s: schema }))).toEqual([]);
      return count / depth;
    };
    expect(reads(80)).toBeLessThanOrEqual(1.1 * reads(40));
  });

  it('keep the rules of their schema, within one budget', () => {
    const odd = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self % 2 == 1', message: 'must be odd' }] };
    expect(errorsOf(object({ a: { ...odd, default: 1 }, b: { ...odd, default: 2 } }))).toEqual([
      `${at}.properties[b].default: Invalid value: 2: must be odd`,
    ]);
    const rule = 'self.all(x, self.all(y, true))';
    const costly = { type: 'array', items: { type: 'integer' }, 'x-kubernetes-validations': [{ rule }] };
    const list = { ...costly, default: Array.from({ length: 300 }, (_, i) => i) };
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`p${i}`, list]));
    const found = errorsOf(object(many));
    expect(found[0]).toContain('validation failed due to running out of cost budget');
    expect(errorsOf(object({ p: list }))).toEqual([]);
  });
});
