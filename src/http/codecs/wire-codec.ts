/**
 * A wire codec reads request bodies and writes responses in one encoding. Negotiation picks it by its media types; all
 * else that depends on the encoding is behind this contract. A new one is a file that exports a `WireCodec`, and a line
 * in `codecs.ts`.
 *
 * - Objects come as the JSON bytes that are stored or that a representation has made: a JSON codec copies them and
 *   parses nothing.
 * - Nothing holds the event loop: what encodes a large object or a list does it in steps, in the turns of the request.
 * - A list is written as its head, its items and its tail. It is one chunk if small, otherwise an iterable of chunks,
 *   each of which is made when the one before was taken.
 * - A watch event is encoded once for all watchers that see the same bytes.
 */
import type { ParsedBody, TypeMeta } from '../../codec/index.ts';
import type { ByteString, JsonObject, Steps, Turns } from '../../meta/index.ts';
import type { EventWriter, ObjectList, Representation, Target } from '../../registry/index.ts';
import type { ApiResponse, Chunk } from '../types.ts';

/** The properties of a wire codec that negotiation needs. */
export interface WireFormat {
  /** The media types of the codec. Error messages list the first one. */
  readonly mediaTypes: readonly [string, ...string[]];
  /** The codec encodes metadata alone: neither the objects themselves, nor bodies. */
  readonly onlyMetadata?: boolean;
  /** Whether the codec can encode a Table. */
  readonly tables: boolean;
  /** The encoding of watch events; undefined when the codec has none. `listed`: its name in error messages. */
  readonly watch: { readonly listed: string } | undefined;
}

/** Reads bodies in one encoding. */
export interface BodyReader {
  /**
   * The body that a user of that name has sent, read in the turns of the request where a thread has a part in it.
   * `expected` is what an envelope without a type holds.
   * @throws StatusError 400 or 413, of YAML also 429 or 503
   */
  decode(body: Uint8Array, user: string, expected: TypeMeta, turns: Turns): ParsedBody | Promise<ParsedBody>;
  /** The same in steps, for a large body; undefined, or a result that is undefined: `decode` is to read it. */
  decodeInSteps?(body: Uint8Array, expected: TypeMeta): Steps<ParsedBody | undefined> | undefined;
}

export interface WireCodec extends WireFormat, BodyReader {
  readonly watch: WatchCodec | undefined;
  /** The same encoding with line feeds and indentation, for people. */
  readonly pretty?: WireCodec;
  /** The errors of `decode` name the expected kind and are complete. */
  readonly completeErrors: boolean;
  /** An object that is not stored, such as a Status or a discovery document. */
  encodeValue(value: JsonObject): Chunk;
  /** The same in steps, where the codec has some. */
  encodeValueInSteps?(value: JsonObject): Steps<Chunk>;
  encodeObject(json: ByteString, turns: Turns): Chunk | Promise<Chunk>;
  encodeList(target: Target, list: ObjectList, view: Representation, turns: Turns): Promise<ApiResponse['body']>;
}

/** How a codec writes the events of a watch. */
export interface WatchCodec {
  /** The media type in messages: `application/json;stream=watch`. */
  readonly listed: string;
  /** The Content-Type of a watch for which the client has accepted this media type. */
  contentType(mediaType: string): string;
  /** Frames are text: WebSocket sends them as text messages. */
  readonly text: boolean;
  /** Writes the events of one watch with their framing. */
  writer(target: Target, view: Representation): EventWriter<Chunk>;
  /** The ERROR event that ends a watch. */
  encodeError(status: JsonObject): Chunk;
  /** The event of a frame without its framing, for a transport that has messages. */
  payload(frame: Chunk): Chunk;
}

/** A codec that can encode watches. */
export type StreamingCodec = WireCodec & { readonly watch: WatchCodec };
