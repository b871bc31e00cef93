/** What commands show of two states of an object that they compare. */
import { isJsonObject, type JsonObject } from '../../meta/index.ts';

/** An object without its managed fields. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const { metadata = null } = object;
  if (!isJsonObject(metadata)) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest as JsonObject };
}

/** Replaces the values of secrets, and shows which of them differ. */
export function maskedPair(
  kind: string,
  live: JsonObject | undefined,
  merged: JsonObject,
): [JsonObject | undefined, JsonObject] {
  if (kind !== 'Secret') return [live, merged];
  const dataOf = (object: JsonObject | undefined) =>
    isJsonObject(object?.['data'] ?? null) ? (object?.['data'] as JsonObject) : {};
  const [a, b] = [dataOf(live), dataOf(merged)];
  const masked = (data: JsonObject, other: JsonObject, when: string): JsonObject =>
    Object.fromEntries(
      Object.keys(data).map((key) => [key, key in other && other[key] !== data[key] ? `*** (${when})` : '***']),
    );
  const replace = (object: JsonObject, data: JsonObject) =>
    Object.keys(data).length === 0 ? object : { ...object, data };
  return [
    live === undefined ? undefined : replace(live, masked(a, b, 'before')),
    replace(merged, masked(b, a, 'after')),
  ];
}
