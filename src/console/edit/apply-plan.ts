/** Plans the requests of a change: only changed fields, so that other fields keep their owners. */
import { at, isJsonObject, type Json, type JsonObject, jsonEqual } from '../../meta/index.ts';
import type { FieldOwner, FieldOwners } from '../object/field-owners.ts';
import { type FieldPath, pathKey } from '../object/paths.ts';

export interface Change {
  /** The object as it was read. */
  readonly before: JsonObject;
  /** The object as the user left it. */
  readonly after: JsonObject;
  readonly owners: FieldOwners;
  /** The field manager of the console. */
  readonly manager: string;
  /** The keys of the items of a list; undefined: the list is one value. */
  readonly listKeys: (path: FieldPath) => readonly string[] | undefined;
}

/** A field that the change removes although others own it. */
export interface Removal {
  readonly path: FieldPath;
  readonly managers: readonly string[];
}

/**
 * The configuration to apply: the fields that differ, and those that the console has applied before, which it would lose
 * otherwise. `keepTheirs` leaves out fields of other managers.
 */
export function configurationOf(change: Change, keepTheirs = false): JsonObject {
  const { after } = change;
  const { apiVersion, kind, metadata } = after;
  const { name, namespace } = isJsonObject(metadata) ? metadata : {};
  const chosen = choose({ ...change, keepTheirs }, change.before, after, []);
  const fields = isJsonObject(chosen) ? chosen : {};
  const { metadata: changed = {}, status: _, ...rest } = fields;
  const identity = { name: name ?? '', ...(namespace === undefined ? {} : { namespace }) };
  return {
    apiVersion: apiVersion ?? '',
    kind: kind ?? '',
    ...rest,
    metadata: { ...withoutServerFields(changed as JsonObject), ...identity },
  };
}

/** Fields of the metadata that the server sets. */
export const serverFields = ['managedFields', 'resourceVersion', 'uid', 'generation', 'creationTimestamp', 'selfLink'];

const withoutServerFields = (metadata: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => !serverFields.includes(name)));

/** The part of a value to apply; undefined: none. */
function choose(
  change: Change & { readonly keepTheirs: boolean },
  before: Json | undefined,
  after: Json,
  path: FieldPath,
): Json | undefined {
  if (isJsonObject(after) && isJsonObject(before ?? {})) {
    const members = Object.entries(after).flatMap(([name, value]) => {
      const chosen = choose(change, at(before, name), value, [...path, name]);
      return chosen === undefined ? [] : [[name, chosen] as const];
    });
    if (members.length > 0) return Object.fromEntries(members);
    return before === undefined ? after : undefined;
  }
  const keys = Array.isArray(after) ? change.listKeys(path) : undefined;
  if (Array.isArray(after) && keys !== undefined) return chooseItems(change, before, after, path, keys);
  const owners = change.owners.get(pathKey(path)) ?? [];
  if (change.keepTheirs && before !== undefined && othersOf(owners, change.manager).length > 0) return undefined;
  const differs = before === undefined || !jsonEqual(before, after);
  return differs || isApplied(owners, change.manager) ? after : undefined;
}

function chooseItems(
  change: Change & { readonly keepTheirs: boolean },
  before: Json | undefined,
  after: readonly Json[],
  path: FieldPath,
  keys: readonly string[],
): Json | undefined {
  const items = after.flatMap((item): Json[] => {
    if (!isJsonObject(item)) return [item];
    const index = indexOfItem(before, item, keys);
    const known = index < 0 ? undefined : (before as readonly Json[])[index];
    // The paths of owners are those of the object as it was read.
    const chosen = choose(change, known, item, [...path, index < 0 ? after.length : index]);
    if (!isJsonObject(chosen)) return [];
    const identity: JsonObject = {};
    for (const key of keys) if (item[key] !== undefined) identity[key] = item[key];
    return [{ ...identity, ...chosen }];
  });
  return items.length > 0 ? items : undefined;
}

function indexOfItem(list: Json | undefined, item: JsonObject, keys: readonly string[]): number {
  if (!Array.isArray(list)) return -1;
  return list.findIndex(
    (other) => isJsonObject(other) && keys.every((key) => jsonEqual(other[key] ?? null, item[key] ?? null)),
  );
}

/** The fields that a change removes and that others own: applying cannot remove them. */
export function removalsOf(change: Change): Removal[] {
  return [...removedPaths(change, change.before, change.after, [])]
    .map((path) => ({ path, managers: othersBelow(change, path) }))
    .filter(({ managers }) => managers.length > 0);
}

function* removedPaths(
  change: Change,
  before: Json | undefined,
  after: Json | undefined,
  path: FieldPath,
): Generator<FieldPath> {
  if (before === undefined) return;
  if (after === undefined) {
    yield path;
  } else if (isJsonObject(before) && isJsonObject(after)) {
    for (const [name, value] of Object.entries(before)) {
      if (path.length === 0 && name === 'status') continue;
      if (path.length === 1 && path[0] === 'metadata' && serverFields.includes(name)) continue;
      yield* removedPaths(change, value, at(after, name), [...path, name]);
    }
  } else if (Array.isArray(before) && Array.isArray(after)) {
    const keys = change.listKeys(path);
    if (keys === undefined) return;
    for (const [index, item] of before.entries()) {
      const found = isJsonObject(item) ? indexOfItem(after, item, keys) : index;
      yield* removedPaths(change, item, found < 0 ? undefined : after[found], [...path, index]);
    }
  }
}

/** The other managers of a field and of the fields in it. */
function othersBelow({ owners, manager }: Change, path: FieldPath): string[] {
  const prefix = pathKey(path).slice(0, -1);
  const found = new Set<string>();
  for (const [key, of] of owners) {
    if (key === `${prefix}]` || key.startsWith(`${prefix},`)) for (const name of othersOf(of, manager)) found.add(name);
  }
  return [...found];
}

const othersOf = (owners: readonly FieldOwner[], own: string): string[] =>
  owners.filter(({ manager, operation }) => manager !== own || operation !== 'Apply').map(({ manager }) => manager);

const isApplied = (owners: readonly FieldOwner[], own: string): boolean =>
  owners.some(({ manager, operation }) => manager === own && operation === 'Apply');
