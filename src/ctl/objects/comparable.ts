/** The form in which commands show two states of an object that they compare. */
import { isJsonObject, type JsonObject } from '../../meta/index.ts';

/** An object without its managed fields. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const { metadata = null } = object;
  if (!isJsonObject(metadata)) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest as JsonObject };
}
