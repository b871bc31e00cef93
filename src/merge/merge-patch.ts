import { atOnce, getKey, isJsonObject, type Json, type JsonObject, Pace, type Steps, setKey } from '../meta/index.ts';

/**
 * Applies a JSON Merge Patch (RFC 7386) to a document. Neither argument is changed; the result shares unchanged values
 * with both.
 */
export const applyMergePatch = (document: Json | undefined, patch: Json): Json =>
  atOnce(applyMergePatchInSteps(document, patch));

/** The same in steps. */
export const applyMergePatchInSteps = (document: Json | undefined, patch: Json): Steps<Json> =>
  mergeDocument(document, patch, new Pace());

function* mergeDocument(document: Json | undefined, patch: Json, pace: Pace): Steps<Json> {
  if (!isJsonObject(patch)) return patch;
  const out: JsonObject = {};
  const before: JsonObject = isJsonObject(document) ? document : {};
  for (const key of Object.keys(before)) {
    if (pace.over()) yield;
    const change = getKey(patch, key);
    if (change === null) continue;
    const value = before[key] as Json;
    setKey(out, key, isJsonObject(change) ? yield* mergeDocument(value, change, pace) : (change ?? value));
  }
  for (const key of Object.keys(patch)) {
    if (pace.over()) yield;
    const change = patch[key] as Json;
    if (change !== null && !Object.hasOwn(before, key)) setKey(out, key, yield* mergeDocument(undefined, change, pace));
  }
  return out;
}
