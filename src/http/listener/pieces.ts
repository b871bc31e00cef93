import type { Turns } from '../../meta/index.ts';
import type { Chunk } from '../types.ts';

/** The most that a connection is given at a time (bytes), because it buffers what it cannot send at once. */
export const pieceBytes = 256 * 1024;

/** A slice of the bytes without a copy. */
export const sliceOf = (bytes: Chunk, from: number, to?: number): Chunk =>
  typeof bytes === 'string' ? (bytes.slice(from, to) as Chunk) : bytes.subarray(from, to);

/** A whole body in slices, each in a turn: encrypting one takes about a millisecond. */
export async function* pieces(body: Chunk, turns: Turns): AsyncGenerator<Chunk> {
  for (let at = 0; at < body.length; at += pieceBytes) {
    if (turns.over) await turns.next();
    yield sliceOf(body, at, at + pieceBytes);
  }
}
