/**
 * The fields that a conversion to another version loses, as data that restores them. The object in the other version carries
 * them in an annotation, as long as it is in that version.
 */
import { parsePlainJson, parsePlainJsonInSteps, stringifyJson, stringifyJsonInSteps } from '../../codec/index.ts';
import {
  equalInSteps,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonCopyInSteps,
  Pace,
  type Steps,
  setKey,
  weigh,
} from '../../meta/index.ts';

/** A value that a conversion and its reverse change: `was` is the result, `is` the original. Absent: no such field. */
export type Loss =
  /** The field at a path. */
  | { readonly field: readonly string[]; readonly was?: Json; readonly is?: Json }
  /** An element of the list at a path, found by its value wherever it is in the list. */
  | { readonly list: readonly string[]; readonly was: Json; readonly is: Json };

/** How `expected` differs from `actual`: {@link restoreLosses} makes one from the other. */
export function* lossesIn(actual: JsonObject, expected: JsonObject): Steps<Loss[]> {
  const losses: Loss[] = [];
  yield* compareObjects(actual, expected, [], losses);
  return losses;
}

function* compareObjects(
  actual: JsonObject,
  expected: JsonObject,
  path: readonly string[],
  losses: Loss[],
): Steps<void> {
  for (const key of new Set([...Object.keys(actual), ...Object.keys(expected)])) {
    yield* compare(getKey(actual, key), getKey(expected, key), [...path, key], losses);
  }
}

function* compare(was: Json | undefined, is: Json | undefined, path: readonly string[], losses: Loss[]): Steps<void> {
  if (isJsonObject(was) && isJsonObject(is)) yield* compareObjects(was, is, path, losses);
  else if (Array.isArray(was) && Array.isArray(is) && was.length === is.length) {
    yield* compareLists(was, is, path, losses);
  } else if (!(yield* equalInSteps(was, is))) {
    losses.push({ field: path, ...(was === undefined ? {} : { was }), ...(is === undefined ? {} : { is }) });
  }
}

/** Of equal elements, all are listed where one differs: they are restored in their order. */
function* compareLists(
  was: readonly Json[],
  is: readonly Json[],
  path: readonly string[],
  losses: Loss[],
): Steps<void> {
  const pace = new Pace();
  const changed = new Set<string>();
  for (const [i, element] of was.entries()) {
    if (pace.over(weigh(element))) yield;
    if (!(yield* equalInSteps(element, is[i]))) changed.add(yield* stringifyJsonInSteps(element));
  }
  if (changed.size === 0) return;
  for (const [i, element] of was.entries()) {
    if (pace.over(weigh(element))) yield;
    if (!changed.has(yield* stringifyJsonInSteps(element))) continue;
    losses.push({ list: path, was: element, is: is[i] as Json });
  }
}

/** A copy of `actual` with each value that still is as it was restored; values that have been changed since stay. */
export function* restoreLosses(actual: JsonObject, losses: readonly Loss[]): Steps<JsonObject> {
  const restored = yield* jsonCopyInSteps(actual);
  const pace = new Pace();
  const lists = new Map<string, Map<string, Json[]>>();
  for (const loss of losses) {
    if (pace.over(weigh(loss.was))) yield;
    if ('field' in loss) {
      yield* restoreField(restored, loss);
      continue;
    }
    const elements = remember(lists, stringifyJson([...loss.list]), () => new Map<string, Json[]>());
    remember(elements, yield* stringifyJsonInSteps(loss.was), () => []).push(loss.is);
  }
  for (const [path, elements] of lists) yield* restoreElements(restored, JSON.parse(path) as string[], elements, pace);
  return restored;
}

function remember<V>(map: Map<string, V>, key: string, make: () => V): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

type FieldLoss = Extract<Loss, { field: readonly string[] }>;

function* restoreField(object: JsonObject, { field, was, is }: FieldLoss): Steps<void> {
  const parent = follow(object, field.slice(0, -1));
  const key = field.at(-1);
  if (key === undefined || !isJsonObject(parent) || !(yield* equalInSteps(getKey(parent, key), was))) return;
  if (is === undefined) delete parent[key];
  else setKey(parent, key, is);
}

function* restoreElements(
  object: JsonObject,
  path: readonly string[],
  elements: ReadonlyMap<string, Json[]>,
  pace: Pace,
): Steps<void> {
  const list = follow(object, path);
  if (!Array.isArray(list)) return;
  const restored = new Map<string, number>();
  for (const [i, element] of list.entries()) {
    if (pace.over(weigh(element))) yield;
    const was = yield* stringifyJsonInSteps(element);
    const used = restored.get(was) ?? 0;
    const is = elements.get(was)?.[used];
    if (is === undefined) continue;
    list[i] = is;
    restored.set(was, used + 1);
  }
}

function follow(value: Json, path: readonly string[]): Json | undefined {
  let found: Json | undefined = value;
  for (const key of path) found = isJsonObject(found) ? getKey(found, key) : undefined;
  return found;
}

/** The losses in the text of an annotation; undefined for any other text. */
export function* readLosses(text: string): Steps<readonly Loss[] | undefined> {
  const bytes = Buffer.from(text);
  const steps = parsePlainJsonInSteps(bytes);
  const value = (steps === undefined ? parsePlainJson(bytes) : yield* steps)?.value;
  return Array.isArray(value) && value.every(isLoss) ? (value as unknown as Loss[]) : undefined;
}

export const writeLosses = (losses: readonly Loss[]): Steps<string> => stringifyJsonInSteps(losses as unknown as Json);

function isLoss(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const { field, list, was, is } = value;
  if (field === undefined) return isPath(list) && was !== undefined && is !== undefined;
  return isPath(field) && list === undefined;
}

const isPath = (value: Json | undefined): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((step) => typeof step === 'string');
