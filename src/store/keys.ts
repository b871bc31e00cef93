import type { ByteString } from '../meta/index.ts';
import { decodeText, encodeText } from '../meta/index.ts';

// Within the drivers a key is the string of its UTF-8 bytes, so that `<` on strings is the order of the contract.

/** The order of keys: by their bytes. */
export function compareKeys(a: ByteString, b: ByteString): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The first string after all that begin with `prefix`; undefined when there is none. */
export function afterPrefix(prefix: ByteString): ByteString | undefined {
  // No byte of UTF-8 is 0xFF, so the last one can always be raised.
  const last = prefix.length - 1;
  if (last < 0) return undefined;
  return (prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1)) as ByteString;
}

const beyondAscii = /[\x80-\xff]/;

/** The text of a key; costs a scan, and nothing more, when it is ASCII. */
export function keyText(key: ByteString): string {
  return beyondAscii.test(key) ? decodeText(key) : key;
}

/** The bytes of a text, or undefined when it holds half of a surrogate pair and so has none. */
export function keyBytes(text: string): ByteString | undefined {
  const bytes = encodeText(text);
  return bytes !== text && /[\uD800-\uDFFF]/u.test(text) ? undefined : bytes;
}
