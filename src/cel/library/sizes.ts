/** The sizes of values, which costs depend on. */
import { codePoints, keysOf } from '../evaluation-cache.ts';
import { ListValue, MapValue, ObjectValue, OpaqueValue, OptionalValue, type Value } from '../values.ts';

/** Code points, bytes, elements or entries; 1 for other values. */
export function sizeOfValue(value: Value): number {
  if (typeof value === 'string') return codePoints(value);
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof OpaqueValue) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof ObjectValue) return keysOf(value.json).length;
  if (value instanceof OptionalValue) return value.value === undefined ? 1 : sizeOfValue(value.value);
  return 1;
}
