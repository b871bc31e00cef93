import { describe, expect, it } from 'vitest';
import {
  CelError,
  type CelType,
  Double,
  Duration,
  ListValue,
  MapListValue,
  ObjectValue,
  SetListValue,
  Timestamp,
} from '../../cel/index.ts';
import { type Json, type JsonObject, namesFor } from '../../meta/index.ts';
import { structuralOf } from '../structural.ts';
import { minSizeOf } from './sizes.ts';
import { type Binding, bindingOf } from './types.ts';

const names = namesFor('k8s.io');
const text = { type: 'string' };
const of = (schema: JsonObject) => structuralOf(schema, names);
const bind = (schema: JsonObject, isResource = false) => bindingOf(of(schema), isResource, 'self') as Binding;
const list = (items: JsonObject): JsonObject => ({ type: 'array', items });
const maxSize = (type: CelType) => (type as { maxSize?: number }).maxSize;

describe('bounds of values', () => {
  it.each<[JsonObject, number | undefined]>([
    [list({ type: 'boolean' }), 629_145],
    [list({ type: 'integer' }), 1_572_863],
    [list({ type: 'number' }), 1_572_863],
    [list(text), 1_048_575],
    [list({ type: 'string', format: 'duration' }), 786_431],
    [list({ type: 'string', format: 'date-time' }), 142_987],
    [list({ type: 'string', format: 'date' }), 241_978],
    [list({ 'x-kubernetes-int-or-string': true }), 1_572_863],
    [list(list(text)), 1_048_575],
    [{ ...list(text), maxItems: 10 }, 10],
    [{ ...list(text), maxItems: -1 }, 0],
    [list({ type: 'object', properties: { a: text } }), 1_048_575],
    [list({ type: 'object', properties: { required: text }, required: ['required'] }), 185_042],
    [list({ type: 'object', properties: { field: { ...text, default: 'x' } }, required: ['field'] }), 1_048_575],
    [{ type: 'object', additionalProperties: text }, 393_215],
    [{ type: 'object', additionalProperties: text, maxProperties: 15 }, 15],
    [text, 3_145_726],
    [{ type: 'string', format: 'constructor' }, 3_145_726],
    [{ type: 'string', maxLength: 20 }, 80],
    [{ type: 'string', enum: ['a', 'bb', 'é€'] }, 5],
    [{ type: 'string', enum: ['a'], maxLength: 2 }, 8],
    [{ type: 'string', format: 'byte' }, 3_145_726],
    [{ type: 'string', format: 'byte', maxLength: 20 }, 20],
    [{ type: 'string', format: 'duration' }, 32],
    [{ type: 'string', format: 'date' }, 12],
    [{ type: 'string', format: 'date-time' }, 32],
    [{ 'x-kubernetes-int-or-string': true }, 3_145_726],
    [{ type: 'integer' }, undefined],
    [{ type: 'object', properties: {} }, undefined],
  ])('%j has at most %s elements', (schema, size) => {
    expect(maxSize(bind(schema).type)).toBe(size);
  });

  it('counts the identity that an embedded resource requires', () => {
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, required: ['kind', 'metadata'] };
    expect(minSizeOf(of(embedded))).toBe(2 + (4 + 2 + 4) + (8 + 2 + 4));
  });
});

describe('types of values', () => {
  const fields = (schema: JsonObject, isResource = false) => {
    const { type } = bind(schema, isResource);
    return 'identifiers' in type ? [...type.identifiers()].sort() : undefined;
  };
  const unknown = { 'x-kubernetes-preserve-unknown-fields': true };

  it('declares the fields whose name and type expressions can use', () => {
    const properties = { 'a-b': text, in: text, '1': text, unknown, list: list(unknown), __proto__: text };
    expect(fields({ type: 'object', properties })).toEqual(['__in__', 'a__dash__b']);
  });

  it('declares the identity of resources', () => {
    const type = bind({ type: 'object', properties: { spec: text } }, true).type;
    if (!('identifiers' in type)) throw new Error(type.kind);
    expect([...type.identifiers()].sort()).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    const metadata = type.field('metadata')?.type;
    expect(metadata && 'identifiers' in metadata && [...metadata.identifiers()]).toEqual(['name', 'generateName']);
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, ...unknown };
    const inner = bind({ type: 'object', properties: { embedded } }).type;
    const field = inner.kind === 'object' ? inner.field('embedded')?.type : undefined;
    expect(field && 'identifiers' in field && [...field.identifiers()].sort()).toEqual([
      'apiVersion',
      'kind',
      'metadata',
    ]);
  });

  it('keeps what a schema declares of the metadata when it declares all of it', () => {
    const metadata = { type: 'object', properties: { name: { ...text, maxLength: 5 }, generateName: text } };
    const type = bind({ type: 'object', properties: { kind: text, apiVersion: text, metadata } }, true).type;
    const inner = type.kind === 'object' ? type.field('metadata')?.type : undefined;
    const name = inner?.kind === 'object' ? inner.field('name')?.type : undefined;
    expect(name && maxSize(name)).toBe(20);
  });

  it('names the types of objects after their place', () => {
    const inner = { type: 'object', properties: { b: text } };
    const type = bind({
      type: 'object',
      properties: { 'l-1': list({ type: 'object', additionalProperties: inner }) },
    }).type;
    const at = type.kind === 'object' ? type.field('l__dash__1')?.type : undefined;
    expect(at).toMatchObject({ kind: 'list', element: { kind: 'map', value: { name: 'self.l__dash__1.@idx.@elem' } } });
  });

  it('has no type for values of which nothing is known', () => {
    for (const schema of [unknown, list(unknown), { type: 'object', additionalProperties: list(unknown) }]) {
      expect(bindingOf(of(schema), false, 'self')).toBeUndefined();
    }
    expect(bind({ type: 'object', additionalProperties: true }).type.kind).toBe('object');
  });

  it('makes the type of a field when it is asked for, once', () => {
    const type = bind({ type: 'object', properties: { a: { type: 'object', properties: { b: text } } } }).type;
    if (type.kind !== 'object') throw new Error(type.kind);
    expect(type.field('a')).toBe(type.field('a'));
    expect(type.field('b')).toBeUndefined();
    expect(type.field('__proto__')).toBeUndefined();
  });
});

describe('values', () => {
  const read = (schema: JsonObject, json: Json) => bind(schema).read(json);

  it.each<[JsonObject, Json, unknown]>([
    [text, 'x', 'x'],
    [{ type: 'boolean' }, true, true],
    [{ type: 'integer' }, 5, 5],
    [{ type: 'integer' }, 2n ** 60n, 2n ** 60n],
    [{ type: 'number' }, 5, new Double(5)],
    [{ 'x-kubernetes-int-or-string': true }, '50%', '50%'],
    [{ 'x-kubernetes-int-or-string': true }, 50, 50],
    [{ type: 'string', nullable: true }, null, null],
    [{ type: 'string', format: 'date' }, '1970-01-02', new Timestamp(86_400, 0)],
    [{ type: 'string', format: 'date-time' }, '1970-01-01T00:00:01.5Z', new Timestamp(1, 500_000_000)],
    [{ type: 'string', format: 'date-time' }, '1969-12-31T23:59:59.25', new Timestamp(-1, 250_000_000)],
    [{ type: 'string', format: 'date-time' }, '', new Timestamp(0, 0)],
    [{ type: 'string', format: 'duration' }, '1h0m1s', new Duration(3_601_000_000_000n)],
    [{ type: 'string', format: 'duration' }, '3 days', new Duration(259_200_000_000_000n)],
    [{ type: 'string', format: 'byte' }, 'YWI=', new Uint8Array([97, 98])],
  ])('%s of %s is read', (schema, json, value) => {
    expect(read(schema, json)).toEqual(value);
  });

  it.each<[JsonObject, Json, string]>([
    [text, 5, 'invalid data, expected string, got int64'],
    [text, null, 'invalid data, got null for schema with nullable=false'],
    [{ type: 'integer' }, 1.5, 'invalid data, expected int, got float64'],
    [{ type: 'integer' }, 2n ** 63n, 'invalid data, expected int, got int64'],
    [{ type: 'number' }, 'x', 'invalid data, expected float, got string'],
    [{ type: 'boolean' }, [], 'invalid data, expected bool, got []interface {}'],
    [{ type: 'object' }, [], 'invalid data, expected a map for the provided schema with type=object'],
    [list(text), {}, 'invalid data, expected an array for the provided schema with type=array'],
    [
      { 'x-kubernetes-int-or-string': true },
      1.5,
      'invalid data, expected XIntOrString value to be either a string or integer',
    ],
    [{ type: 'string', format: 'duration' }, 'x', 'Invalid duration x: unable to parse x as duration'],
    [{ type: 'string', format: 'byte' }, 'a', 'Invalid byte formatted string a: illegal base64 data'],
    [{ type: 'string', format: 'date' }, 'x', 'Invalid date formatted string x: must have the form 2006-01-02'],
  ])('%s of %s fails', (schema, json, message) => {
    const fails = () => read(schema, json);
    expect(fails).toThrow(CelError);
    expect(fails).toThrow(message);
  });

  it('reads lists by their list type, and objects in place', () => {
    const items = { type: 'object', properties: { 'k-1': text } };
    const json = [{ 'k-1': 'a' }];
    expect(read(list(text), [])).toBeInstanceOf(ListValue);
    expect(read({ ...list(text), 'x-kubernetes-list-type': 'set' }, [])).toBeInstanceOf(SetListValue);
    const map = read({ ...list(items), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k-1'] }, json);
    expect(map).toMatchObject({ keyFields: ['k__dash__1'] });
    if (!(map instanceof MapListValue)) throw new Error('no list map');
    const item = map.get(0);
    if (!(item instanceof ObjectValue)) throw new Error('no object');
    expect(item.json).toBe(json[0]);
    expect(item.get('k__dash__1')).toBe('a');
  });
});
