import {
  type FieldError,
  fieldError,
  getKey,
  identityInSteps,
  isJsonObject,
  type Json,
  type JsonObject,
  Pace,
  type Steps,
  setKey,
} from '../../meta/index.ts';
import type { Structural } from '../structural.ts';

/** The duplicates in the lists of type `set` and `map` of a value. `path` is that of the value, empty at the top. */
export function* validateListTypes(schema: Structural, value: Json, path = ''): Steps<FieldError[]> {
  const findings: Found = { errors: [], pace: new Pace() };
  yield* check(schema, value, path, findings);
  return findings.errors;
}

interface Found {
  readonly errors: FieldError[];
  readonly pace: Pace;
}

function* check(schema: Structural, value: Json, path: string, findings: Found): Steps<void> {
  if (!schema.has.listTypes) return;
  if (findings.pace.over()) yield;
  if (Array.isArray(value)) {
    if (schema.listType === 'set') yield* checkSet(value, path, findings);
    else if (schema.listType === 'map') yield* checkMap(schema, value, path, findings);
    const { items } = schema;
    if (items === undefined || !items.has.listTypes) return;
    for (let i = 0; i < value.length; i++) yield* check(items, value[i] as Json, `${path}[${i}]`, findings);
  } else if (isJsonObject(value)) {
    const { properties, additionalProperties: additional } = schema;
    for (const key in value) {
      const property = properties.get(key);
      const item = value[key] as Json;
      if (additional !== undefined && additional !== true) yield* check(additional, item, `${path}[${key}]`, findings);
      if (property !== undefined) yield* check(property, item, path === '' ? key : `${path}.${key}`, findings);
    }
  }
}

const asItIs = (item: Json): Json => item;

function* checkSet(list: readonly Json[], path: string, findings: Found): Steps<void> {
  yield* reportSecondOnes(list, asItIs, path, findings);
}

function* checkMap({ listMapKeys }: Structural, list: readonly Json[], path: string, findings: Found): Steps<void> {
  const stray = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (stray >= 0) {
    const why = 'must be an object for an array of list-type map';
    findings.errors.push(fieldError.invalid(`${path}[${stray}]`, list[stray], why));
    return;
  }
  const keyOf = (item: Json): Json => keysOf(item as JsonObject | null, listMapKeys);
  yield* reportSecondOnes(list, keyOf, path, findings);
}

function keysOf(item: JsonObject | null, names: readonly string[]): JsonObject {
  const keys: JsonObject = {};
  for (const name of item === null ? [] : names) {
    const value = getKey(item as JsonObject, name);
    if (value !== undefined) setKey(keys, name, value);
  }
  return keys;
}

/** Reports each value of the items where it occurs for the second time. */
function* reportSecondOnes(
  list: readonly Json[],
  shownOf: (item: Json) => Json,
  path: string,
  { errors, pace }: Found,
): Steps<void> {
  if (list.length < 2) return;
  const times = new Map<unknown, number>();
  for (const [i, item] of list.entries()) {
    const value = shownOf(item);
    const identity = yield* identityInSteps(value, pace);
    const before = times.get(identity) ?? 0;
    if (before === 1) errors.push(fieldError.duplicate(`${path}[${i}]`, value));
    times.set(identity, before + 1);
  }
}
