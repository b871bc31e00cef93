/** Base64 functions of the conformance corpus, which expressions of API objects do not have. */

import { functionOf } from '../library/overloads.ts';
import type { Library } from '../library.ts';
import { bytesType, stringType } from '../types.ts';
import { CelError } from '../values.ts';

/** Padding may be absent; line ends are ignored. */
function decode(text: string): Uint8Array {
  const letters = text.replace(/[\r\n]+/g, '');
  const digits = letters.replace(/={1,2}$/, '');
  const padded = digits.length < letters.length;
  const wrong = /[^A-Za-z0-9+/]/.exec(digits)?.index ?? (digits.length % 4 === 1 ? digits.length : -1);
  if (wrong >= 0 || (padded && letters.length % 4 !== 0)) {
    throw new CelError(`illegal base64 data at input byte ${wrong >= 0 ? wrong : letters.length}`);
  }
  return Uint8Array.from(Buffer.from(digits, 'base64'));
}

const encode = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

export const encodersLibrary: Library = {
  name: 'encoders',
  functions: {
    'base64.decode': [functionOf('base64_decode_string', [stringType], bytesType, (text) => decode(text as string))],
    'base64.encode': [
      functionOf('base64_encode_bytes', [bytesType], stringType, (bytes) => encode(bytes as Uint8Array)),
    ],
  },
};
