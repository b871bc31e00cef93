import {
  getKey,
  isJsonObject,
  type Json,
  type JsonArray,
  type JsonObject,
  StatusError,
  type Steps,
  sortedInSteps,
} from '../meta/index.ts';
import { directiveOf, malformed, strategicError, unexpected } from './strategic-directives.ts';
import { patchText } from './strategic-text.ts';

/** How the entries of a list are merged. */
export interface ListMerge {
  /** Undefined when the field declares none. */
  readonly mergeKey: string | undefined;
  /** Merges a patch entry into the list entry with the same merge key. */
  readonly mergeEntry: (before: JsonObject, change: JsonObject) => Steps<JsonObject>;
}

/**
 * Patches a list with the patch strategy `merge`: a set when its entries are scalars, otherwise objects identified by
 * `mergeKey`. Entries of the patch take the order of the patch; the others retain their order.
 */
export function* mergeLists(before: JsonArray, change: JsonArray, merge: ListMerge): Steps<JsonArray> {
  const { mergeKey } = merge;
  if (change.length === 0) return before;
  if (elementKind(before, change) !== 'object') {
    yield;
    return yield* arrange([...new Set([...before, ...change])], change, before, undefined);
  }
  if (mergeKey === undefined) throw strategicError('cannot merge lists without merge key for struct');
  yield;
  return yield* mergeKeyed(before, change as JsonObject[], mergeKey, merge);
}

function* mergeKeyed(
  before: JsonArray,
  change: JsonObject[],
  mergeKey: string,
  { mergeEntry }: ListMerge,
): Steps<JsonArray> {
  const { entries, removed, replace } = readEntries(change, mergeKey);
  yield;
  if (replace) return entries;
  const live = (before as JsonObject[]).filter((entry) => !removed.has(getKey(entry, mergeKey)));
  const merged = [...live];
  const places = new Map<Json | undefined, number>();
  live.forEach((entry, i) => {
    const key = getKey(entry, mergeKey);
    if (!places.has(key)) places.set(key, i);
  });
  yield;
  for (const entry of entries) {
    const key = keyOf(entry, mergeKey);
    const place = places.get(key);
    if (place === undefined) {
      places.set(key, merged.length);
      merged.push(entry);
    } else {
      merged[place] = yield* mergeEntry(merged[place] as JsonObject, entry);
    }
  }
  return yield* arrange(merged, entries, live, mergeKey);
}

/**
 * The entries of a patch to merge, the merge keys of its `delete` entries, and whether it has a `replace` directive.
 */
function readEntries(change: readonly JsonObject[], mergeKey: string) {
  const entries: JsonObject[] = [];
  const removed = new Set<Json | undefined>();
  let replace = false;
  for (const entry of change) {
    const directive = directiveOf(entry);
    if (directive === 'delete') {
      removed.add(keyOf(entry, mergeKey));
    } else if (directive === 'replace') {
      replace = true;
    } else if (directive === undefined) {
      keyOf(entry, mergeKey);
      entries.push(entry);
    } else if (directive === 'merge') {
      throw strategicError('merging lists cannot yet be specified in the patch');
    } else {
      throw unknownDirective(entry);
    }
  }
  return { entries, removed, replace };
}

export const unknownDirective = (patch: JsonObject) =>
  strategicError(`unknown patch type: ${patchText(directiveOf(patch) ?? null)} in map: ${patchText(patch)}`);

/**
 * Sorts items: those in `order` by that order, the others in the order of `live`. Of two items from
 * different groups that are both in `live`, the one that is first there comes first where the order within the groups
 * allows it.
 */
export function* arrange(
  items: JsonArray,
  order: JsonArray,
  live: JsonArray,
  mergeKey: string | undefined,
): Steps<JsonArray> {
  const orderRanks = ranks(order, mergeKey);
  yield;
  const liveRanks = ranks(live, mergeKey);
  yield;
  const ordered: Ranked[] = [];
  const rest: Ranked[] = [];
  for (const item of items) {
    const key = keyOf(item, mergeKey);
    const rank = orderRanks.get(key);
    const liveRank = liveRanks.get(key);
    if (rank !== undefined) ordered.push({ item, rank, liveRank });
    else rest.push({ item, rank: liveRank ?? liveRanks.size, liveRank });
  }
  yield;
  const sorted = yield* sortedInSteps(ordered, byRank);
  const others = yield* sortedInSteps(rest, byRank);
  const out: JsonArray = [];
  let next = 0;
  for (const { item, liveRank } of sorted) {
    while (liveRank !== undefined && (others[next]?.liveRank ?? liveRank) < liveRank) {
      out.push((others[next] as Ranked).item);
      next += 1;
    }
    out.push(item);
  }
  for (; next < others.length; next++) out.push((others[next] as Ranked).item);
  return out;
}

const byRank = (a: Ranked, b: Ranked): number => a.rank - b.rank;

interface Ranked {
  readonly item: Json;
  readonly rank: number;
  /** The index in the live list; undefined for a new item. */
  readonly liveRank: number | undefined;
}

/** @throws StatusError 500 when `$setElementOrder` omits an entry of the patch or has them in another order */
export function checkOrder(change: JsonArray, order: JsonArray, mergeKey: string | undefined): void {
  if (change.length === 0 || order.length === 0) return;
  let place = 0;
  for (const entry of change) {
    if (isJsonObject(entry) && directiveOf(entry) !== undefined) continue;
    const key = keyOf(entry, mergeKey);
    while (place < order.length && keyOf(order[place] as Json, mergeKey) !== key) place += 1;
    if (place === order.length) {
      throw strategicError(
        `The order in patch list:\n${patchText(change)}\n doesn't match $setElementOrder list:\n${patchText(order)}\n`,
      );
    }
    place += 1;
  }
}

/** Removes the scalars of `$deleteFromPrimitiveList` from a list. */
export function* removeScalars(list: JsonArray, removed: JsonArray): Steps<JsonArray> {
  if (list.length === 0 || removed.length === 0) return list;
  if (elementKind(list, removed) === 'object') throw malformed('primitive list');
  yield;
  const removedSet = new Set(removed);
  return list.filter((item) => !removedSet.has(item));
}

/**
 * The common JSON type of the entries of two lists. @throws StatusError 500 when they differ, 422 for lists of lists
 */
function elementKind(before: JsonArray, change: JsonArray): string {
  let found: string | undefined;
  for (const list of [before, change]) {
    for (const item of list) {
      const kind = Array.isArray(item) ? 'list' : typeof item === 'bigint' ? 'number' : typeof item;
      found ??= kind;
      if (found === 'list') throw listOfLists();
      if (kind !== found || item === null)
        throw strategicError(`list element types are not identical: ${patchText(change)}`);
    }
  }
  return found ?? 'object';
}

const listOfLists = () =>
  new StatusError(
    422,
    'Invalid',
    'the server rejected our request due to an error in our request',
    {},
    { cause: new Error('lists of lists are not supported') },
  );

/** The identity of an entry: the scalar itself, or the value of its merge key. */
function keyOf(entry: Json, mergeKey: string | undefined): Json {
  if (mergeKey === undefined) {
    if (typeof entry === 'object') throw malformed('setElementOrder list');
    return entry;
  }
  if (!isJsonObject(entry)) throw unexpected('map[string]interface {}', entry);
  const key = getKey(entry, mergeKey);
  if (key === undefined || (typeof key === 'object' && key !== null)) {
    throw strategicError(`map: ${patchText(entry)} does not contain declared merge key: ${mergeKey}`);
  }
  return key;
}

/** The first index of each entry, by its identity. */
function ranks(list: JsonArray, mergeKey: string | undefined): Map<Json, number> {
  const out = new Map<Json, number>();
  list.forEach((entry, i) => {
    const key = keyOf(entry, mergeKey);
    if (!out.has(key)) out.set(key, i);
  });
  return out;
}
