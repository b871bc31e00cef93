import { describe, expect, it } from 'vitest';
import { type JsonObject, namesFor } from '../../meta/index.ts';
import { compile, type Field, type ListSchema, type StructSchema, validate } from '../../schema/index.ts';
import { structuralOf } from '../structural.ts';
import { structSchemaOf } from './struct-schema.ts';

const names = namesFor('k8s.io');
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });
const schemaOf = (schema: JsonObject) =>
  structSchemaOf(() => structuralOf(object({ spec: schema }), names), 'example.com/v1.Widget').fieldOf?.('spec');

describe('declarations of custom types', () => {
  const keep = { 'x-kubernetes-preserve-unknown-fields': true };
  const cases: { readonly [title: string]: readonly [schema: JsonObject, declared: object] } = {
    'an integer': [
      { type: 'integer', default: 1 },
      { schema: { type: 'int64' }, nullable: true, default: 1 },
    ],
    'int-or-string': [{ 'x-kubernetes-int-or-string': true }, { schema: { type: 'intOrString' } }],
    'no type': [keep, { schema: { type: 'any' } }],
    'an object without fields': [{ type: 'object' }, { schema: { type: 'map', value: { type: 'any' } } }],
    'a map': [
      { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
      { schema: { type: 'map', value: { type: 'string' }, mapType: 'atomic' } },
    ],
    'an object that keeps unknown fields': [
      object({ __proto__: { type: 'string' } as never, '{domain}': { type: 'string' } }, keep),
      { schema: { type: 'struct', open: true, literal: true } },
    ],
    'an atomic object': [
      object({ a: { type: 'boolean' } }, { 'x-kubernetes-map-type': 'atomic' }),
      { schema: { type: 'struct', structType: 'atomic', open: false } },
    ],
    'an embedded resource': [
      object({}, { ...keep, 'x-kubernetes-embedded-resource': true }),
      { schema: { type: 'struct', open: true, fields: { metadata: { schema: { name: 'meta/v1.ObjectMeta' } } } } },
    ],
    'a list of lists': [
      { type: 'array', items: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' } },
      { schema: { type: 'list', listType: 'atomic', element: { type: 'list', listType: 'set' } } },
    ],
    'a list by keys': [
      {
        type: 'array',
        items: object({ id: { type: 'string', default: 'x' } }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['id'],
      },
      { schema: { listType: 'map', listMapKeys: ['id'], element: { type: 'struct' } } },
    ],
  };
  for (const [title, [schema, declared]] of Object.entries(cases)) {
    it(title, () => expect(schemaOf(schema)).toMatchObject(declared));
  }

  it('declares each field when it is asked for', () => {
    const schema = object({ __proto__: { type: 'string' } as never, '{domain}': { type: 'string', default: 'x' } });
    const nested = schemaOf(schema)?.schema as StructSchema;
    expect(nested.fieldOf?.('{domain}')).toMatchObject({ schema: { type: 'string' }, default: 'x' });
    expect(nested.fieldOf?.('toString')).toBeUndefined();
    expect(nested.fields).toEqual({});
  });

  it('names the fields that lead to embedded resources', () => {
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true };
    const list = { type: 'array', items: object({ inner: embedded, other: { type: 'string' } }) };
    const nested = schemaOf(object({ list, text: { type: 'string' } }))?.schema as StructSchema;
    expect(Object.keys(nested.fields)).toEqual(['list']);
    const [declared] = Object.values(nested.fields) as [Field];
    const { element } = declared.schema as ListSchema;
    expect(Object.keys((element as StructSchema).fields)).toEqual(['inner']);
  });

  it('has no rules of its own: objects are validated by their schema', () => {
    const list = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };
    const structural = structuralOf(object({ spec: object({ l: list }, { required: ['x'] }) }), names);
    const type = compile(
      structSchemaOf(() => structural, 'example.com/v1.Widget'),
      names,
    );
    expect(validate({ spec: { l: ['a', 'a'] } }, type)).toEqual([]);
  });
});
