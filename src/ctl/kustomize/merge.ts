/**
 * Strategic merge patches of kustomizations. They differ from those of servers: a patch may have fields that the type does
 * not have, merged items of lists come first, and `$patch` is the only directive.
 */
import {
  getKey,
  isJsonObject,
  type Json,
  type JsonArray,
  type JsonObject,
  jsonEqual,
  setKey,
} from '../../meta/index.ts';
import { type Field, fieldsOf, type Resolved, resolve } from '../../schema/index.ts';
import { CommandError } from '../errors.ts';
import { builtInType } from '../objects/built-in-type.ts';
import { jsonText } from '../output/json.ts';
import { names } from './resource.ts';

/** A value and how it is merged. */
interface Place {
  readonly schema: Resolved | undefined;
  /** Undefined for a list that is replaced; empty for a list of texts that is merged. */
  readonly mergeKeys?: readonly string[] | undefined;
  /** For messages. */
  readonly path: string;
}

/** The object after a patch; undefined when the patch deletes it. Neither is changed. @throws CommandError */
export function mergedObject(object: JsonObject, patch: JsonObject): JsonObject | undefined {
  const { apiVersion = '', kind = '' } = object;
  // The lists of other types are replaced.
  const schema = builtInType(jsonText(apiVersion), jsonText(kind));
  const merged = mergeObject(object, patch, { schema, path: '' });
  return merged === undefined || Object.keys(merged).length === 0 ? undefined : merged;
}

/** Undefined: the field is removed. */
function mergeValue(before: Json | undefined, patch: Json, place: Place): Json | undefined {
  if (patch === null) return undefined;
  if (before === undefined || before === null) before = Array.isArray(patch) ? [] : isJsonObject(patch) ? {} : '';
  if (shapeOf(before) !== shapeOf(patch)) {
    throw new CommandError(
      `the patch has ${shapeOf(patch)} at ${place.path}, where the resource has ${shapeOf(before)}`,
    );
  }
  if (isJsonObject(before) && isJsonObject(patch)) return mergeObject(before, patch, place);
  if (Array.isArray(before) && Array.isArray(patch)) return mergeList(before, patch, place);
  return patch;
}

const shapeOf = (value: Json) =>
  Array.isArray(value) ? 'a list' : isJsonObject(value) ? 'an object' : 'a text, a number or a boolean';

function mergeObject(before: JsonObject, patch: JsonObject, place: Place): JsonObject | undefined {
  const { $patch: directive = 'merge', ...fields } = patch;
  if (directive === 'delete') return undefined;
  if (directive !== 'merge' && directive !== 'replace') throw unknownDirective(directive, place);
  const merged: JsonObject = directive === 'replace' ? {} : { ...before };
  for (const key of Object.keys(fields)) {
    const value = mergeValue(getKey(merged, key), fields[key] ?? null, childOf(place, key));
    if (value === undefined) delete merged[key];
    else setKey(merged, key, value);
  }
  return merged;
}

const unknownDirective = (directive: Json, { path }: Place) =>
  new CommandError(`$patch at ${path || 'the top'} is ${jsonText(directive)}: it must be merge, replace or delete`);

function mergeList(before: JsonArray, patch: JsonArray, place: Place): JsonArray | undefined {
  const { mergeKeys } = place;
  if (mergeKeys === undefined) return patch;
  const directive = patch.find((item) => isJsonObject(item) && '$patch' in item && Object.keys(item).length === 1);
  const changes = patch.filter((item) => item !== directive);
  const { $patch: word = 'merge' } = isJsonObject(directive ?? null) ? (directive as JsonObject) : {};
  if (word === 'delete') return undefined;
  if (word !== 'merge' && word !== 'replace') throw unknownDirective(word, place);
  const items = word === 'replace' ? [] : before;
  if (mergeKeys.length === 0) {
    return [...changes, ...items.filter((item) => !changes.some((change) => jsonEqual(change, item)))];
  }
  return mergeItems(items, changes, mergeKeys, place);
}

/**
 * Items of one merge key stand in the order of the patch, those that it does not have follow. With several keys, new items
 * come first, the others stay in their order.
 */
function mergeItems(before: JsonArray, changes: JsonArray, keys: readonly string[], place: Place): JsonArray {
  const item = { schema: elementOf(place.schema), path: `${place.path}[]` };
  const rest = new Set(before);
  const first: Json[] = [];
  const replaced = new Map<Json, Json | undefined>();
  for (const change of changes) {
    const known = before.find((one) => rest.has(one) && isSameItem(one, change, keys));
    const merged = mergeValue(known, change, item);
    if (known !== undefined && keys.length > 1) replaced.set(known, merged);
    else if (merged !== undefined) first.push(merged);
    if (known !== undefined && keys.length === 1) rest.delete(known);
  }
  const others = [...rest].flatMap((one) => {
    const value = replaced.has(one) ? replaced.get(one) : one;
    return value === undefined ? [] : [value];
  });
  return [...first, ...others];
}

/** Whether items have the same keys. An absent key, such as the protocol of a port, equals each value. */
function isSameItem(one: Json, other: Json, keys: readonly string[]): boolean {
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  const equals = (key: string) => jsonText(one[key]) === jsonText(other[key]);
  const isOpen = (key: string) => one[key] === undefined || other[key] === undefined;
  return keys.some((key) => !isOpen(key) && equals(key)) && keys.every((key) => isOpen(key) || equals(key));
}

function elementOf(schema: Resolved | undefined): Resolved | undefined {
  return schema?.type === 'list' ? resolve(schema.element) : undefined;
}

function childOf({ schema, path }: Place, key: string): Place {
  const child = path === '' ? key : `${path}.${key}`;
  if (schema?.type === 'map') return { schema: resolve(schema.value), path: child };
  const field = schema?.type === 'struct' ? fieldsOf(schema, names).get(key) : undefined;
  return { schema: field && resolve(field.schema), mergeKeys: field && mergeKeysOf(field), path: child };
}

function mergeKeysOf({ patchStrategy = '', patchMergeKey, listMapKeys }: Field): readonly string[] | undefined {
  if (!patchStrategy.split(',').includes('merge')) return undefined;
  return listMapKeys ?? (patchMergeKey === undefined ? [] : [patchMergeKey]);
}
