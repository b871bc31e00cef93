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

/** A list, the last piece of which is returned. */
type Pieces = Iterator<ByteString, ByteString>;

/** Pieces that are made in turns: one chunk if there is one piece, otherwise several. `end` follows the last one. */
export async function inPieces(pieces: Pieces, end: string, turns: Turns): Promise<ApiResponse['body']> {
  if (turns.over) await turns.next();
  const first = pieces.next();
  return first.done === true ? withEnd(first.value, end) : new PieceStream(first.value, pieces, end, turns);
}

const withEnd = (last: ByteString, end: string) => (last + end) as ByteString;

/**
 * Pieces that are made and sent in turns. The first one is sent in the turn in which it was made, and each other one is made
 * in the turn in which it is sent: hundreds of lists can wait for their turns, and until a piece is sent it is a tree of a
 * thousand strings, which each garbage collection would copy.
 */
class PieceStream implements AsyncIterableIterator<ByteString> {
  /** Made and not yet sent. */
  #first: ByteString;
  /** Undefined once the last piece is made. */
  #rest: Pieces | undefined;
  readonly #end: string;
  readonly #turns: Turns;

  constructor(first: ByteString, rest: Pieces, end: string, turns: Turns) {
    this.#first = first;
    this.#rest = rest;
    this.#end = end;
    this.#turns = turns;
  }

  async next(): Promise<IteratorResult<ByteString>> {
    let piece = this.#first;
    this.#first = none;
    // A piece is empty after a step within a large item.
    while (piece === none && this.#rest !== undefined) {
      if (this.#turns.over) await this.#turns.next();
      piece = this.#make();
    }
    return piece === none ? { done: true, value: undefined } : { done: false, value: piece };
  }

  #make(): ByteString {
    // Abandoned while it has waited for its turn.
    if (this.#rest === undefined) return none;
    const { value, done } = this.#rest.next();
    if (done !== true) return value;
    this.#rest = undefined;
    return withEnd(value, this.#end);
  }

  async return(): Promise<IteratorResult<ByteString>> {
    this.#first = none;
    this.#rest = undefined;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

const none = '' as ByteString;
