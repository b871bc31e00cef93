/** Who owns which field, from `metadata.managedFields`. */
import { at, isJsonObject, type Json, type JsonObject, jsonEqual, readJsonText } from '../../meta/index.ts';
import { type FieldPath, pathKey } from './paths.ts';

export interface FieldOwner {
  readonly manager: string;
  /** `Apply` or `Update`. */
  readonly operation: string;
}

export type FieldOwners = ReadonlyMap<string, readonly FieldOwner[]>;

/** An entry of `metadata.managedFields`. */
interface ManagedEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: JsonObject;
}

/** The owners of each field of an object, by its path. */
export function fieldOwners(object: JsonObject): FieldOwners {
  const owners = new Map<string, FieldOwner[]>();
  const entries = at(object, 'metadata', 'managedFields');
  for (const entry of Array.isArray(entries) ? entries : []) {
    const { manager = '', operation = '', subresource, fieldsV1 } = (entry ?? {}) as ManagedEntry;
    if (!isJsonObject(fieldsV1)) continue;
    const owner = { manager: subresource === undefined ? manager : `${manager} (${subresource})`, operation };
    for (const path of ownedPaths(fieldsV1, object, [])) {
      const key = pathKey(path);
      owners.set(key, [...(owners.get(key) ?? []), owner]);
    }
  }
  return owners;
}

/** The paths of a set of fields that the object has: leaves, and what is owned as a whole (`.`). */
function* ownedPaths(fields: JsonObject, value: Json, path: FieldPath): Generator<FieldPath> {
  const members = Object.entries(fields);
  if (members.length === 0 || Object.hasOwn(fields, '.')) yield path;
  for (const [member, below] of members) {
    if (member === '.' || !isJsonObject(below)) continue;
    const part = partOf(member, value);
    const next = part === undefined ? undefined : memberOf(value, part);
    if (part !== undefined && next !== undefined) yield* ownedPaths(below, next, [...path, part]);
  }
}

const memberOf = (value: Json, part: string | number): Json | undefined =>
  typeof part === 'string' ? at(value, part) : Array.isArray(value) ? value[part] : undefined;

/**
 * The key or the index that a member of a set of fields means: `f:<name>`, `k:<keys>`, `v:<value>` or `i:<index>`. Undefined:
 * the value has no such member.
 */
function partOf(member: string, value: Json): string | number | undefined {
  const text = member.slice(2);
  if (member.startsWith('f:')) return text;
  if (!Array.isArray(value)) return undefined;
  if (member.startsWith('i:')) return Number(text);
  const identity = readJsonText(text);
  if (identity === undefined) return undefined;
  const matches = (item: Json) =>
    isJsonObject(identity) && isJsonObject(item)
      ? Object.entries(identity).every(([name, key]) => jsonEqual(at(item, name) ?? null, key))
      : jsonEqual(item, identity);
  const index = value.findIndex(matches);
  return index < 0 ? undefined : index;
}

/** The owners of a field, or of the closest field around it that has owners. */
export function ownersAt(owners: FieldOwners, path: FieldPath): readonly FieldOwner[] {
  for (let length = path.length; length > 0; length--) {
    const found = owners.get(pathKey(path.slice(0, length)));
    if (found !== undefined) return found;
  }
  return [];
}
