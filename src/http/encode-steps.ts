import { setImmediate as nextTurn } from 'node:timers/promises';
import { readOwnJson } from '../codec/index.ts';
import { type ByteString, decodeText, type JsonObject } from '../meta/index.ts';
import { largeBytes } from '../registry/index.ts';
import type { ApiResponse, Chunk } from './types.ts';

/** The object of JSON that this server wrote. */
export const readOwnBytes = (json: ByteString): JsonObject => readOwnJson(decodeText(json)) as JsonObject;

/** Encodes the object of JSON that this server wrote. Others have a turn before a large one is encoded. */
export function fromJson(
  json: ByteString,
  encode: (value: JsonObject) => Chunk,
  encodeLarge: (value: JsonObject) => Chunk | Promise<Chunk> = encode,
): Chunk | Promise<Chunk> {
  const value = readOwnBytes(json);
  return json.length < largeBytes ? encode(value) : nextTurn().then(() => encodeLarge(value));
}

/** One chunk if there is one piece, otherwise chunks with a turn for others after each. `end` follows the last one. */
export function inPieces(pieces: Iterator<ByteString>, end: string): ApiResponse['body'] {
  const first = pieces.next().value as ByteString;
  const second = pieces.next();
  return second.done === true ? ((first + end) as ByteString) : streamPieces(first, second.value, pieces, end);
}

async function* streamPieces(
  first: ByteString,
  second: ByteString,
  rest: Iterator<ByteString>,
  end: string,
): AsyncGenerator<ByteString> {
  let piece = first;
  for (let next: IteratorResult<ByteString> = { value: second }; next.done !== true; next = rest.next()) {
    // A piece is empty after a step within a large item.
    if (piece !== '') yield piece;
    piece = next.value;
    await nextTurn();
  }
  yield (piece + end) as ByteString;
}
