import type { Element, Path } from './path.ts';

/**
 * A set of paths in its wire form. A node has a member for each step further down; an empty node is itself in the set,
 * and a node with more below it is when it has the member `.`. The outermost node is never itself in the set: empty, it
 * is the empty set. Sets are never changed, so that they may share what they have in common.
 */
export interface FieldSet {
  readonly [element: Element]: FieldSet;
}

/** A node that is still being built. */
export interface FieldSetDraft {
  [element: Element]: FieldSet;
}

/** A node that is in the set and has nothing below it; as a whole set, the empty one. */
export const leaf: FieldSet = Object.freeze({});

/** The member that says of a node with more below it that it is itself in the set. */
export const itself = '.';

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** From how many members on a node is large: the engine needs time in their number to begin a look at them. */
const many = 100;
const large = new WeakSet<FieldSet>();

/** How many members a node has. Asked of a large node again, it costs nothing. */
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

/** Whether a node below the outermost one is itself in the set. */
export const includesItself = (node: FieldSet): boolean => node[itself] !== undefined || isEmpty(node);

/** A finished node, which has so many members: undefined for one that holds nothing. */
export function finished(node: FieldSet, members: number): FieldSet | undefined {
  if (members === 0) return undefined;
  return members === 1 && node[itself] !== undefined ? leaf : node;
}

/** The set of these paths. */
export function setOf(...paths: readonly Path[]): FieldSet {
  let set: FieldSet = leaf;
  for (const path of paths)
    set = union(
      set,
      path.reduceRight<FieldSet>((node, element) => ({ [element]: node }), leaf),
    );
  return set;
}

/** The node at a path, as a set of what is below it. */
export function nodeAt(set: FieldSet, path: Path): FieldSet | undefined {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return undefined;
  }
  return node;
}

/** A step of a pattern that stands for any one. */
export const anyStep = '*';

/** The part of a set that lies at the paths or below them. A path may have steps that stand for any one. */
export function within(set: FieldSet, paths: readonly Path[]): FieldSet {
  const out: FieldSetDraft = {};
  for (const element in set) {
    if (element === itself) continue;
    const node = set[element] as FieldSet;
    const ways = paths.filter(([first]) => first === element || first === anyStep);
    const inner = ways.some((path) => path.length === 1) ? node : undefined;
    const below =
      inner ??
      within(
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

/** Every path of the set, a node before what is below it, in the order of the wire form. */
export function* pathsOf(set: FieldSet, prefix: Path = []): Generator<Path> {
  for (const element of Object.keys(set).sort()) {
    if (element === itself) continue;
    const node = set[element] as FieldSet;
    const path = [...prefix, element];
    if (includesItself(node)) yield path;
    yield* pathsOf(node, path);
  }
}

/** How many paths the set has. */
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

/** What is in either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a;
  return isEmpty(a) ? b : joined(a, b);
}

/** What is in any of the sets. Costs as much as all of them together are large, however many there are. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [first = leaf, second, ...more] = sets.filter((set) => !isEmpty(set));
  if (second === undefined) return first;
  return more.length === 0 ? joined(first, second) : joinedOf([first, second, ...more]);
}

function joinedOf(nodes: readonly FieldSet[]): FieldSet {
  const out: FieldSetDraft = {};
  const shared = new Map<Element, FieldSet[]>();
  let members = 0;
  const add = (element: Element, part: FieldSet) => {
    const before = out[element];
    if (before === undefined) {
      out[element] = part;
      members++;
    } else if (element !== itself) {
      const parts = shared.get(element);
      if (parts === undefined) shared.set(element, [before, part]);
      else parts.push(part);
    }
  };
  for (const node of nodes) {
    if (isEmpty(node)) add(itself, leaf);
    for (const element in node) add(element, node[element] as FieldSet);
  }
  for (const [element, parts] of shared) out[element] = joinedOf(parts);
  return finished(out, members) ?? leaf;
}

function joined(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isEmpty(a)) return withItself(b);
  if (isEmpty(b)) return withItself(a);
  let out: FieldSetDraft | undefined;
  for (const element in b) {
    const before = a[element];
    const more = b[element] as FieldSet;
    const both = before === undefined ? more : element === itself ? before : joined(before, more);
    if (both === before) continue;
    out ??= { ...a };
    out[element] = both;
  }
  return out ?? a;
}

const withItself = (node: FieldSet): FieldSet => (includesItself(node) ? node : { [itself]: leaf, ...node });

/** What is in both sets. Costs as much as the one with fewer members in each place is large. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return shared(a, b) ?? leaf;
}

function shared(a: FieldSet, b: FieldSet): FieldSet | undefined {
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
    const both = element === itself ? leaf : shared(mine, theirs);
    if (both === undefined) continue;
    out[element] = both;
    members++;
  }
  return finished(out, members);
}

/**
 * What is in the first set and not in the second. The first one itself when they have nothing in common. Costs no more
 * than the first one is large.
 */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return isEmpty(b) ? a : (rest(a, b, false) ?? leaf);
}

/** What is in the first set and neither in the second nor below a path that is in the second. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return isEmpty(b) ? a : (rest(a, b, true) ?? leaf);
}

/** `b` is not the empty set: as a node that is empty, it is itself in the set. */
function rest(a: FieldSet, b: FieldSet, below: boolean): FieldSet | undefined {
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
    const gone = b[element];
    if (gone === undefined) continue;
    const before = a[element] as FieldSet;
    const left = element === itself ? undefined : rest(before, gone, below);
    if (left !== before) changed = (changed ?? new Map()).set(element, left);
  }
  return changed === undefined ? a : changedBy(a, changed);
}

/** Members of a node that are others now, or gone. */
export type Changes = Map<Element, FieldSet | undefined>;

/** Undefined for a node that holds nothing any more. */
export function changedBy(node: FieldSet, changes: Changes): FieldSet | undefined {
  const out: FieldSetDraft = {};
  let members = 0;
  for (const element in node) {
    const after = changes.has(element) ? changes.get(element) : node[element];
    if (after === undefined) continue;
    out[element] = after;
    members++;
  }
  return finished(out, members);
}
