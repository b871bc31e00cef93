import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../meta/index.ts';
import { fieldOwners, ownersAt } from './field-owners.ts';
import { type FieldPath, pathText } from './paths.ts';

/** The paths that `jane` owns in an object with these members, by the fields of her entry. */
function ownedBy(members: JsonObject, fieldsV1: Json): string[] {
  const managedFields = [{ manager: 'jane', operation: 'Apply', fieldsV1 }];
  const owners = fieldOwners({ ...members, metadata: { managedFields } });
  return [...owners.keys()].map((key) => pathText(JSON.parse(key) as FieldPath));
}

describe('the owners of the fields of an object', () => {
  it('are those of names, of items by their keys, of values of a set, and of items by position', () => {
    const fields = {
      'f:list': { 'k:{"name":"b","port":1}': { '.': {}, 'f:image': {} } },
      'f:set': { 'v:"two"': {} },
      'f:items': { 'i:1': {} },
    };
    const list = [{ name: 'a' }, { name: 'b', port: 1, image: 'i' }];
    expect(ownedBy({ list, set: ['one', 'two'], items: [1, 2] }, fields)).toEqual([
      'list[1]',
      'list[1].image',
      'set[1]',
      'items[1]',
    ]);
  });

  it('are those of the closest field around a field that has none', () => {
    const owners = fieldOwners({
      spec: { a: { b: 1 } },
      metadata: { managedFields: [{ manager: 'jane', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:a': {} } } }] },
    });
    expect(ownersAt(owners, ['spec', 'a', 'b'])).toEqual([{ manager: 'jane', operation: 'Apply' }]);
    expect(ownersAt(owners, ['spec'])).toEqual([]);
  });

  it('leave out fields that the object does not have, in whatever form it lacks them', () => {
    const below = { 'f:b': {}, 'f:constructor': {}, 'f:length': {}, 'k:{"name":"x"}': {}, 'k:{broken': {}, 'i:0': {} };
    for (const a of [null, 'text', 1, {}, []] as Json[]) expect([a, ownedBy({ a }, { 'f:a': below })]).toEqual([a, []]);
  });

  it('are none where entries are not what they should be', () => {
    for (const fields of [null, 'text', [], { 'f:a': null }] as Json[]) {
      expect(ownedBy({ a: 1 }, fields)).toEqual([]);
    }
    expect(fieldOwners({ metadata: { managedFields: [null, 'text'] } }).size).toBe(0);
    expect(fieldOwners({ metadata: { managedFields: 'text' } }).size).toBe(0);
  });
});
