import type { Chunk } from '../types.ts';

/** The most that a connection is given at a time (bytes), because it buffers what it cannot send at once. */
export const pieceBytes = 256 * 1024;

/** A slice of the bytes without a copy. */
export const sliceOf = (bytes: Chunk, from: number, to?: number): Chunk =>
  typeof bytes === 'string' ? (bytes.slice(from, to) as Chunk) : bytes.subarray(from, to);

/** A whole body in slices. */
export async function* pieces(body: Chunk): AsyncGenerator<Chunk> {
  for (let at = 0; at < body.length; at += pieceBytes) yield sliceOf(body, at, at + pieceBytes);
}
