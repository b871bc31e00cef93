import { describe, expect, it } from 'vitest';
import { defaultFeatures, type JsonObject, jsonCopy } from '../meta/index.ts';
import {
  dropGated,
  either,
  field,
  gatedFields,
  type LazySchema,
  lazy,
  list,
  map,
  type Schema,
  type StructSchema,
  string,
  struct,
} from './index.ts';

const Node: StructSchema = struct('test/v1.Node', {
  name: field(1, string),
  image: field(2, string, { nullable: true, gate: 'ImageVolume' }),
  users: field(3, string, { gate: 'UserNamespacesSupport' }),
  next: field(4, lazy((): StructSchema => Node) as LazySchema<StructSchema>),
  nodes: field(5, list(lazy((): StructSchema => Node))),
  byName: field(6, map(list(lazy((): StructSchema => Node)))),
  far: field(8, string, { nullable: true, gate: 'ImageVolume', gateDrops: 'holder' }),
  only: field(9, string, { nullable: true, gate: 'ImageVolume', gateDrops: 'empty holder' }),
  odd: field(
    7,
    either<Schema>(
      'test/v1.Odd',
      string,
      lazy((): StructSchema => Node),
    ),
  ),
});
const features = { ...defaultFeatures, ImageVolume: false, UserNamespacesSupport: true };

function dropped(object: JsonObject, old?: JsonObject, on = features): JsonObject {
  const copy = jsonCopy(object);
  const fields = gatedFields(Node, on);
  if (fields !== undefined) dropGated(copy, old, fields);
  return copy;
}

describe('fields whose feature gate is off', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['of the object', { name: 'a', image: 'i', users: 'u' }, { name: 'a', users: 'u' }],
    ['below it', { next: { next: { image: 'i', name: 'a' } } }, { next: { next: { name: 'a' } } }],
    ['in lists', { nodes: [{ image: 'i' }, { name: 'b', image: 'j' }] }, { nodes: [{}, { name: 'b' }] }],
    [
      'in maps',
      { byName: { x: [{ image: 'i' }], image: [{ name: 'i' }] } },
      { byName: { x: [{}], image: [{ name: 'i' }] } },
    ],
    ['in one of several forms', { odd: { image: 'i' } }, { odd: {} }],
    ['with what holds them', { name: 'a', next: { name: 'b', far: 'f' } }, { name: 'a' }],
    ['with what they leave empty', { next: { only: 'x' } }, {}],
    ['without what they do not leave empty', { next: { only: 'x', name: 'b' } }, { next: { name: 'b' } }],
    ['without what is empty already', { next: {} }, { next: {} }],
    ['of items, which stay', { nodes: [{ far: 'f' }, { only: 'x' }] }, { nodes: [{}, {}] }],
    ['that say nothing', { image: null, name: 'a' }, { image: null, name: 'a' }],
  ])('are dropped %s', (_, object, expected) => expect(dropped(object)).toEqual(expected));

  it('are kept when the old object uses the feature anywhere', () => {
    const object = { name: 'a', image: 'i' };
    expect(dropped(object, { name: 'a' })).toEqual({ name: 'a' });
    expect(dropped(object, { nodes: [{ image: 'j' }] })).toEqual(object);
  });

  it('are dropped by their own gate', () => {
    const off = { ...features, UserNamespacesSupport: false };
    expect(dropped({ image: 'i', users: 'u' }, { users: 'v' }, off)).toEqual({ users: 'u' });
  });

  it('are none when all gates are on', () => {
    expect(gatedFields(Node, { ...features, ImageVolume: true })).toBeUndefined();
  });
});
