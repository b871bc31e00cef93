import type { Chunk } from './types.ts';

/** Connections are handed no more at a time (bytes): what they cannot send at once they hold on to. */
export const pieceBytes = 256 * 1024;

/** A view of some of the bytes. */
export const sliceOf = (bytes: Chunk, from: number, to?: number): Chunk =>
  typeof bytes === 'string' ? (bytes.slice(from, to) as Chunk) : bytes.subarray(from, to);

/** A whole body, piece by piece, each a view of it. */
export async function* pieces(body: Chunk): AsyncGenerator<Chunk> {
  for (let at = 0; at < body.length; at += pieceBytes) yield sliceOf(body, at, at + pieceBytes);
}
