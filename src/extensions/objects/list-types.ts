import {
  type FieldError,
  fieldError,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  setKey,
} from '../../meta/index.ts';
import type { Structural } from '../structural.ts';
import { anywhere } from './anywhere.ts';
import { identityOf } from './valid.ts';

/** The duplicates in the lists of type `set` and `map` of a value. `path` is that of the value, empty at the top. */
export function validateListTypes(schema: Structural, value: Json, path = ''): FieldError[] {
  const errors: FieldError[] = [];
  check(schema, value, path, errors);
  return errors;
}

function check(schema: Structural, value: Json, path: string, errors: FieldError[]): void {
  if (!mayHoldListTypes(schema)) return;
  if (Array.isArray(value)) {
    if (schema.listType === 'set') checkSet(value, path, errors);
    else if (schema.listType === 'map') checkMap(schema, value, path, errors);
    const { items } = schema;
    if (items === undefined || !mayHoldListTypes(items)) return;
    for (let i = 0; i < value.length; i++) check(items, value[i] as Json, `${path}[${i}]`, errors);
  } else if (isJsonObject(value)) {
    const { properties, additionalProperties: additional } = schema;
    for (const key in value) {
      const property = properties.get(key);
      const item = value[key] as Json;
      if (additional !== undefined && additional !== true) check(additional, item, `${path}[${key}]`, errors);
      if (property !== undefined) check(property, item, path === '' ? key : `${path}.${key}`, errors);
    }
  }
}

/** Whether a value of the schema may have a list of type `set` or `map`. */
const mayHoldListTypes = anywhere(({ listType }) => listType === 'set' || listType === 'map');

function checkSet(list: readonly Json[], path: string, errors: FieldError[]): void {
  for (const i of secondOnes(list.map(identityOf))) errors.push(fieldError.duplicate(`${path}[${i}]`, list[i] as Json));
}

function checkMap({ listMapKeys }: Structural, list: readonly Json[], path: string, errors: FieldError[]): void {
  const stray = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (stray >= 0) {
    const why = 'must be an object for an array of list-type map';
    errors.push(fieldError.invalid(`${path}[${stray}]`, list[stray], why));
    return;
  }
  if (list.length < 2) return;
  const keys = list.map((item) => keysOf(item as JsonObject | null, listMapKeys));
  for (const i of secondOnes(keys.map(identityOf))) errors.push(fieldError.duplicate(`${path}[${i}]`, keys[i] as Json));
}

function keysOf(item: JsonObject | null, names: readonly string[]): JsonObject {
  const keys: JsonObject = {};
  for (const name of item === null ? [] : names) {
    const value = getKey(item as JsonObject, name);
    if (value !== undefined) setKey(keys, name, value);
  }
  return keys;
}

/** The index at which each value occurs for the second time. */
function secondOnes(identities: readonly unknown[]): number[] {
  if (identities.length < 2) return [];
  const times = new Map<unknown, number>();
  const found: number[] = [];
  identities.forEach((identity, i) => {
    const before = times.get(identity) ?? 0;
    if (before === 1) found.push(i);
    times.set(identity, before + 1);
  });
  return found;
}
