declare const oneByteAChar: unique symbol;

/**
 * Bytes held as a string with one character (U+0000 to U+00FF) for each byte.
 *
 * The engine stores such a string with one byte a character and a 16-byte header, moves it like any other leaf object,
 * and sockets take it without a copy (`latin1`). A hundred thousand objects of 2 KB held so take less memory than as
 * Buffers, and ten thousand of them are gathered into a list in half the time.
 */
export type ByteString = string & { readonly [oneByteAChar]: true };

/** The UTF-8 bytes of a text. An ASCII text is scanned and not copied. */
export function encodeText(text: string): ByteString {
  return (Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')) as ByteString;
}

/** The text whose UTF-8 bytes these are. */
export function decodeText(bytes: ByteString): string {
  // Only an ASCII text has as many bytes as characters.
  return Buffer.byteLength(bytes) === bytes.length ? bytes : Buffer.from(bytes, 'latin1').toString();
}

export function bytesOf(buffer: Uint8Array): ByteString {
  return Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength).toString('latin1') as ByteString;
}

export function bufferOf(bytes: ByteString): Buffer {
  return Buffer.from(bytes, 'latin1');
}
