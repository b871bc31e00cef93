import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { anyValue, field, type ListSchema, list, map, type StructSchema, string, struct } from '../schema/index.ts';
import { compare } from './compare.ts';
import { pathsOf } from './field-set.ts';
import { fieldsOf } from './fields-of.ts';
import { pathText } from './path.ts';
import { objectShape } from './shape.ts';
import { names } from './testing/thing.ts';

// Forms that the schemas of custom types have, and those of built-in types do not.

const setOfText: ListSchema = { ...list(string), listType: 'set' };
const item = struct('test/v1.Item', {
  id: field(1, string, { nullable: true }),
  n: field(2, string, { nullable: true }),
});
const itemsById: ListSchema = { ...list(item), listType: 'map', listMapKeys: ['id'] };
const open: StructSchema = {
  ...struct('test/v1.Open', { a: field(1, setOfText), '{domain}': field(2, string) }),
  open: true,
  literal: true,
};
const custom = struct('test/v1.Custom', {
  open: field(1, open),
  lists: field(2, map(itemsById)),
  nested: field(3, list(setOfText), { listType: 'atomic' }),
  whole: field(4, { ...map(anyValue), mapType: 'atomic' }),
});
const shape = objectShape(custom, names);
const owned = (object: JsonObject) => [...pathsOf(fieldsOf(shape, object))].map(pathText).sort();

it('the shapes of a type are compiled for the fields that an object has', () => {
  const asked: string[] = [];
  const many: StructSchema = {
    ...struct('test/v1.Many', {}),
    fieldOf: (name) => {
      asked.push(name);
      return name.startsWith('f') ? field(1, many, { nullable: true }) : undefined;
    },
  };
  const paths = [...pathsOf(fieldsOf(objectShape(many, names), { f1: { f2: { f3: null } }, g: 1 }))].map(pathText);
  expect(paths).toContain('.f1.f2.f3');
  expect(new Set(asked)).toEqual(new Set(['metadata', 'f1', 'f2', 'f3', 'g']));
});

describe('field sets of custom types', () => {
  it('undeclared fields of an open struct are untyped, declared ones have their type', () => {
    expect(owned({ open: { a: ['x'], other: { b: 1, c: [1] } } })).toEqual([
      '.open.a[="x"]',
      '.open.other',
      '.open.other.b',
      '.open.other.c',
    ]);
  });

  it('names of fields with placeholders are data', () => {
    expect(owned({ open: { '{domain}': 'x' } })).toEqual(['.open.{domain}']);
  });

  it('lists that are not fields have list types', () => {
    expect(owned({ lists: { k: [{ id: 'x', n: '1' }] } })).toEqual([
      '.lists.k',
      '.lists.k[id="x"]',
      '.lists.k[id="x"].id',
      '.lists.k[id="x"].n',
    ]);
  });

  it('an atomic map has one owner', () => {
    expect(owned({ whole: { a: 1, b: 2 } })).toEqual(['.whole']);
  });

  it('changes of undeclared fields are found', () => {
    const { added, removed } = compare(shape, { open: { x: 1 } }, { open: { y: { z: 1 } } });
    expect([...pathsOf(added)].map(pathText)).toEqual(['.open.y', '.open.y.z']);
    expect([...pathsOf(removed)].map(pathText)).toEqual(['.open.x']);
  });
});
