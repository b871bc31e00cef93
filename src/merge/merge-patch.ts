import { getKey, isJsonObject, type Json, type JsonObject, setKey } from '../meta/index.ts';

/**
 * The document after a JSON Merge Patch (RFC 7386). Neither argument is changed; the result shares unchanged values
 * with both.
 */
export function applyMergePatch(document: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const out: JsonObject = {};
  const before: JsonObject = isJsonObject(document) ? document : {};
  for (const key of Object.keys(before)) {
    const change = getKey(patch, key);
    if (change === null) continue;
    const value = before[key] as Json;
    setKey(out, key, change === undefined ? value : applyMergePatch(value, change));
  }
  for (const key of Object.keys(patch)) {
    const change = patch[key] as Json;
    if (change !== null && !Object.hasOwn(before, key)) setKey(out, key, applyMergePatch(undefined, change));
  }
  return out;
}
