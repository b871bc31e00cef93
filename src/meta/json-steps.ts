import type { Json, JsonObject } from './json.ts';
import { Pace, type Steps, sortedInSteps } from './steps.ts';

const isContainer = (value: Json | undefined): value is Json[] | JsonObject =>
  typeof value === 'object' && value !== null;

/** Counts visited values, and says when the step must end. */
type Counter = Pick<Pace, 'over'>;

/** Whether two JSON values are equal, in any order of object keys. */
export function* jsonEqualInSteps(
  a: Json | undefined,
  b: Json | undefined,
  pace: Counter = new Pace(),
): Steps<boolean> {
  if (a === b) return true;
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  return Array.isArray(a) ? yield* listsEqual(a, b as Json[], pace) : yield* objectsEqual(a, b as JsonObject, pace);
}

function* listsEqual(a: readonly Json[], b: readonly Json[], pace: Counter): Steps<boolean> {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (pace.over()) yield;
    const item = a[i];
    if (item === b[i]) continue;
    if (!isContainer(item) || !(yield* jsonEqualInSteps(item, b[i], pace))) return false;
  }
  return true;
}

function* objectsEqual(a: JsonObject, b: JsonObject, pace: Counter): Steps<boolean> {
  const keys = Object.keys(a);
  if (pace.over(keys.length)) yield;
  const others = Object.keys(b).length;
  if (pace.over(others)) yield;
  if (keys.length !== others) return false;
  for (const key of keys) {
    if (pace.over()) yield;
    if (!Object.hasOwn(b, key)) return false;
    const member = a[key];
    if (member === b[key]) continue;
    if (!isContainer(member) || !(yield* jsonEqualInSteps(member, b[key], pace))) return false;
  }
  return true;
}

/** Returns a text that is the same for equal JSON values only, whatever the order of object keys. */
function* canonicalText(value: Json, pace: Pace): Steps<string> {
  const parts: string[] = [];
  yield* write(value, parts, pace);
  return parts.join('');
}

function* write(value: Json, parts: string[], pace: Pace): Steps<void> {
  if (!isContainer(value)) {
    parts.push(typeof value === 'string' ? JSON.stringify(value) : String(value));
    return;
  }
  const isList = Array.isArray(value);
  parts.push(isList ? '[' : '{');
  for (const key of isList ? value.keys() : yield* sortedTexts(Object.keys(value))) {
    if (pace.over()) yield;
    if (!isList) parts.push(JSON.stringify(key), ':');
    yield* write((value as { readonly [key: string | number]: Json })[key] as Json, parts, pace);
    parts.push(',');
  }
  parts.push(isList ? ']' : '}');
}

/** Sorts texts by `compare`, by default by their UTF-16 code units. */
export const sortedTexts = (texts: readonly string[], compare?: (a: string, b: string) => number): Steps<string[]> =>
  sortedInSteps(texts, compare);

/** Returns an identity that equal JSON values share: a scalar, or the canonical text of a list or object. */
export function* identityInSteps(value: Json, pace = new Pace()): Steps<unknown> {
  if (pace.over()) yield;
  return isContainer(value) ? yield* canonicalText(value, pace) : scalarIdentity(value);
}

/** Returns the identity of a scalar, which differs from that of every list and object. */
export const scalarIdentity = (value: null | boolean | number | bigint | string): unknown =>
  typeof value === 'string' ? `"${value}` : value;
