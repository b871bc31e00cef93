import { getKey, isJsonObject, type Json, type JsonArray, type JsonObject, StatusError } from '../meta/index.ts';
import { directiveOf, failed, isBareMerge, malformed, plainMembers, unexpected } from './strategic-marks.ts';
import { patchText } from './strategic-text.ts';

/** How the entry of a list and the change that has its key become one. */
export type MergeEntry = (before: JsonObject, change: JsonObject) => JsonObject;

/**
 * A list of the strategy `merge` after its patch: a set when its entries are scalars, otherwise objects told apart by
 * `mergeKey`. The entries that the patch names stand in its order, the others in theirs.
 */
export function mergeLists(
  before: JsonArray,
  change: JsonArray,
  mergeKey: string | undefined,
  mergeEntry: MergeEntry,
): JsonArray {
  if (change.length === 0) return before;
  if (elementKind(before, change) !== 'object') {
    return arrange([...new Set([...before, ...change])], change, before, undefined);
  }
  if (mergeKey === undefined) throw failed('cannot merge lists without merge key for struct');
  return mergeKeyed(before, change as JsonObject[], mergeKey, mergeEntry);
}

function mergeKeyed(before: JsonArray, change: JsonObject[], mergeKey: string, mergeEntry: MergeEntry): JsonArray {
  const { entries, removed, replace } = readEntries(change, mergeKey);
  if (replace) return entries.map(plainMembers);
  const live = (before as JsonObject[]).filter((entry) => !removed.has(getKey(entry, mergeKey)));
  const merged = [...live];
  const places = new Map<Json | undefined, number>();
  live.forEach((entry, i) => {
    const key = getKey(entry, mergeKey);
    if (!places.has(key)) places.set(key, i);
  });
  for (const entry of entries) {
    const key = keyOf(entry, mergeKey);
    const place = places.get(key);
    if (place === undefined) {
      places.set(key, merged.length);
      merged.push(plainMembers(entry));
    } else {
      merged[place] = mergeEntry(merged[place] as JsonObject, entry);
    }
  }
  return arrange(merged, entries, live, mergeKey);
}

/** What the entries of a patch ask for: those that are merged, the keys of those that go, whether all others go too. */
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
    } else if (directive === undefined || (directive === 'merge' && !isBareMerge(entry))) {
      keyOf(entry, mergeKey);
      entries.push(entry);
    } else if (directive !== 'merge') {
      throw unknownDirective(entry);
    }
  }
  return { entries, removed, replace };
}

export const unknownDirective = (patch: JsonObject) =>
  failed(`unknown patch type: ${patchText(directiveOf(patch) ?? null)} in map: ${patchText(patch)}`);

/**
 * The items in a new order: those named in `wanted` in the order of `wanted`, the others in the order of `live`. Of one
 * of each that are both in `live` the one that comes first there comes first, as far as that can be.
 */
export function arrange(items: JsonArray, wanted: JsonArray, live: JsonArray, mergeKey: string | undefined): JsonArray {
  const wantedRanks = ranks(wanted, mergeKey);
  const liveRanks = ranks(live, mergeKey);
  const named: Ranked[] = [];
  const others: Ranked[] = [];
  for (const item of items) {
    const key = keyOf(item, mergeKey);
    const rank = wantedRanks.get(key);
    const liveRank = liveRanks.get(key);
    if (rank !== undefined) named.push({ item, rank, liveRank });
    else others.push({ item, rank: liveRank ?? liveRanks.size, liveRank });
  }
  named.sort((a, b) => a.rank - b.rank);
  others.sort((a, b) => a.rank - b.rank);
  const out: JsonArray = [];
  let next = 0;
  for (const { item, liveRank } of named) {
    while (liveRank !== undefined && (others[next]?.liveRank ?? liveRank) < liveRank) {
      out.push((others[next] as Ranked).item);
      next += 1;
    }
    out.push(item);
  }
  for (; next < others.length; next++) out.push((others[next] as Ranked).item);
  return out;
}

interface Ranked {
  readonly item: Json;
  readonly rank: number;
  /** The place in the live list; undefined for what is new. */
  readonly liveRank: number | undefined;
}

/** @throws StatusError 500 when the entries that a patch brings are not all in the order it asks for, or otherwise */
export function checkOrder(change: JsonArray, order: JsonArray, mergeKey: string | undefined): void {
  if (change.length === 0 || order.length === 0) return;
  let place = 0;
  for (const entry of change) {
    if (isJsonObject(entry) && directiveOf(entry) !== undefined) continue;
    const key = keyOf(entry, mergeKey);
    while (place < order.length && keyOf(order[place] as Json, mergeKey) !== key) place += 1;
    if (place === order.length) {
      throw failed(
        `The order in patch list:\n${patchText(change)}\n doesn't match $setElementOrder list:\n${patchText(order)}\n`,
      );
    }
    place += 1;
  }
}

/** A set of scalars without those that are to go. */
export function removeScalars(list: JsonArray, removed: JsonArray): JsonArray {
  if (list.length === 0 || removed.length === 0) return list;
  if (elementKind(list, removed) === 'object') throw malformed('primitive list');
  const gone = new Set(removed);
  return list.filter((item) => !gone.has(item));
}

/** The JSON type that all entries of two lists have. */
function elementKind(before: JsonArray, change: JsonArray): string {
  let found: string | undefined;
  for (const list of [before, change]) {
    for (const item of list) {
      const kind = Array.isArray(item) ? 'list' : typeof item === 'bigint' ? 'number' : typeof item;
      found ??= kind;
      if (found === 'list') throw listOfLists();
      if (kind !== found || item === null) throw failed(`list element types are not identical: ${patchText(change)}`);
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

/** What tells an entry apart: the scalar itself, or what its merge key holds. */
function keyOf(entry: Json, mergeKey: string | undefined): Json {
  if (mergeKey === undefined) {
    if (typeof entry === 'object') throw malformed('setElementOrder list');
    return entry;
  }
  if (!isJsonObject(entry)) throw unexpected('map[string]interface {}', entry);
  const key = getKey(entry, mergeKey);
  if (key === undefined || typeof key === 'object') {
    throw failed(`map: ${patchText(entry)} does not contain declared merge key: ${mergeKey}`);
  }
  return key;
}

/** The first place of each entry. */
function ranks(list: JsonArray, mergeKey: string | undefined): Map<Json, number> {
  const out = new Map<Json, number>();
  list.forEach((entry, i) => {
    const key = keyOf(entry, mergeKey);
    if (!out.has(key)) out.set(key, i);
  });
  return out;
}
