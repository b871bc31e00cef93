import { type Json, type JsonObject, jsonCopy, jsonEqual, setKey } from './json.ts';
import { jsonEqualInSteps, Pace } from './json-steps.ts';
import type { Steps } from './steps.ts';

/**
 * From so many values on, work on a value is done in steps. A walk that has counted a large value ends its step: to begin
 * iterating over an object takes time linear in its members.
 */
export const largeWeight = 1_000;

/** The objects known to be large: to begin iterating over one takes as long as to count it. */
const knownLarge = new WeakSet<JsonObject>();

/** Whether an object has been found to be large before. */
export const isKnownLarge = (object: JsonObject): boolean => knownLarge.has(object);

/** How many values a value holds, itself included; counted no further than to {@link largeWeight}, and then only once. */
export function weigh(value: Json | undefined): number {
  if (typeof value !== 'object' || value === null) return 1;
  const weight = largeWeight - left(value, largeWeight);
  if (weight === largeWeight && !Array.isArray(value)) knownLarge.add(value);
  return weight;
}

/** What is left of `weight` after the values of a list or object. */
function left(value: Json[] | JsonObject, weight: number): number {
  // Also ends in a value that nests deeper than any function may call itself.
  if (--weight <= 0) return 0;
  if (Array.isArray(value)) {
    if (value.length >= weight) return 0;
    for (const item of value) {
      weight = typeof item === 'object' && item !== null ? left(item, weight) : weight - 1;
      if (weight <= 0) return 0;
    }
    return weight;
  }
  if (knownLarge.has(value)) return 0;
  for (const key in value) {
    const item = value[key];
    weight = typeof item === 'object' && item !== null ? left(item, weight) : weight - 1;
    if (weight <= 0) return 0;
  }
  return weight;
}

/** Whether work on a value is done in steps. */
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

/** A deep copy, made in steps. */
export function* jsonCopyInSteps<T extends Json>(value: T, pace = new Pace()): Steps<T> {
  return (yield* copied(value, pace)) as T;
}

function* copied(value: Json, pace: Pace): Steps<Json> {
  const weight = weigh(value);
  if (pace.over(weight)) yield;
  if (weight < largeWeight || typeof value !== 'object' || value === null) return jsonCopy(value);
  if (Array.isArray(value)) {
    const list: Json[] = [];
    for (const item of value) list.push(yield* copied(item, pace));
    return list;
  }
  const out: JsonObject = {};
  for (const key of Object.keys(value)) setKey(out, key, yield* copied(value[key] as Json, pace));
  return out;
}
