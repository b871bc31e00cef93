/**
 * Caches results that take time proportional to a value but cost one unit: the keys of a large JSON object, the number of
 * code points of a long string. Each is computed once in an evaluation, however often a loop needs it.
 */
import { countCodePoints, type JsonObject } from '../meta/index.ts';

/** Results for smaller values are faster to compute than to look up. */
const LARGE = 64;
/** Maximum number of cached string lengths. */
const MAX_STRINGS = 100;

let keys = new WeakMap<JsonObject, readonly string[]>();
const lengths = new Map<string, number>();
let used = false;

/** Clears the cache. Must be called between evaluations, since JSON may change between them. */
export function forget(): void {
  if (!used) return;
  used = false;
  keys = new WeakMap();
  lengths.clear();
}

/** Returns the keys of a JSON object, which must not change during the evaluation. */
export function keysOf(json: JsonObject): readonly string[] {
  const known = keys.get(json);
  if (known !== undefined) return known;
  const computed = Object.keys(json);
  if (computed.length >= LARGE) {
    used = true;
    keys.set(json, computed);
  }
  return computed;
}

/** Returns the number of code points of a string. */
export function codePoints(text: string): number {
  if (text.length < LARGE) return countCodePoints(text);
  let count = lengths.get(text);
  if (count === undefined) {
    count = countCodePoints(text);
    if (lengths.size < MAX_STRINGS) lengths.set(text, count);
    used = true;
  }
  return count;
}
