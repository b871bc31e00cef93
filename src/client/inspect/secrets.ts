/** Secrets without their values. */
import { at, isJsonObject, type JsonObject } from '../../meta/index.ts';

/** Whether the values of an object are confidential: those of the kind `Secret` in version `v1` of any group, as kubectl has it. */
export const isSecret = ({ apiVersion, kind }: JsonObject): boolean =>
  kind === 'Secret' && typeof apiVersion === 'string' && /^(?:[^/]+\/)?v1$/.test(apiVersion);

/** Two states of an object. The values of a secret are replaced, by texts that show which of them differ. */
export function maskedPair(
  live: JsonObject | undefined,
  merged: JsonObject,
): [live: JsonObject | undefined, merged: JsonObject] {
  if (!isSecret(merged)) return [live, merged];
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
