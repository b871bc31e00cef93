import type { ByteString } from '../meta/index.ts';
import { decodeText } from '../meta/index.ts';

// Drivers represent a key as the string of its UTF-8 bytes, so that `<` on strings is the key order of the contract.

/** Compares keys by their bytes. */
export function compareKeys(a: ByteString, b: ByteString): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the exclusive end of the range of keys with this prefix; undefined when the range is unbounded. */
export function afterPrefix(prefix: ByteString): ByteString | undefined {
  // No byte of UTF-8 is 0xFF, so the last one can always be incremented.
  const last = prefix.length - 1;
  if (last < 0) return undefined;
  return (prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1)) as ByteString;
}

const beyondAscii = /[\x80-\xff]/;

/** Decodes a key. An ASCII key is returned unchanged after a scan. */
export function keyText(key: ByteString): string {
  return beyondAscii.test(key) ? decodeText(key) : key;
}
