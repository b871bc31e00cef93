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
  if (second.done === true) return (first + end) as ByteString;
  return new PieceStream([first, second.value], pieces, end, turns);
}

/**
 * Pieces that are made and sent in turns. Unlike the frame of a generator, it does not hold a piece that it has returned:
 * hundreds of lists can wait for their turns, and what they held would be copied by each garbage collection.
 */
class PieceStream implements AsyncIterableIterator<ByteString> {
  /** Made and not yet returned: one piece at least, since only the last one is followed by the end. */
  readonly #made: ByteString[];
  readonly #rest: Iterator<ByteString>;
  readonly #end: string;
  readonly #turns: Turns;

  constructor(made: ByteString[], rest: Iterator<ByteString>, end: string, turns: Turns) {
    this.#made = made;
    this.#rest = rest;
    this.#end = end;
    this.#turns = turns;
  }

  async next(): Promise<IteratorResult<ByteString>> {
    const made = this.#made;
    while (made.length > 0) {
      if (this.#turns.over) await this.#turns.next();
      if (made.length === 1) {
        const next = this.#rest.next();
        if (next.done === true) return { done: false, value: ((made.pop() ?? '') + this.#end) as ByteString };
        made.push(next.value);
      }
      const value = made.shift();
      // A piece is empty after a step within a large item.
      if (value !== undefined && value !== '') return { done: false, value };
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<ByteString>> {
    this.#made.length = 0;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
