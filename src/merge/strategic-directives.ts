import {
  getKey,
  isJsonObject,
  type Json,
  type JsonArray,
  type JsonObject,
  type Pace,
  StatusError,
  type Steps,
  setKey,
  statusError,
} from '../meta/index.ts';

/** The directives of an object in a strategic merge patch: members that begin with a dollar sign and are not data. */
export interface Directives {
  /** `$patch`. */
  readonly directive: Json | undefined;
  /** `$retainKeys`. */
  readonly retainKeys: Json | undefined;
  /** `$setElementOrder/<list>`, by name of the list. */
  readonly elementOrders: readonly (readonly [string, Json])[];
  /** `$deleteFromPrimitiveList/<list>`, by name of the list. */
  readonly primitiveDeletions: readonly (readonly [string, Json])[];
}

const directive = '$patch';
const retainKeys = '$retainKeys';
const elementOrder = '$setElementOrder';
const deletion = '$deleteFromPrimitiveList';

/** Whether a member of a patch is a directive. */
export function isDirective(key: string): boolean {
  if (!key.startsWith('$')) return false;
  return key === directive || key === retainKeys || key.startsWith(elementOrder) || key.startsWith(deletion);
}

export const directiveOf = (patch: JsonObject): Json | undefined => getKey(patch, directive);

/** A shallow copy of the patch without its `$patch`. */
export function withoutDirective({ [directive]: _, ...members }: JsonObject): JsonObject {
  return members;
}

/** `keys`: those of the patch. @throws StatusError 400 for `$setElementOrder` or `$deleteFromPrimitiveList` without the name of a list */
export function readDirectives(patch: JsonObject, keys: readonly string[]): Directives {
  const elementOrders: [string, Json][] = [];
  const primitiveDeletions: [string, Json][] = [];
  for (const key of keys) {
    if (key.startsWith(elementOrder)) elementOrders.push([listName(key, elementOrder), patch[key] as Json]);
    else if (key.startsWith(deletion)) primitiveDeletions.push([listName(key, deletion), patch[key] as Json]);
  }
  return {
    directive: getKey(patch, directive),
    retainKeys: getKey(patch, retainKeys),
    elementOrders,
    primitiveDeletions,
  };
}

function listName(key: string, prefix: string): string {
  if (key[prefix.length] !== '/') {
    throw malformed(prefix === elementOrder ? 'setElementOrder list' : 'primitive list');
  }
  return key.slice(prefix.length + 1);
}

/** The error for a malformed directive. */
export const malformed = (what: 'retainKeys' | 'setElementOrder list' | 'primitive list') =>
  statusError.badRequest(`invalid patch format of ${what}`);

/**
 * The value of a patch where no live value exists: without `null` members and objects with a `$patch`. Undefined when the
 * value is such an object itself.
 */
export function* plain(value: Json, pace: Pace): Steps<Json | undefined> {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return yield* plainList(value, pace);
  if ((directiveOf(value) ?? null) !== null) return undefined;
  const out: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (pace.over()) yield;
    const member = yield* plain(value[key] as Json, pace);
    if (member !== undefined && member !== null) setKey(out, key, member);
  }
  return out;
}

/** The same for the entries of a list. */
export function* plainList(list: JsonArray, pace: Pace): Steps<JsonArray> {
  const out: JsonArray = [];
  for (const entry of list) {
    if (pace.over()) yield;
    const value = yield* plain(entry, pace);
    if (value !== undefined) out.push(value);
  }
  return out;
}

/** The list of a directive. @throws StatusError 500 for another value, with the message of the reference server */
export function asList(value: Json): JsonArray {
  if (Array.isArray(value)) return value;
  throw unexpected('[]interface {}', value);
}

/** A 500 without a `reason`. */
export const strategicError = (message: string) => new StatusError(500, '', message);

export const unexpected = (expected: string, value: Json) =>
  strategicError(`expected a ${expected}, but received a ${typeName(value)}`);

function typeName(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return Number.isInteger(value) || typeof value === 'bigint' ? 'int64' : 'float64';
}
