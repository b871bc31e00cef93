/** Who owns which field, from `metadata.managedFields`. */
import { isJsonObject, type Json, type JsonObject, jsonEqual } from '../../meta/index.ts';
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
  const { metadata } = object;
  const entries = isJsonObject(metadata) ? (metadata['managedFields'] as readonly ManagedEntry[] | undefined) : [];
  for (const { manager = '', operation = '', subresource, fieldsV1 } of entries ?? []) {
    if (fieldsV1 === undefined) continue;
    const owner = { manager: subresource === undefined ? manager : `${manager} (${subresource})`, operation };
    for (const path of ownedPaths(fieldsV1, object, [])) {
      const key = pathKey(path);
      owners.set(key, [...(owners.get(key) ?? []), owner]);
    }
  }
  return owners;
}

/** The paths of a set of fields that the object has: leaves, and what is owned as a whole (`.`). */
function* ownedPaths(fields: JsonObject, value: Json | undefined, path: FieldPath): Generator<FieldPath> {
  const members = Object.entries(fields);
  if (members.length === 0 || Object.hasOwn(fields, '.')) yield path;
  for (const [member, below] of members) {
    if (member === '.' || !isJsonObject(below)) continue;
    const part = partOf(member, value);
    if (part === undefined) continue;
    const next = (value as JsonObject)[part as string];
    if (next !== undefined) yield* ownedPaths(below, next, [...path, part]);
  }
}

/** The key or the index that a member of a set of fields means: `f:<name>`, `k:<keys>`, `v:<value>` or `i:<index>`. */
function partOf(member: string, value: Json | undefined): string | number | undefined {
  const text = member.slice(2);
  if (member.startsWith('f:')) return text;
  if (!Array.isArray(value)) return undefined;
  if (member.startsWith('i:')) return Number(text);
  const wanted = JSON.parse(text) as Json;
  const matches = (item: Json) =>
    isJsonObject(wanted) && isJsonObject(item)
      ? Object.entries(wanted).every(([name, key]) => jsonEqual(item[name] ?? null, key))
      : jsonEqual(item, wanted);
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
