import { type Json, type JsonObject, jsonCopy, jsonEqual, setKey } from './json.ts';
import { jsonEqualInSteps } from './json-steps.ts';
import { Pace, type Steps } from './steps.ts';

/**
 * Work on a value with at least this many values inside runs in steps. A walk that has counted a large value ends its
 * step: starting to iterate over an object takes time linear in its members.
 */
export const largeWeight = 1_000;

/** Objects known to be large: starting to iterate over one takes as long as counting it. */
const knownLarge = new WeakSet<JsonObject>();

/** Whether an earlier call of {@link weigh} found the object to be large. */
export const isKnownLarge = (object: JsonObject): boolean => knownLarge.has(object);

/** Counts the values inside a value, itself included, up to {@link largeWeight}. Remembers objects that reach it. */
export function weigh(value: Json | undefined): number {
  if (typeof value !== 'object' || value === null) return 1;
  const weight = largeWeight - remainingWeight(value, largeWeight);
  if (weight === largeWeight && !Array.isArray(value)) knownLarge.add(value);
  return weight;
}

/** Returns `weight` minus the number of values in a list or object; at least 0. */
function remainingWeight(value: Json[] | JsonObject, weight: number): number {
  // Also stops before a deeply nested value could exceed the call stack.
  if (--weight <= 0) return 0;
  if (Array.isArray(value)) {
    if (value.length >= weight) return 0;
    for (const item of value) {
      weight = typeof item === 'object' && item !== null ? remainingWeight(item, weight) : weight - 1;
      if (weight <= 0) return 0;
    }
    return weight;
  }
  if (knownLarge.has(value)) return 0;
  for (const key in value) {
    const item = value[key];
    weight = typeof item === 'object' && item !== null ? remainingWeight(item, weight) : weight - 1;
    if (weight <= 0) return 0;
  }
  return weight;
}

/** Whether work on a value runs in steps. */
export const isLarge = (value: Json | undefined): boolean => weigh(value) >= largeWeight;

/** Whether two values are equal, compared in steps where both are large. */
export function* equalInSteps(a: Json | undefined, b: Json | undefined): Steps<boolean> {
  if (a === b) return true;
  if (!isLarge(a)) return jsonEqual(a, b);
  yield;
  if (!isLarge(b)) return jsonEqual(a, b);
  yield;
  return yield* jsonEqualInSteps(a, b);
}

/** Copies a value deeply, in steps. */
export function* jsonCopyInSteps<T extends Json>(value: T, pace = new Pace()): Steps<T> {
  return (yield* copyInSteps(value, pace)) as T;
}

function* copyInSteps(value: Json, pace: Pace): Steps<Json> {
  const weight = weigh(value);
  if (pace.over(weight)) yield;
  if (weight < largeWeight || typeof value !== 'object' || value === null) return jsonCopy(value);
  if (Array.isArray(value)) {
    const list: Json[] = [];
    for (const item of value) list.push(yield* copyInSteps(item, pace));
    return list;
  }
  const out: JsonObject = {};
  for (const key of Object.keys(value)) setKey(out, key, yield* copyInSteps(value[key] as Json, pace));
  return out;
}
