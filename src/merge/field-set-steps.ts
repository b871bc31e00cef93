/** The operations on large field sets, in steps. Each gives the result of its namesake, which does the small parts. */
import { isKnownLarge, type JsonObject, largeWeight, Pace, type Steps, sortedTexts, weigh } from '../meta/index.ts';
import {
  type Changes,
  type FieldFilter,
  type FieldSet,
  type FieldSetDraft,
  filterFields,
  includesItself,
  intersectNodes,
  isEmpty,
  itself,
  join,
  leaf,
  subtractNode,
  toNode,
  withItself,
} from './field-set.ts';
import { sorted } from './fields-v1.ts';

/** How many nodes a set has, counted no further than to {@link largeWeight}. */
export const weightOf = (set: FieldSet): number => weigh(set as JsonObject);

export const isLargeSet = (set: FieldSet): boolean => weightOf(set) >= largeWeight;

const isNothing = (set: FieldSet): boolean => !isKnownLarge(set as JsonObject) && isEmpty(set);

export function* unionInSteps(a: FieldSet, b: FieldSet): Steps<FieldSet> {
  if (isNothing(b)) return a;
  return isNothing(a) ? b : yield* joinInSteps(a, b, new Pace());
}

export function* differenceInSteps(a: FieldSet, b: FieldSet): Steps<FieldSet> {
  return isNothing(b) ? a : ((yield* subtractInSteps(a, b, false, new Pace())) ?? leaf);
}

export function* intersectionInSteps(a: FieldSet, b: FieldSet): Steps<FieldSet> {
  return (yield* intersectInSteps(a, b, new Pace())) ?? leaf;
}

export function* filterFieldsInSteps(filter: FieldFilter, set: FieldSet): Steps<FieldSet> {
  if ('include' in filter || isNothing(filter.exclude)) return filterFields(filter, set);
  return (yield* subtractInSteps(set, filter.exclude, true, new Pace())) ?? leaf;
}

/** The canonical `fieldsV1` of a set. */
export const toFieldsV1InSteps = (set: FieldSet): Steps<FieldSet> => sortedInSteps(set, new Pace());

function* joinInSteps(a: FieldSet, b: FieldSet, pace: Pace): Steps<FieldSet> {
  if (a === b) return a;
  const [mine, theirs] = [weightOf(a), weightOf(b)];
  if (pace.over(mine + theirs)) yield;
  if (mine < largeWeight && theirs < largeWeight) return join(a, b);
  if (isNothing(a)) return withItself(b);
  if (isNothing(b)) return withItself(a);
  let out: FieldSetDraft | undefined;
  for (const element in b) {
    if (pace.over()) yield;
    const before = a[element];
    const more = b[element] as FieldSet;
    let both = more;
    if (before !== undefined) both = element === itself ? before : yield* joinInSteps(before, more, pace);
    if (both === before) continue;
    out ??= yield* copyNode(a, pace);
    out[element] = both;
  }
  return out ?? a;
}

function* copyNode(node: FieldSet, pace: Pace): Steps<FieldSetDraft> {
  const out: FieldSetDraft = {};
  for (const element in node) {
    if (pace.over()) yield;
    out[element] = node[element] as FieldSet;
  }
  return out;
}

function* intersectInSteps(a: FieldSet, b: FieldSet, pace: Pace): Steps<FieldSet | undefined> {
  if (a === b) return a;
  const weight = Math.min(weightOf(a), weightOf(b));
  if (pace.over(weight)) yield;
  if (weight < largeWeight) return intersectNodes(a, b);
  const out: FieldSetDraft = {};
  let members = 0;
  for (const element in a) {
    if (pace.over()) yield;
    const mine = a[element] as FieldSet;
    const theirs = b[element];
    if (theirs === undefined) continue;
    const both = element === itself ? leaf : yield* intersectInSteps(mine, theirs, pace);
    if (both === undefined) continue;
    out[element] = both;
    members++;
  }
  return toNode(out, members);
}

function* subtractInSteps(a: FieldSet, b: FieldSet, below: boolean, pace: Pace): Steps<FieldSet | undefined> {
  if (a === b) return undefined;
  const weight = weightOf(a);
  if (pace.over(weight)) yield;
  if (weight < largeWeight) return subtractNode(a, b, below);
  if (below && includesItself(b)) return undefined;
  const without = isNothing(b) ? { [itself]: leaf } : b;
  const changed: Changes = new Map();
  for (const element in a) {
    if (pace.over()) yield;
    const removed = without[element];
    if (removed === undefined) continue;
    const before = a[element] as FieldSet;
    const left = element === itself ? undefined : yield* subtractInSteps(before, removed, below, pace);
    if (left !== before) changed.set(element, left);
  }
  return changed.size === 0 ? a : yield* withChangesInSteps(a, changed, pace);
}

export function* withChangesInSteps(node: FieldSet, changes: Changes, pace: Pace): Steps<FieldSet | undefined> {
  const out: FieldSetDraft = {};
  let members = 0;
  for (const element in node) {
    if (pace.over()) yield;
    const after = changes.has(element) ? changes.get(element) : node[element];
    if (after === undefined) continue;
    out[element] = after;
    members++;
  }
  return toNode(out, members);
}

function* sortedInSteps(node: FieldSet, pace: Pace): Steps<FieldSet> {
  const weight = weightOf(node);
  if (pace.over(weight)) yield;
  if (weight < largeWeight) return sorted(node);
  let inOrder = true;
  let last = '';
  const changed = new Map<string, FieldSet>();
  for (const element in node) {
    if (pace.over()) yield;
    if (element < last) inOrder = false;
    last = element;
    const below = node[element] as FieldSet;
    if (below === leaf) continue;
    const sortedChild = yield* sortedInSteps(below, pace);
    if (sortedChild !== below) changed.set(element, sortedChild);
  }
  if (inOrder && changed.size === 0) return node;
  const elements = Object.keys(node);
  const out: FieldSetDraft = {};
  for (const element of inOrder ? elements : yield* sortedTexts(elements)) {
    if (pace.over()) yield;
    out[element] = changed.get(element) ?? (node[element] as FieldSet);
  }
  return out;
}
