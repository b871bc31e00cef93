import { atOnce, type Json, type JsonObject, namesFor, StatusError } from '../../meta/index.ts';
import { anyValue, field, list, map, type StructSchema, string, struct } from '../../schema/index.ts';
import { strategicMergePatch } from '../strategic-patch.ts';

export const names = namesFor('orch.io');

const Port = struct('test/v1.Port', { number: field(1, string), name: field(2, string) });
const Item = struct('test/v1.Item', {
  name: field(1, string),
  value: field(2, string),
  other: field(3, string),
  tags: field(4, list(string), { patchStrategy: 'merge' }),
  ports: field(5, list(Port), { patchStrategy: 'merge', patchMergeKey: 'number' }),
  set: field(6, map(string)),
});
/** A type with a field for each rule of strategic merge patch. */
const Thing = struct('test/v1.Thing', {
  items: field(1, list(Item), { patchStrategy: 'merge', patchMergeKey: 'name' }),
  tags: field(2, list(string), { patchStrategy: 'merge' }),
  args: field(3, list(string)),
  rows: field(4, list(Item)),
  inner: field(5, Item),
  whole: field(6, Item, { patchStrategy: 'replace' }),
  union: field(7, Item, { patchStrategy: 'retainKeys' }),
  labels: field(8, map(string)),
  maps: field(9, map(map(string))),
  lists: field(10, map(list(string))),
  byName: field(11, map(Item)),
  any: field(12, anyValue),
  both: field(13, list(Item), { patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' }),
  text: field(14, string),
  keyless: field(15, list(Item), { patchStrategy: 'merge' }),
  '{domain}/x': field(16, list(string), { patchStrategy: 'merge' }),
});

export const item = (name: string, more: JsonObject = {}): JsonObject => ({ name, ...more });
/** Entries named by single letters. */
export const named = (letters: string): JsonObject[] => letters.split('').map((name) => ({ name }));

export const apply = (object: Json, patch: Json, schema: StructSchema = Thing) =>
  atOnce(strategicMergePatch(object, patch, schema, names));

/** The error of a patch that must fail. */
export function failure(object: Json, patch: Json, schema: StructSchema = Thing): StatusError {
  try {
    apply(object, patch, schema);
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('the patch applied');
}
