import { isJsonObject, type Json } from '../../meta/index.ts';

/** The size of a value that a build copies: its characters, and one for each value in it. */
export function sizeOf(value: Json): number {
  if (typeof value === 'string') return value.length + 1;
  let size = 1;
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item);
  else if (isJsonObject(value)) for (const key of Object.keys(value)) size += key.length + sizeOf(value[key] ?? null);
  return size;
}
