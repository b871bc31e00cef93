import {
  getKey,
  isJsonObject,
  type Json,
  type JsonArray,
  type JsonObject,
  StatusError,
  setKey,
  statusError,
} from '../meta/index.ts';

/** What the members of an object in a strategic merge patch say that begin with a dollar sign and are no data. */
export interface Marks {
  /** `$patch`. */
  readonly directive: Json | undefined;
  /** `$retainKeys`. */
  readonly retain: Json | undefined;
  /** `$setElementOrder/<list>`, by list. */
  readonly orders: readonly (readonly [string, Json])[];
  /** `$deleteFromPrimitiveList/<list>`, by list. */
  readonly deletions: readonly (readonly [string, Json])[];
}

const directive = '$patch';
const retainKeys = '$retainKeys';
const elementOrder = '$setElementOrder';
const deletion = '$deleteFromPrimitiveList';

/** Whether a member of a patch is a directive instead of data. */
export function isMark(key: string): boolean {
  if (!key.startsWith('$')) return false;
  return key === directive || key === retainKeys || key.startsWith(elementOrder) || key.startsWith(deletion);
}

export const directiveOf = (patch: JsonObject): Json | undefined => getKey(patch, directive);

/** @throws StatusError 400 for a directive that should name a list and does not */
export function readMarks(patch: JsonObject): Marks {
  const orders: [string, Json][] = [];
  const deletions: [string, Json][] = [];
  for (const key of Object.keys(patch)) {
    if (key.startsWith(elementOrder)) orders.push([listName(key, elementOrder), patch[key] as Json]);
    else if (key.startsWith(deletion)) deletions.push([listName(key, deletion), patch[key] as Json]);
  }
  return { directive: getKey(patch, directive), retain: getKey(patch, retainKeys), orders, deletions };
}

function listName(key: string, prefix: string): string {
  if (key[prefix.length] !== '/') {
    throw malformed(prefix === elementOrder ? 'setElementOrder list' : 'primitive list');
  }
  return key.slice(prefix.length + 1);
}

/** The refusal of a directive that is not written as it must be. */
export const malformed = (what: 'retainKeys' | 'setElementOrder list' | 'primitive list') =>
  statusError.badRequest(`invalid patch format of ${what}`);

/** Whether the whole of an entry is the word that its list is merged, as it would be without. */
export const isBareMerge = (entry: JsonObject): boolean =>
  directiveOf(entry) === 'merge' && Object.keys(entry).length === 1;

/**
 * What a patch holds where there is nothing to merge it with: no directives, no `null` members, no objects that carry
 * `$patch`. Undefined when nothing is left because the value is such an object itself.
 */
export function plain(value: Json): Json | undefined {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return plainList(value);
  const kind = directiveOf(value);
  return kind === undefined || (kind === 'merge' && !isBareMerge(value)) ? plainMembers(value) : undefined;
}

/** The same for the entries of a list. */
export function plainList(list: JsonArray): JsonArray {
  return list.flatMap((entry) => {
    const value = plain(entry);
    return value === undefined ? [] : [value];
  });
}

/** The same for the members of an object whose own directive has been read. */
export function plainMembers(object: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const key of Object.keys(object)) {
    const value = isMark(key) ? undefined : plain(object[key] as Json);
    if (value !== undefined && value !== null) setKey(out, key, value);
  }
  return out;
}

/** The list under a directive. @throws StatusError 500 for another value, in the words of the reference server */
export function asList(value: Json): JsonArray {
  if (Array.isArray(value)) return value;
  throw unexpected('[]interface {}', value);
}

/** A failure that has no reason of its own on the wire. */
export const failed = (message: string) => new StatusError(500, '', message);

export const unexpected = (expected: string, value: Json) =>
  failed(`expected a ${expected}, but received a ${typeName(value)}`);

function typeName(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return Number.isInteger(value) || typeof value === 'bigint' ? 'int64' : 'float64';
}
