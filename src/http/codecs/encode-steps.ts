import { readOwnJson, readOwnJsonInSteps } from '../../codec/index.ts';
import { type ByteString, decodeText, inTurns, type JsonObject, type Steps, type Turns } from '../../meta/index.ts';
import {
  type CachedObject,
  largeBytes,
  type Representation,
  readForRepresentation,
  representObject,
  type Target,
} from '../../registry/index.ts';
import type { ApiResponse, Chunk } from '../types.ts';

/** The object of JSON that this server wrote. */
export const readOwnBytes = (json: ByteString): JsonObject => readOwnJson(decodeText(json)) as JsonObject;

/** The value of a representation of an object. */
export function* valueInSteps(target: Target, object: CachedObject, view: Representation): Steps<JsonObject> {
  const json = representObject(target, object, view, yield* readForRepresentation(target, object, view));
  yield;
  const value = (yield* readOwnJsonInSteps(decodeText(json))) as JsonObject;
  yield;
  return value;
}

/** Encodes the object of JSON that this server wrote: a large one in turns, and in steps if the encoding has some. */
export function fromJson(
  json: ByteString,
  turns: Turns,
  encode: (value: JsonObject) => Chunk,
  encodeInSteps?: (value: JsonObject) => Steps<Chunk>,
): Chunk | Promise<Chunk> {
  if (json.length < largeBytes) return encode(readOwnBytes(json));
  return inTurns(
    (function* () {
      const value = (yield* readOwnJsonInSteps(decodeText(json))) as JsonObject;
      yield;
      return encodeInSteps === undefined ? encode(value) : yield* encodeInSteps(value);
    })(),
    turns,
  );
}

/** Pieces that are made in turns: one chunk if there is one piece, otherwise several. `end` follows the last one. */
export async function inPieces(pieces: Iterator<ByteString>, end: string, turns: Turns): Promise<ApiResponse['body']> {
  if (turns.over) await turns.next();
  const first = pieces.next().value as ByteString;
  if (turns.over) await turns.next();
  const second = pieces.next();
  return second.done === true ? ((first + end) as ByteString) : streamPieces(first, second.value, pieces, end, turns);
}

async function* streamPieces(
  first: ByteString,
  second: ByteString,
  rest: Iterator<ByteString>,
  end: string,
  turns: Turns,
): AsyncGenerator<ByteString> {
  let piece = first;
  for (let next: IteratorResult<ByteString> = { value: second }; next.done !== true; next = rest.next()) {
    // A piece is empty after a step within a large item.
    if (piece !== '') yield piece;
    piece = next.value;
    if (turns.over) await turns.next();
  }
  yield (piece + end) as ByteString;
}
