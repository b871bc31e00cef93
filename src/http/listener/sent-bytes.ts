import type { Chunk } from '../types.ts';

/** Longer chunks (bytes) belong to lists. No two responses share them, so Node may as well copy them itself. */
export const maxSharedBytes = 64 * 1024;

/**
 * The bytes that a connection is sent for a chunk. Watchers of a change are sent the same chunk one after the other, so its
 * bytes are made once for all of them.
 */
export class SentBytes {
  readonly #make: (chunk: Chunk) => Uint8Array;
  #chunk: Chunk | undefined;
  #bytes: Uint8Array = new Uint8Array();

  constructor(make: (chunk: Chunk) => Uint8Array) {
    this.#make = make;
  }

  of(chunk: Chunk): Uint8Array {
    if (chunk !== this.#chunk) {
      this.#bytes = this.#make(chunk);
      this.#chunk = chunk;
    }
    return this.#bytes;
  }
}

/** A chunk of the chunked transfer coding (RFC 9112, 7.1). It must not be empty: an empty one ends the body. */
export function chunkedCoding(chunk: Chunk): Uint8Array {
  const head = `${chunk.length.toString(16)}\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + chunk.length + 2);
  bytes.write(head, 'latin1');
  if (typeof chunk === 'string') bytes.write(chunk, head.length, 'latin1');
  else bytes.set(chunk, head.length);
  bytes.write('\r\n', head.length + chunk.length, 'latin1');
  return bytes;
}
