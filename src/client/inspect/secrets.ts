/** Secrets without their values. */
import { at, isJsonObject, type JsonObject } from '../../meta/index.ts';

/** Whether the values of an object are confidential. */
export const isSecret = ({ apiVersion, kind }: JsonObject): boolean => apiVersion === 'v1' && kind === 'Secret';

/** Replaces the values of secrets, and shows which of them differ. */
export function maskedPair(
  kind: string,
  live: JsonObject | undefined,
  merged: JsonObject,
): [JsonObject | undefined, JsonObject] {
  if (kind !== 'Secret') return [live, merged];
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

function dataOf(object: JsonObject | undefined): JsonObject {
  const data = at(object, 'data');
  return isJsonObject(data) ? data : {};
}
