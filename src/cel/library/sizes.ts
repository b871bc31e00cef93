/** The sizes of values, which costs depend on. */
import type { Overload } from '../library.ts';
import { ListValue, MapValue, ObjectValue, OpaqueValue, OptionalValue, type Value } from '../values.ts';
import { codePoints } from './costs.ts';

/** Code points, bytes, elements or entries; 1 for other values. */
export function sizeOfValue(value: Value): number {
  if (typeof value === 'string') return codePoints(value);
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof OpaqueValue) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof ObjectValue) return Object.keys(value.json).length;
  if (value instanceof OptionalValue) return value.value === undefined ? 1 : sizeOfValue(value.value);
  return 1;
}

/** What reading a value that the reference lets cost 1 costs: more for very long ones. */
export const longCost: NonNullable<Overload['cost']> = ([value = null]) => {
  if (typeof value === 'string') return Math.max(1, Math.ceil(value.length / 1000));
  return value instanceof MapValue ? Math.max(1, Math.ceil(value.size / 100)) : 1;
};
