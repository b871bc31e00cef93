import { isJsonObject, type Json, type JsonObject, jsonEqual } from '../meta/index.ts';
import { type FieldSet, type FieldSetDraft, leaf } from './field-set.ts';
import { elementOf, identityOf, wholeOf } from './fields-of.ts';
import { type Element, fieldElement } from './path.ts';
import { free, type ListShape, memberShape, type ObjectShape, type Shape, type StructShape } from './shape.ts';

/** Where two objects differ. */
export interface Comparison {
  /** In the second one only, with the structs, maps and lists that came with it. */
  readonly added: FieldSet;
  /** In the first one only, likewise. */
  readonly removed: FieldSet;
  /** Leaves in both, with different values. */
  readonly modified: FieldSet;
}

/** How the second object differs from the first. */
export function compare(shape: StructShape, before: JsonObject, after: JsonObject): Comparison {
  const found = new Differences();
  walk(shape, before, after, found);
  return found;
}

class Differences implements Comparison {
  readonly added: FieldSetDraft = {};
  readonly removed: FieldSetDraft = {};
  readonly modified: FieldSetDraft = {};
  /** Where the walk is. */
  readonly path: Element[] = [];

  /** Enters a node at the path, which has been entered nothing for yet. */
  put(set: FieldSetDraft, node: FieldSet | undefined): void {
    if (node === undefined) return;
    const { path } = this;
    let parent = set;
    for (let i = 0; i < path.length - 1; i++) {
      const element = path[i] as Element;
      let child = parent[element] as FieldSetDraft | undefined;
      if (child === undefined) {
        child = {};
        parent[element] = child;
      }
      parent = child;
    }
    parent[path.at(-1) as Element] = node;
  }
}

function walk(shape: Shape, before: Json | undefined, after: Json | undefined, found: Differences): void {
  if (before === after) return;
  if (before === undefined) {
    found.put(found.added, wholeOf(shape, after as Json));
    return;
  }
  if (after === undefined) {
    found.put(found.removed, wholeOf(shape, before));
    return;
  }
  switch (shape.kind) {
    case 'unowned':
      return;
    case 'scalar':
      walkLeaf(before, after, found);
      return;
    case 'free':
      walkFree(before, after, found);
      return;
    case 'list':
      walkList(shape, before, after, found);
      return;
    default:
      if (shape.atomic) walkLeaf(before, after, found);
      else walkObject(shape, before, after, found);
  }
}

function walkLeaf(before: Json, after: Json, found: Differences): void {
  if (!jsonEqual(before, after)) found.put(found.modified, leaf);
}

function walkFree(before: Json, after: Json, found: Differences): void {
  const objects = Number(isJsonObject(before)) + Number(isJsonObject(after));
  if (objects === 2 || (objects === 1 && (before === null || after === null))) {
    walkObject(free, before, after, found);
    return;
  }
  walkLeaf(before, after, found);
  // What an object held comes or goes with it where it takes the place of something else, or the other way round.
  if (objects === 1) walkObject(free, isJsonObject(before) ? before : null, isJsonObject(after) ? after : null, found);
}

/** `null` is an object without members, but not the same as an empty one. */
function walkObject(shape: ObjectShape, before: Json, after: Json, found: Differences): void {
  const old = isJsonObject(before) ? before : nothing;
  const now = isJsonObject(after) ? after : nothing;
  let empty = true;
  for (const key in old) {
    empty = false;
    const is = Object.hasOwn(now, key) ? now[key] : undefined;
    if (old[key] !== is) walkMember(shape, key, old[key], is, found);
  }
  for (const key in now) {
    empty = false;
    if (!Object.hasOwn(old, key)) walkMember(shape, key, undefined, now[key], found);
  }
  if (empty) walkLeaf(before, after, found);
}

const nothing: JsonObject = {};

function walkMember(
  shape: ObjectShape,
  key: string,
  before: Json | undefined,
  after: Json | undefined,
  found: Differences,
): void {
  const inner = memberShape(shape, key);
  if (inner === undefined) return;
  found.path.push(fieldElement(key));
  walk(inner, before, after, found);
  found.path.pop();
}

function walkList(shape: ListShape, before: Json, after: Json, found: Differences): void {
  const old = Array.isArray(before) ? before : [];
  const now = Array.isArray(after) ? after : [];
  if (shape.listType === 'atomic' || old.length + now.length === 0) {
    walkLeaf(before, after, found);
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
    // It is there several times: both lists count as a whole.
    walkEntries(shape, entriesByIdentity(shape, old), entriesByIdentity(shape, now), found);
    return;
  }
  walkEntries(shape, was, is, found);
}

type Entries = ReadonlyMap<string, Json[]>;

function walkEntries(shape: ListShape, was: Entries, is: Entries, found: Differences): void {
  for (const [identity, entries] of was) walkEntry(shape, entries, is.get(identity) ?? [], found);
  for (const [identity, entries] of is) if (!was.has(identity)) walkEntry(shape, [], entries, found);
}

function entriesByIdentity(shape: ListShape, list: readonly Json[]): Entries {
  const found = new Map<string, Json[]>();
  for (const entry of list) {
    const identity = identityOf(shape, entry);
    const same = found.get(identity);
    if (same === undefined) found.set(identity, [entry]);
    else same.push(entry);
  }
  return found;
}

/** An entry that is there several times, from a write of another time, counts as one value. */
function walkEntry(shape: ListShape, was: Json[], is: Json[], found: Differences): void {
  found.path.push(elementOf(shape, (was.length > 0 ? was : is)[0] as Json));
  if (was.length <= 1 && is.length <= 1) {
    walk(shape.element, was[0], is[0], found);
  } else if (was.length >= 2 && is.length >= 2) {
    walkLeaf(was, is, found);
  } else if (was.length >= 2) {
    found.put(found.removed, leaf);
    if (is.length === 1) walk(shape.element, undefined, is[0], found);
  } else {
    if (was.length === 1) walk(shape.element, was[0], undefined, found);
    found.put(found.added, leaf);
  }
  found.path.pop();
}
