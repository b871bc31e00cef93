import { describe, expect, it } from 'vitest';
import { type JsonObject, namesFor } from '../../meta/index.ts';
import { structuralOf } from '../structural.ts';
import { fieldPathOf } from './field-path.ts';

const text = { type: 'string' };
const schema = structuralOf(
  {
    type: 'object',
    properties: {
      a: { type: 'object', properties: { b: text, 'c.d': text, "e'f": text, 'g]': text } },
      map: { type: 'object', additionalProperties: { type: 'object', properties: { b: text } } },
      list: { type: 'array', items: { type: 'object', properties: { b: text } } },
    },
  } as JsonObject,
  namesFor('orch.io'),
);

describe('field paths of rules', () => {
  it.each([
    ['.a', 'a'],
    ['.a.b', 'a.b'],
    ["['a']", 'a'],
    ["['a']['b']", 'a.b'],
    [".a['c.d']", 'a.c.d'],
    [".a['e\\'f']", "a.e'f"],
    [".a['g]']", 'a.g]'],
    ['.map.key', 'map[key]'],
    ["['map']['key'].b", 'map[key].b'],
    ['.list', 'list'],
  ])('%s is %s', (path, printed) => {
    expect(fieldPathOf(path, schema)).toBe(printed);
  });

  it.each([
    'a',
    '.',
    '.nope',
    '.a.nope',
    '..a',
    '.a.',
    '[a]',
    '["a"]',
    "['a'",
    "['a'x]",
    "['a",
    "['\\x']",
    '.list[0]',
    '.list.b',
    '.a.b.c',
    '.__proto__',
    'a.b',
  ])('refuses %s', (path) => {
    expect(fieldPathOf(path, schema)).toBeUndefined();
  });
});
