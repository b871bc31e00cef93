import type { Chunk } from '../types.ts';

/** Longer chunks (bytes) belong to lists. No two responses share them, so Node may as well copy them itself. */
export const maxSharedBytes = 64 * 1024;

/** Up to this size (bytes), bytes are cheap to make: Node takes them from a pool. */
const maxPooledBytes = 2 * 1024;

/**
 * The bytes that a connection is sent for a chunk. Watchers of a change are sent the same chunk one after the other, so its
 * bytes are made once for all of them: those of a long chunk for the second one, as the first one may be the only one. Each
 * allocation counts in V8, and many of them, such as those of 500 watches that begin with objects, end in full collections.
 */
export class SentBytes {
  readonly #make: (chunk: Chunk) => Uint8Array;
  #chunk: Chunk | undefined;
  #bytes: Uint8Array | undefined;

  constructor(make: (chunk: Chunk) => Uint8Array) {
    this.#make = make;
  }

  /** Undefined for a long chunk that is sent for the first time: it need not have bytes of its own. */
  of(chunk: Chunk): Uint8Array | undefined {
    if (chunk !== this.#chunk) {
      this.#chunk = chunk;
      this.#bytes = chunk.length <= maxPooledBytes ? this.#make(chunk) : undefined;
    } else this.#bytes ??= this.#make(chunk);
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
