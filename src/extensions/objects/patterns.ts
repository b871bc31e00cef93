import { maxKeptPatterns, sizeOfPattern } from '../../cel/index.ts';
import { type FieldError, fieldError, getKey, isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';

/** The error of a schema whose patterns cannot all be kept compiled: each object would compile them again. */
export function validatePatterns(schema: JsonObject, path: string): FieldError[] {
  const patterns = new Set<string>();
  const visit = (value: Json | undefined): void => {
    if (!isJsonObject(value)) return;
    const pattern = getKey(value, 'pattern');
    if (typeof pattern === 'string') patterns.add(pattern);
    for (const key of ['items', 'additionalProperties', 'not']) visit(getKey(value, key));
    const properties = getKey(value, 'properties');
    for (const part of isJsonObject(properties) ? Object.values(properties) : []) visit(part);
    for (const key of ['allOf', 'anyOf', 'oneOf']) {
      const parts = getKey(value, key);
      for (const part of Array.isArray(parts) ? parts : []) visit(part);
    }
  };
  visit(schema);
  let size = 0;
  for (const pattern of patterns) size += sizeOfPattern(pattern);
  if (size <= maxKeptPatterns) return [];
  const limit = `its ${patterns.size} different patterns take ${size} instructions when they are compiled, of at most ${maxKeptPatterns}`;
  return [fieldError.forbidden(path, limit)];
}
