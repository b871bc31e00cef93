import { describe, expect, it } from 'vitest';
import { schemaOfKind } from '../object/schema.ts';
import { yamlProblems } from './validation.ts';

const kind = { group: 'example.com', version: 'v1', kind: 'Thing' };
const spec = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer' },
    colour: { type: 'string', enum: ['red', 'green'] },
    port: { 'x-kubernetes-int-or-string': true },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: { type: 'boolean' } } },
    parts: { type: 'array', items: { allOf: [{ $ref: '#/components/schemas/Part' }] } },
  },
};
/** A part consists of parts. */
const part = {
  type: 'object',
  properties: { name: { type: 'string' }, part: { $ref: '#/components/schemas/Part' } },
};
const schema = schemaOfKind(
  { Thing: { 'x-kubernetes-group-version-kind': [kind], type: 'object', properties: { spec } }, Part: part },
  kind,
  'x-kubernetes-',
);

/** The marked parts of a text, with their messages. */
const problemsOf = (text: string) =>
  yamlProblems(text, schema).map(({ severity, message, from, to }) => [severity, text.slice(from, to), message]);

describe('the problems of a YAML text', () => {
  it('are those of its syntax alone while it is not YAML', () => {
    expect(problemsOf('spec:\n  size: [\n').map(([severity]) => severity)).toContain('error');
    expect(yamlProblems('spec: 1', undefined)).toEqual([]);
  });

  it('are values of another type, unknown and missing fields, and what is not a choice', () => {
    expect(problemsOf('spec:\n  size: big\n  colour: blue\n  sise: 3\n')).toEqual([
      ['warning', 'big', 'The schema expects integer.'],
      ['warning', 'blue', 'The schema allows only red, green.'],
      ['warning', 'sise', 'The schema has no field sise.'],
    ]);
    expect(problemsOf('spec:\n  colour: red\n')).toEqual([['warning', 'spec', 'The schema requires size.']]);
    expect(problemsOf('spec: []\n')).toEqual([['warning', '[]', 'The schema expects object.']]);
  });

  it('are found in lists, maps, and definitions that refer to themselves', () => {
    const text = 'spec:\n  size: 1\n  labels: {a: 1}\n  parts:\n  - part: {part: {name: 2}}\n  - none: x\n';
    expect(problemsOf(text).map(([, marked]) => marked)).toEqual(['1', '2', 'none']);
  });

  it('are none for texts and numbers where both are allowed, nulls, and fields that the schema leaves open', () => {
    expect(problemsOf('spec:\n  size: 1\n  port: 80\n  colour:\n  free: {any: [1], known: true}\n')).toEqual([]);
    expect(problemsOf('spec:\n  size: 1\n  port: 50%\n')).toEqual([]);
    expect(problemsOf('spec:\n  size: 1\n  free: {known: 1}\n').map(([, marked]) => marked)).toEqual(['1']);
  });

  it('are a hundred at most, and take keys such as __proto__ as data', () => {
    const lines = Array.from({ length: 200 }, (_, index) => `  field${index}: 1\n`);
    expect(problemsOf(`spec:\n${lines.join('')}`)).toHaveLength(100);
    expect(problemsOf('spec:\n  size: 1\n  __proto__: 1\n  constructor: 1\n')).toEqual([
      ['warning', '__proto__', 'The schema has no field __proto__.'],
      ['warning', 'constructor', 'The schema has no field constructor.'],
    ]);
  });
});
