import { readOwnJson, readOwnJsonInSteps } from '../../codec/index.ts';
import { type ByteString, decodeText, inTurns, type JsonObject, type Steps, type Turns } from '../../meta/index.ts';
import {
  type CachedObject,
  type ListPiece,
  largeBytes,
  type Representation,
  readForRepresentation,
  representObject,
  type Target,
} from '../../registry/index.ts';
import type { ApiResponse, Chunk, TakeBuffer } from '../types.ts';

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
type Pieces = Iterator<ListPiece, ListPiece>;

/** Pieces that are made in turns: one chunk if there is one piece, otherwise several. `end` follows the last one. */
export async function inPieces(pieces: Pieces, end: string, turns: Turns): Promise<ApiResponse['body']> {
  if (turns.over) await turns.next();
  const first = pieces.next();
  return first.done === true ? join([...first.value, end]) : new PieceStream(first.value, pieces, end, turns);
}

const join = (texts: readonly string[]) => texts.join('') as ByteString;

/**
 * Pieces that are made and sent in turns. The first one is sent in the turn in which it was made, and each other one is made
 * in the turn in which it is sent: hundreds of lists can wait for their turns.
 */
class PieceStream implements AsyncIterableIterator<Chunk> {
  /** Made and not yet sent. */
  #first: readonly string[];
  /** Undefined once the last piece is made. */
  #rest: Pieces | undefined;
  readonly #end: string;
  readonly #turns: Turns;

  constructor(first: ListPiece, rest: Pieces, end: string, turns: Turns) {
    this.#first = first;
    this.#rest = rest;
    this.#end = end;
    this.#turns = turns;
  }

  async next(takeBuffer?: TakeBuffer): Promise<IteratorResult<Chunk>> {
    let piece = this.#first;
    this.#first = none;
    // A piece is empty after a step within a large item.
    while (piece.length === 0 && this.#rest !== undefined) {
      if (this.#turns.over) await this.#turns.next();
      piece = this.#make();
    }
    return piece.length === 0 ? { done: true, value: undefined } : { done: false, value: chunkOf(piece, takeBuffer) };
  }

  #make(): readonly string[] {
    // Abandoned while it has waited for its turn.
    if (this.#rest === undefined) return none;
    const { value, done } = this.#rest.next();
    if (done !== true) return value;
    this.#rest = undefined;
    return this.#end === '' ? value : [...value, this.#end];
  }

  async return(): Promise<IteratorResult<Chunk>> {
    this.#first = none;
    this.#rest = undefined;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

const none: readonly string[] = [];

/** A smaller piece takes no buffer (bytes). */
const minBufferedBytes = 16 * 1024;

/**
 * The bytes of a piece, in a buffer if there is one for its size: a joined text of this size is what fills the young
 * generation of V8 during lists, and each collection of it holds up all requests for milliseconds.
 */
function chunkOf(piece: readonly string[], takeBuffer: TakeBuffer | undefined): Chunk {
  let size = 0;
  for (const text of piece) size += text.length;
  const buffer = size < minBufferedBytes ? undefined : takeBuffer?.(size);
  if (buffer === undefined) return join(piece);
  let at = 0;
  for (const text of piece) at += copyText(text, buffer, at);
  return buffer.subarray(0, size);
}

/** A call of Node takes as long as copying this many characters one by one. */
const shortText = 16;

/** Copies a text to a place in a buffer, and returns its length. */
function copyText(text: string, buffer: Buffer, at: number): number {
  const { length } = text;
  if (length > shortText) return buffer.write(text, at, 'latin1');
  for (let i = 0; i < length; i++) buffer[at + i] = text.charCodeAt(i);
  return length;
}
