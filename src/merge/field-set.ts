import type { Path, PathElement } from './path.ts';

/**
 * A field set: a set of paths in the form of `fieldsV1`. A node has a member for each path element below it. A node
 * without members is in the set; a node with members is in the set when it has the member `.`. The root is never a
 * member of the set: an empty root is the empty set. Field sets are immutable and may share nodes.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

/** A node under construction. */
export interface FieldSetDraft {
  [element: PathElement]: FieldSet;
}

/** A node that is in the set and has no members; as a root, the empty set. */
export const leaf: FieldSet = Object.freeze({});

/** The member that marks a node with other members as in the set. */
export const itself = '.';

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** A node with this many members is large: starting `for in` over it costs the engine time linear in its members. */
const many = 100;
const large = new WeakSet<FieldSet>();

/** Returns how many members a node has. Remembers large nodes. */
function extent(node: FieldSet): 'none' | 'few' | 'many' {
  if (node === leaf) return 'none';
  if (large.has(node)) return 'many';
  let members = 0;
  for (const _ in node) {
    if (++members < many) continue;
    large.add(node);
    return 'many';
  }
  return members === 0 ? 'none' : 'few';
}

/** Whether a node below the root is in the set. */
export const includesItself = (node: FieldSet): boolean => node[itself] !== undefined || isEmpty(node);

/** Returns the final form of a node with `members` members: undefined for an empty one, `leaf` for one with `.` only. */
export function toNode(node: FieldSet, members: number): FieldSet | undefined {
  if (members === 0) return undefined;
  return members === 1 && node[itself] !== undefined ? leaf : node;
}

/** Returns the set of the paths. */
export function setOf(...paths: readonly Path[]): FieldSet {
  let set: FieldSet = leaf;
  for (const path of paths)
    set = union(
      set,
      path.reduceRight<FieldSet>((node, element) => ({ [element]: node }), leaf),
    );
  return set;
}

/** Returns the node at a path, which is the set of the paths below it. */
export function nodeAt(set: FieldSet, path: Path): FieldSet | undefined {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return undefined;
  }
  return node;
}

/** In a pattern, matches any path element. */
export const anyElement = '*';

/** Returns the subset at the paths or below them. A path may be a pattern with {@link anyElement}. */
export function selectPaths(set: FieldSet, paths: readonly Path[]): FieldSet {
  const out: FieldSetDraft = {};
  for (const element in set) {
    if (element === itself) continue;
    const node = set[element] as FieldSet;
    const ways = paths.filter(([first]) => first === element || first === anyElement);
    const inner = ways.some((path) => path.length === 1) ? node : undefined;
    const below =
      inner ??
      selectPaths(
        node,
        ways.map((path) => path.slice(1)),
      );
    if (inner !== undefined || !isEmpty(below)) out[element] = below;
  }
  return out;
}

export function has(set: FieldSet, path: Path): boolean {
  const node = nodeAt(set, path);
  return path.length > 0 && node !== undefined && includesItself(node);
}

/** Returns every path of the set: of each node its members that are in the set, then the paths below its members. */
export function* pathsOf(set: FieldSet, prefix: Path = []): Generator<Path> {
  const elements = Object.keys(set).filter((element) => element !== itself);
  elements.sort();
  for (const element of elements) if (includesItself(set[element] as FieldSet)) yield [...prefix, element];
  for (const element of elements) yield* pathsOf(set[element] as FieldSet, [...prefix, element]);
}

/** Returns the number of paths in the set. */
export function countPaths(set: FieldSet): number {
  let count = 0;
  for (const element in set) {
    if (element === itself) continue;
    const node = set[element] as FieldSet;
    count += (includesItself(node) ? 1 : 0) + countPaths(node);
  }
  return count;
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  let extra = 0;
  for (const _ in b) extra++;
  for (const element in a) {
    const other = b[element];
    if (other === undefined || !equalSets(a[element] as FieldSet, other)) return false;
    extra--;
  }
  return extra === 0;
}

/** Returns the union of two sets. See `field-set-steps.ts` for large ones. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a;
  return isEmpty(a) ? b : join(a, b);
}

/** Returns the union of any number of sets, in time linear in their total size. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [first = leaf, second, ...more] = sets.filter((set) => !isEmpty(set));
  if (second === undefined) return first;
  return more.length === 0 ? join(first, second) : joinAll([first, second, ...more]);
}

function joinAll(nodes: readonly FieldSet[]): FieldSet {
  const out: FieldSetDraft = {};
  const intersectNodes = new Map<PathElement, FieldSet[]>();
  let members = 0;
  const add = (element: PathElement, part: FieldSet) => {
    const before = out[element];
    if (before === undefined) {
      out[element] = part;
      members++;
    } else if (element !== itself) {
      const parts = intersectNodes.get(element);
      if (parts === undefined) intersectNodes.set(element, [before, part]);
      else parts.push(part);
    }
  };
  for (const node of nodes) {
    if (isEmpty(node)) add(itself, leaf);
    for (const element in node) add(element, node[element] as FieldSet);
  }
  for (const [element, parts] of intersectNodes) out[element] = joinAll(parts);
  return toNode(out, members) ?? leaf;
}

export function join(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isEmpty(a)) return withItself(b);
  if (isEmpty(b)) return withItself(a);
  let out: FieldSetDraft | undefined;
  for (const element in b) {
    const before = a[element];
    const more = b[element] as FieldSet;
    const both = before === undefined ? more : element === itself ? before : join(before, more);
    if (both === before) continue;
    out ??= { ...a };
    out[element] = both;
  }
  return out ?? a;
}

export const withItself = (node: FieldSet): FieldSet => (includesItself(node) ? node : { [itself]: leaf, ...node });

/** Returns the intersection of two sets, in time linear in the smaller node at each path. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return intersectNodes(a, b) ?? leaf;
}

export function intersectNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (a === b) return a;
  const [size, other] = [extent(a), extent(b)];
  if (size === 'none') return other === 'none' || b[itself] !== undefined ? leaf : undefined;
  if (other === 'none') return a[itself] === undefined ? undefined : leaf;
  const out: FieldSetDraft = {};
  let members = 0;
  for (const element in size === 'many' ? b : a) {
    const mine = a[element];
    const theirs = b[element];
    if (mine === undefined || theirs === undefined) continue;
    const both = element === itself ? leaf : intersectNodes(mine, theirs);
    if (both === undefined) continue;
    out[element] = both;
    members++;
  }
  return toNode(out, members);
}

/**
 * Returns the first set without the paths of the second; the first set itself when they are disjoint. Takes time linear in
 * the size of the first.
 */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return isEmpty(b) ? a : (subtractNode(a, b, false) ?? leaf);
}

/** Returns the first set without the paths of the second and all paths below them. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return isEmpty(b) ? a : (subtractNode(a, b, true) ?? leaf);
}

/** A filter of field sets: either the paths to retain, which may be patterns, or the set to exclude with all its members. */
export type FieldFilter = { readonly include: readonly Path[] } | { readonly exclude: FieldSet };

export const filterFields = (filter: FieldFilter, set: FieldSet): FieldSet =>
  'include' in filter ? selectPaths(set, filter.include) : recursiveDifference(set, filter.exclude);

/** Subtracts a node. `b` is not a root: without members it is itself in the set. */
export function subtractNode(a: FieldSet, b: FieldSet, below: boolean): FieldSet | undefined {
  if (a === b) return undefined;
  const other = extent(b);
  const included = other === 'none' || b[itself] !== undefined;
  if (isEmpty(a)) return included ? undefined : a;
  if (below && included) return undefined;
  if (other === 'none') return a[itself] === undefined ? a : without(a, { [itself]: leaf }, below);
  if (other === 'many') return without(a, b, below);
  for (const element in b) if (a[element] !== undefined) return without(a, b, below);
  return a;
}

function without(a: FieldSet, b: FieldSet, below: boolean): FieldSet | undefined {
  let changed: Changes | undefined;
  for (const element in a) {
    const removed = b[element];
    if (removed === undefined) continue;
    const before = a[element] as FieldSet;
    const left = element === itself ? undefined : subtractNode(before, removed, below);
    if (left !== before) changed = (changed ?? new Map()).set(element, left);
  }
  return changed === undefined ? a : withChanges(a, changed);
}

/** The replaced members of a node; undefined for removed ones. */
export type Changes = Map<PathElement, FieldSet | undefined>;

/** Returns the node after the changes; undefined when no member remains. */
export function withChanges(node: FieldSet, changes: Changes): FieldSet | undefined {
  const out: FieldSetDraft = {};
  let members = 0;
  for (const element in node) {
    const after = changes.has(element) ? changes.get(element) : node[element];
    if (after === undefined) continue;
    out[element] = after;
    members++;
  }
  return toNode(out, members);
}
