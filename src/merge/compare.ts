import { isJsonObject, type Json, type JsonObject, jsonEqual } from '../meta/index.ts';
import { type FieldSet, type FieldSetDraft, leaf } from './field-set.ts';
import { elementOf, identityOf, wholeOf } from './fields-of.ts';
import { fieldElement, type PathElement } from './path.ts';
import { type ListShape, memberShape, type ObjectShape, type Shape, type StructShape, untyped } from './shape.ts';

/** The differences between two objects. */
export interface Comparison {
  /** Fields only in the second object, including new structs, maps and lists that contain them. */
  readonly added: FieldSet;
  /** Fields only in the first object, including removed structs, maps and lists that contained them. */
  readonly removed: FieldSet;
  /** Leaves of both objects with different values. */
  readonly modified: FieldSet;
}

/** Compares two objects. */
export function compare(shape: StructShape, before: JsonObject, after: JsonObject): Comparison {
  const differences = new Differences();
  walk(shape, before, after, differences);
  return differences;
}

export class Differences implements Comparison {
  readonly added: FieldSetDraft = {};
  readonly removed: FieldSetDraft = {};
  readonly modified: FieldSetDraft = {};
  /** The path of the value under comparison. */
  readonly path: PathElement[] = [];

  /** Adds a node at the path if the set has none there. */
  put(set: FieldSetDraft, node: FieldSet | undefined): void {
    if (node === undefined) return;
    const { path } = this;
    let parent = set;
    for (let i = 0; i < path.length - 1; i++) {
      const element = path[i] as PathElement;
      let child = parent[element] as FieldSetDraft | undefined;
      if (child === undefined) {
        child = {};
        parent[element] = child;
      }
      parent = child;
    }
    parent[path.at(-1) as PathElement] = node;
  }
}

export function walk(shape: Shape, before: Json | undefined, after: Json | undefined, differences: Differences): void {
  if (before === after) return;
  if (before === undefined) {
    differences.put(differences.added, wholeOf(shape, after as Json));
    return;
  }
  if (after === undefined) {
    differences.put(differences.removed, wholeOf(shape, before));
    return;
  }
  switch (shape.kind) {
    case 'unowned':
      return;
    case 'scalar':
      walkLeaf(before, after, differences);
      return;
    case 'untyped':
      walkUntyped(before, after, differences);
      return;
    case 'list':
      walkList(shape, before, after, differences);
      return;
    default:
      if (shape.atomic) walkLeaf(before, after, differences);
      else walkObject(shape, before, after, differences);
  }
}

function walkLeaf(before: Json, after: Json, differences: Differences): void {
  if (!jsonEqual(before, after)) differences.put(differences.modified, leaf);
}

function walkUntyped(before: Json, after: Json, differences: Differences): void {
  const objects = Number(isJsonObject(before)) + Number(isJsonObject(after));
  if (objects === 2 || (objects === 1 && (before === null || after === null))) {
    walkObject(untyped, before, after, differences);
    return;
  }
  walkLeaf(before, after, differences);
  // When an object replaces a value of another type, or is replaced by one, its members are added or removed.
  if (objects === 1)
    walkObject(untyped, isJsonObject(before) ? before : null, isJsonObject(after) ? after : null, differences);
}

/** `null` counts as an object without members, but differs from the empty object. */
function walkObject(shape: ObjectShape, before: Json, after: Json, differences: Differences): void {
  const old = isJsonObject(before) ? before : nothing;
  const now = isJsonObject(after) ? after : nothing;
  let empty = true;
  for (const key in old) {
    empty = false;
    const is = Object.hasOwn(now, key) ? now[key] : undefined;
    if (old[key] !== is) walkMember(shape, key, old[key], is, differences);
  }
  for (const key in now) {
    empty = false;
    if (!Object.hasOwn(old, key)) walkMember(shape, key, undefined, now[key], differences);
  }
  if (empty) walkLeaf(before, after, differences);
}

export const nothing: JsonObject = {};

function walkMember(
  shape: ObjectShape,
  key: string,
  before: Json | undefined,
  after: Json | undefined,
  differences: Differences,
): void {
  const inner = memberShape(shape, key);
  if (inner === undefined) return;
  differences.path.push(fieldElement(key));
  walk(inner, before, after, differences);
  differences.path.pop();
}

function walkList(shape: ListShape, before: Json, after: Json, differences: Differences): void {
  const old = Array.isArray(before) ? before : [];
  const now = Array.isArray(after) ? after : [];
  if (shape.listType === 'atomic' || old.length + now.length === 0) {
    walkLeaf(before, after, differences);
    return;
  }
  let start = 0;
  let rest = Math.min(old.length, now.length);
  while (start < rest && jsonEqual(old[start], now[start])) start++;
  rest -= start;
  let end = 0;
  while (end < rest && jsonEqual(old[old.length - 1 - end], now[now.length - 1 - end])) end++;
  if (start + end === old.length && old.length === now.length) return;
  const was = entriesByIdentity(shape, old.slice(start, old.length - end));
  const is = entriesByIdentity(shape, now.slice(start, now.length - end));
  const equal = [...old.slice(0, start), ...old.slice(old.length - end)];
  for (const entry of equal) {
    const identity = identityOf(shape, entry);
    if (!was.has(identity) && !is.has(identity)) continue;
    // The entry has duplicates: compare the whole lists.
    walkEntries(shape, entriesByIdentity(shape, old), entriesByIdentity(shape, now), differences);
    return;
  }
  walkEntries(shape, was, is, differences);
}

export type Entries = ReadonlyMap<string, Json[]>;

function walkEntries(shape: ListShape, was: Entries, is: Entries, differences: Differences): void {
  for (const [identity, entries] of was) walkEntry(shape, entries, is.get(identity) ?? [], differences);
  for (const [identity, entries] of is) if (!was.has(identity)) walkEntry(shape, [], entries, differences);
}

function entriesByIdentity(shape: ListShape, list: readonly Json[]): Entries {
  const differences = new Map<string, Json[]>();
  for (const entry of list) {
    const identity = identityOf(shape, entry);
    const same = differences.get(identity);
    if (same === undefined) differences.set(identity, [entry]);
    else same.push(entry);
  }
  return differences;
}

/** Duplicate entries, which an older server may have stored, count as one atomic value. */
function walkEntry(shape: ListShape, was: Json[], is: Json[], differences: Differences): void {
  differences.path.push(elementOf(shape, (was.length > 0 ? was : is)[0] as Json));
  if (was.length <= 1 && is.length <= 1) {
    walk(shape.element, was[0], is[0], differences);
  } else if (was.length >= 2 && is.length >= 2) {
    walkLeaf(was, is, differences);
  } else {
    walkRepeated(shape, was, is, differences);
  }
  differences.path.pop();
}

/** An entry that is repeated on one side only. */
export function walkRepeated(shape: ListShape, was: Json[], is: Json[], differences: Differences): void {
  if (was.length >= 2) {
    differences.put(differences.removed, leaf);
    if (is.length === 1) walk(shape.element, undefined, is[0], differences);
  } else {
    if (was.length === 1) walk(shape.element, was[0], undefined, differences);
    differences.put(differences.added, leaf);
  }
}
