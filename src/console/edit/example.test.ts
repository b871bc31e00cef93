import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { schemaOfKind } from '../object/schema.ts';
import type { Kind } from '../state/discovery.ts';
import { exampleOf, exampleValue } from './example.ts';

const gvk = { group: 'example.com', version: 'v1', kind: 'Thing' };
const kind = { ...gvk, apiVersion: 'example.com/v1', namespaced: true } as Kind;

function schemaOf(spec: JsonObject, definitions: { [name: string]: JsonObject } = {}) {
  const properties = { apiVersion: { type: 'string' }, metadata: { type: 'object' }, spec };
  const root = { 'x-kubernetes-group-version-kind': [gvk], type: 'object', properties };
  return schemaOfKind({ Thing: root, ...definitions }, gvk, 'x-kubernetes-');
}

describe('an example of a kind', () => {
  it('has its required fields, each with its default, its first choice or a value of its type', () => {
    const properties = {
      name: { type: 'string' },
      colour: { type: 'string', enum: ['red', 'green'] },
      count: { type: 'integer', minimum: 2 },
      size: { type: 'integer', default: 5 },
      ports: { type: 'array', items: { type: 'integer' } },
      optional: { type: 'string' },
    };
    const required = ['name', 'colour', 'count', 'size', 'ports'];
    expect(exampleOf(kind, schemaOf({ type: 'object', required, properties }), 'team')).toEqual({
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name: 'example', namespace: 'team' },
      spec: { name: 'example', colour: 'red', count: 2, size: 5, ports: [1] },
    });
  });

  it('names the object only where the kind has no schema', () => {
    expect(exampleOf(kind, undefined, '')).toMatchObject({ metadata: { name: 'example', namespace: 'default' } });
  });

  it('ends where definitions refer to themselves, many times in each', () => {
    const required = Array.from({ length: 20 }, (_, index) => `field${index}`);
    const properties = Object.fromEntries(required.map((name) => [name, { $ref: '#/components/schemas/Node' }]));
    const node = { type: 'object', required, properties };
    const schema = schemaOf({ $ref: '#/components/schemas/Node' }, { Node: node });
    if (schema === undefined) throw new Error('the kind has no schema');
    expect(JSON.stringify(exampleValue(schema, ['spec'])).length).toBeLessThan(1_000_000);
  });
});
