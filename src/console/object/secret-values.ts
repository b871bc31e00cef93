/** Objects as the page shows them while the values of secrets are hidden. */
import { isSecret, maskedPair } from '../../client/index.ts';
import { at, isJsonObject, type JsonObject } from '../../meta/index.ts';

/**
 * Two states of an object without the values of a secret; values that differ are marked. Clients that apply keep a copy of the
 * values in an annotation, which is hidden too.
 */
export function withoutValues(
  before: JsonObject | undefined,
  after: JsonObject,
): [before: JsonObject | undefined, after: JsonObject] {
  if (!isSecret(after)) return [before, after];
  const [from, to] = maskedPair(before, after);
  return [from && withoutCopies(from), withoutCopies(to)];
}

function withoutCopies(object: JsonObject): JsonObject {
  const { metadata } = object;
  const annotations = at(metadata, 'annotations');
  if (!isJsonObject(metadata) || !isJsonObject(annotations)) return object;
  const shown = Object.entries(annotations).map(([key, value]) => [
    key,
    key.endsWith('/last-applied-configuration') ? '***' : value,
  ]);
  return { ...object, metadata: { ...metadata, annotations: Object.fromEntries(shown) as JsonObject } };
}
