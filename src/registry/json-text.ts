import { parseJson } from '../codec/index.ts';
import type { JsonObject } from '../meta/index.ts';

/** Reads JSON text that this program wrote: integers beyond 2^53 stay exact, and no one looks for duplicate keys. */
export function readJson(text: string): JsonObject {
  // Only a long run of digits can be an integer that a double does not hold.
  return (/[0-9]{16}/.test(text) ? parseJson(Buffer.from(text)).value : JSON.parse(text)) as JsonObject;
}
