import {
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEqual,
  jsonEqualInSteps,
  largeWeight,
  Pace,
  type Steps,
  setKey,
  weigh,
} from '../meta/index.ts';
import { identityOf } from './fields-of.ts';
import { type ListShape, memberShape, type ObjectShape, type Shape, type StructShape } from './shape.ts';

/**
 * Merges an applied configuration into the live object. Entries of associative lists are matched by their keys and take
 * the order of the configuration; entries of the live object only retain their position between them. Unchanged values
 * are those of the live object: a configuration that changes nothing returns the live object itself.
 */
export function merge(shape: StructShape, live: JsonObject, applyConfig: JsonObject): JsonObject {
  return mergeByShape(shape, live, applyConfig) as JsonObject;
}

/** The same in steps, for large objects. */
export function* mergeInSteps(shape: StructShape, live: JsonObject, applyConfig: JsonObject): Steps<JsonObject> {
  return (yield* mergeByShapeInSteps(shape, live, applyConfig, new Pace())) as JsonObject;
}

function* mergeByShapeInSteps(shape: Shape, live: Json | undefined, applyConfig: Json, pace: Pace): Steps<Json> {
  const [before, configWeight] = [weigh(live), weigh(applyConfig)];
  if (pace.over(before + configWeight)) yield;
  if (before < largeWeight && configWeight < largeWeight) return mergeByShape(shape, live, applyConfig);
  if (shape.kind === 'list' && shape.listType !== 'atomic') {
    const old = Array.isArray(live) ? live : [];
    return yield* mergeListInSteps(shape, old, Array.isArray(applyConfig) ? applyConfig : [], pace);
  }
  const granular = shape.kind === 'untyped' || ((shape.kind === 'struct' || shape.kind === 'map') && !shape.atomic);
  if (granular && isJsonObject(applyConfig)) {
    return yield* mergeObjectInSteps(shape, isJsonObject(live) ? live : undefined, applyConfig, pace);
  }
  if (applyConfig === null) return mergeByShape(shape, live, applyConfig);
  return live !== undefined && (yield* jsonEqualInSteps(live, applyConfig, pace)) ? live : applyConfig;
}

function* mergeObjectInSteps(
  shape: ObjectShape,
  live: JsonObject | undefined,
  applyConfig: JsonObject,
  pace: Pace,
): Steps<JsonObject> {
  const changed = new Map<string, Json>();
  for (const key in applyConfig) {
    if (pace.over()) yield;
    const before = live !== undefined && Object.hasOwn(live, key) ? live[key] : undefined;
    const configValue = applyConfig[key] as Json;
    const inner = memberShape(shape, key);
    const after = inner === undefined ? configValue : yield* mergeByShapeInSteps(inner, before, configValue, pace);
    if (after !== before) changed.set(key, after);
  }
  if (live !== undefined && changed.size === 0) return live;
  const out: JsonObject = {};
  for (const key in live) {
    if (pace.over()) yield;
    setKey(out, key, live[key] as Json);
  }
  for (const [key, value] of changed) {
    if (pace.over()) yield;
    setKey(out, key, value);
  }
  return out;
}

function* mergeListInSteps(shape: ListShape, live: Json[], applyConfig: Json[], pace: Pace): Steps<Json[]> {
  if (applyConfig.length === 0) return live;
  const old = yield* identitiesOf(shape, live, pace);
  const order = yield* identitiesOf(shape, applyConfig, pace);
  const inStep = old.length === order.length && old.every((element, i) => element === order[i]);
  const liveEntries = inStep ? undefined : entriesOf(live, old);
  yield;
  const entries: Json[] = [];
  for (const [i, entry] of applyConfig.entries()) {
    const before = liveEntries === undefined ? live[i] : liveEntries.get(order[i] as string);
    entries.push(yield* mergeByShapeInSteps(shape.element, before, entry, pace));
  }
  yield;
  return arrange(live, old, entries, inStep ? undefined : order);
}

function* identitiesOf(shape: ListShape, list: readonly Json[], pace: Pace): Steps<string[]> {
  const identities: string[] = [];
  for (const entry of list) {
    if (pace.over()) yield;
    identities.push(identityOf(shape, entry));
  }
  return identities;
}

function mergeByShape(shape: Shape, live: Json | undefined, applyConfig: Json): Json {
  switch (shape.kind) {
    case 'scalar':
      return replaceValue(live, applyConfig);
    case 'unowned':
      return applyConfig === null && live !== undefined ? live : replaceValue(live, applyConfig);
    case 'list': {
      if (shape.listType === 'atomic') return replaceValue(live, applyConfig);
      const old = Array.isArray(live) ? live : [];
      const configItems = Array.isArray(applyConfig) ? applyConfig : [];
      return old.length + configItems.length === 0
        ? replaceValue(live, applyConfig)
        : mergeList(shape, old, configItems);
    }
    default:
      if (shape.kind !== 'untyped' && shape.atomic) return replaceValue(live, applyConfig);
      if (isJsonObject(applyConfig)) return mergeObject(shape, isJsonObject(live) ? live : undefined, applyConfig);
      return applyConfig === null && isJsonObject(live) && hasMembers(live) ? live : replaceValue(live, applyConfig);
  }
}

const replaceValue = (live: Json | undefined, applyConfig: Json): Json =>
  live !== undefined && jsonEqual(live, applyConfig) ? live : applyConfig;

function hasMembers(value: JsonObject): boolean {
  for (const _ in value) return true;
  return false;
}

function mergeObject(shape: ObjectShape, live: JsonObject | undefined, applyConfig: JsonObject): JsonObject {
  let out: JsonObject | undefined = live === undefined ? {} : undefined;
  for (const key in applyConfig) {
    const before = live !== undefined && Object.hasOwn(live, key) ? live[key] : undefined;
    const inner = memberShape(shape, key);
    const after =
      inner === undefined ? (applyConfig[key] as Json) : mergeByShape(inner, before, applyConfig[key] as Json);
    if (after === before) continue;
    // Spreading treats `__proto__` as plain data.
    out ??= { ...(live as JsonObject) };
    setKey(out, key, after);
  }
  return out ?? (live as JsonObject);
}

function mergeList(shape: ListShape, live: Json[], applyConfig: Json[]): Json[] {
  if (applyConfig.length === 0) return live;
  const old = live.map((entry) => identityOf(shape, entry));
  const order = applyConfig.map((entry) => identityOf(shape, entry));
  const inStep = old.length === order.length && old.every((element, i) => element === order[i]);
  const liveEntries = inStep ? undefined : entriesOf(live, old);
  const entries = applyConfig.map((entry, i) =>
    mergeByShape(shape.element, liveEntries === undefined ? live[i] : liveEntries.get(order[i] as string), entry),
  );
  return arrange(live, old, entries, inStep ? undefined : order);
}

/** Returns the entries of the live list by identity. Duplicates map to undefined: they are replaced, not merged. */
function entriesOf(live: Json[], old: readonly string[]): ReadonlyMap<string, Json | undefined> {
  const entries = new Map<string, Json | undefined>();
  for (const [i, element] of old.entries()) entries.set(element, entries.has(element) ? undefined : live[i]);
  return entries;
}

/**
 * Arranges the merged `entries` among the entries of the live list only. `old` and `order` are the identities of the live and
 * the merged entries; without `order` both are the same.
 */
function arrange(live: Json[], old: readonly string[], entries: Json[], order: readonly string[] | undefined): Json[] {
  const out = order === undefined ? entries : interleave(live, old, entries, order);
  return out.length === live.length && out.every((entry, i) => entry === live[i]) ? live : out;
}

function interleave(live: Json[], old: readonly string[], entries: Json[], order: readonly string[]): Json[] {
  const orderedElements = new Set(order);
  const liveElements = new Set(old);
  const sharedOrder = order.filter((element) => liveElements.has(element));
  const out: Json[] = [];
  let next = 0;
  let shared = 0;
  const takeNext = () => {
    if (order[next] === sharedOrder[shared]) shared++;
    out.push(entries[next] as Json);
    next++;
  };
  old.forEach((element, i) => {
    if (!orderedElements.has(element)) out.push(live[i] as Json);
    else if (element === sharedOrder[shared]) {
      const after = shared + 1;
      while (shared < after) takeNext();
    } else if (shared === sharedOrder.length && next < order.length) takeNext();
  });
  while (next < order.length) takeNext();
  return out;
}
