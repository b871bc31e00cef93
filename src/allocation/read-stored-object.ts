import { readOwnJson } from '../codec/index.ts';
import { isJsonObject, type JsonObject } from '../meta/index.ts';
import type { Entry } from '../store/index.ts';

/** Decodes a stored object; undefined when it is damaged. */
export function readStored({ value }: Pick<Entry, 'value'>): JsonObject | undefined {
  try {
    const object = readOwnJson(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString());
    return isJsonObject(object) ? object : undefined;
  } catch {
    return undefined;
  }
}
