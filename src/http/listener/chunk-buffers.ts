/** Room for most pieces of lists (bytes). A piece that ends with a large object is sent as text. */
const roomBytes = 128 * 1024;
/** Room for the size of a chunk in hexadecimal digits, and its line feeds (RFC 9112, 7.1). */
const headBytes = roomBytes.toString(16).length + 2;
const tail = '\r\n';

/** Unused buffers that are kept: 4 MiB. */
const maxUnused = 32;

/** A buffer for one chunk, with room for the chunked transfer coding around it. */
export class ChunkBuffer {
  readonly #all = Buffer.allocUnsafeSlow(headBytes + roomBytes + tail.length);
  readonly room = this.#all.subarray(headBytes, headBytes + roomBytes);

  /** The first `length` bytes of the room as a chunk of the chunked transfer coding. */
  chunked(length: number): Buffer {
    const head = `${length.toString(16)}\r\n`;
    const start = headBytes - head.length;
    const end = headBytes + length;
    this.#all.write(head, start, 'latin1');
    this.#all.write(tail, end, 'latin1');
    return this.#all.subarray(start, end + tail.length);
  }
}

/**
 * The unused buffers, which all responses share. A list is written to one buffer after the other. Each is used again when the
 * connection has sent it: a text of this size for each chunk would be garbage, whose collection holds up all requests.
 *
 * A buffer is given back once, and by the callback of its write alone: until then Node may still send it. One whose
 * connection was closed is left to the garbage collector.
 */
const unused: ChunkBuffer[] = [];

/** A buffer for a chunk of `size` bytes; undefined if that has no room in one. */
export const takeChunkBuffer = (size: number): ChunkBuffer | undefined =>
  size > roomBytes ? undefined : (unused.pop() ?? new ChunkBuffer());

export function giveBack(buffer: ChunkBuffer): void {
  if (unused.length < maxUnused) unused.push(buffer);
}
