import { describe, expect, it } from 'vitest';
import { firstSentence, schemaOfKind, typeText } from './schema.ts';

describe('the schema of a field', () => {
  const kind = { group: '', version: 'v1', kind: 'Thing' };
  const thing = {
    'x-kubernetes-group-version-kind': [kind],
    properties: {
      own: { description: 'its own', allOf: [{ $ref: '#/components/schemas/Part' }] },
      plain: { $ref: '#/components/schemas/Part' },
      missing: { $ref: '#/components/schemas/None' },
      loop: { $ref: '#/components/schemas/Loop' },
      list: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-map-keys': ['name'] },
      map: { type: 'object', additionalProperties: { type: 'array', items: { type: 'integer', format: 'int32' } } },
    },
  };
  const part = { type: 'object', description: 'a part', properties: { part: { $ref: '#/components/schemas/Part' } } };
  const loop = { $ref: '#/components/schemas/Loop' };
  const schema = schemaOfKind({ Thing: thing, Part: part, Loop: loop }, kind, 'x-kubernetes-');

  it('is found through references, however often a definition refers to itself', () => {
    expect(schema?.at(['own'])).toMatchObject({ type: 'object', description: 'its own' });
    expect(schema?.at(['plain', 'part', 'part', 'part'])).toMatchObject({ description: 'a part' });
    expect(schema?.at(['loop', 'x'])).toBeUndefined();
    expect(schema?.at(['missing', 'x'])).toBeUndefined();
    expect([schema?.at(['constructor']), schema?.at(['__proto__'])]).toEqual([undefined, undefined]);
  });

  it('tells the keys of a list, and the type as people write it', () => {
    expect([schema?.listKeys(['list']), schema?.listKeys(['map'])]).toEqual([['name'], undefined]);
    expect(typeText(schema?.at(['list']) ?? {})).toBe('[]string');
    expect(typeText(schema?.at(['map']) ?? {})).toBe('map of []integer, int32');
    expect(typeText({})).toBe('object');
  });
});

describe('the first sentence of a description', () => {
  it.each([
    ['One. Two.', 'One.'],
    ['Version 1.2 of it. More.', 'Version 1.2 of it.'],
    ['No full stop', 'No full stop'],
    ['A line\nand another.', 'A line'],
    ['', ''],
  ])('of %j is %j', (description, sentence) => {
    expect(firstSentence(description)).toBe(sentence);
  });
});
