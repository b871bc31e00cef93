import {
  type ByteString,
  bytesOf,
  isLarge,
  type Json,
  type JsonObject,
  type Names,
  parseGroupVersion,
  StatusError,
  type Steps,
  shorten,
  statusError,
} from '../meta/index.ts';
import type { StructSchema } from '../schema/index.ts';
import { type ParsedBody, unrecognizedBody } from './json.ts';
import {
  type Codec,
  putInSteps,
  putPart,
  putPartInSteps,
  scalarCodecs,
  takeParts,
  wrongWire,
} from './protobuf-scalars.ts';
import { structCodec } from './protobuf-types.ts';
import { Input, Output, SIZED } from './protobuf-wire.ts';

/** The API version and kind of an object, which the envelope (`runtime.Unknown`) has in protobuf. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The prefix of every envelope. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
/** The end of every envelope: empty contentEncoding and contentType. */
const ENDING = Buffer.from([0x1a, 0x00, 0x22, 0x00]);
/** Keys (field number and wire type) of its other fields. */
const TYPE_META = 1 * 8 + SIZED;
const RAW = 2 * 8 + SIZED;

const NO_FINDINGS: readonly string[] = Object.freeze([]);

const { string: text } = scalarCodecs;
const typeMetaParts = [text, text];

/** One buffer for all messages that are encoded in one go. Encoding in steps uses a separate one. */
const out = new Output();

/**
 * Decodes an object in its envelope to JSON, before its schema normalises it. An apiVersion or kind that the envelope
 * lacks is that of `expected`. Without a schema only apiVersion and kind are returned. There are no findings: unknown
 * field numbers are skipped.
 * @throws StatusError 400 that names the expected kind
 */
export function readProtobuf(
  bytes: Uint8Array,
  expected: TypeMeta,
  schemaFor: (typeMeta: TypeMeta) => StructSchema | undefined,
  names: Names,
): ParsedBody<JsonObject> {
  const { typeMeta, raw } = envelopeOf(bytes, expected);
  const schema = schemaFor(typeMeta);
  if (schema === undefined) return { value: typeMeta, findings: NO_FINDINGS };
  try {
    const value = structCodec(schema, names).take(new Input(raw), typeMeta) as JsonObject;
    return { value, findings: NO_FINDINGS };
  } catch (error) {
    throw unreadable(error, typeMeta, expected);
  }
}

/** The same in steps, for a large body. */
export function* readProtobufInSteps(
  bytes: Uint8Array,
  expected: TypeMeta,
  schemaFor: (typeMeta: TypeMeta) => StructSchema | undefined,
  names: Names,
): Steps<ParsedBody<JsonObject>> {
  const { typeMeta, raw } = envelopeOf(bytes, expected);
  const schema = schemaFor(typeMeta);
  const takeInSteps = schema && structCodec(schema, names).takeInSteps;
  if (takeInSteps === undefined) return { value: typeMeta, findings: NO_FINDINGS };
  try {
    const value = (yield* takeInSteps(new Input(raw), typeMeta)) as JsonObject;
    return { value, findings: NO_FINDINGS };
  } catch (error) {
    throw unreadable(error, typeMeta, expected);
  }
}

/** Returns the error to throw for an error of decoding an object. */
function unreadable(error: unknown, typeMeta: TypeMeta, expected: TypeMeta): unknown {
  if (!(error instanceof StatusError) || error.code !== 400) return error;
  const version = JSON.stringify(parseGroupVersion(typeMeta.apiVersion)?.version ?? '');
  return statusError.badRequest(
    `${typeMeta.kind} in version ${version} cannot be handled as a ${expected.kind}: ${error.message}`,
    error,
  );
}

/** The type of the object in an envelope, completed by the expected one, and the object's bytes. */
function envelopeOf(bytes: Uint8Array, expected: TypeMeta): { typeMeta: JsonObject & TypeMeta; raw: Uint8Array } {
  try {
    const { apiVersion, kind, raw } = readEnvelope(bytes);
    const typeMeta = { kind: shorten(kind) || expected.kind, apiVersion: shorten(apiVersion) || expected.apiVersion };
    return { typeMeta, raw };
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400) throw error;
    throw unrecognizedBody(expected.kind, bytes, error.message, error);
  }
}

function readEnvelope(bytes: Uint8Array): TypeMeta & { readonly raw: Uint8Array } {
  if (bytes.length === 0) throw statusError.badRequest('empty data');
  if (Buffer.compare(bytes.subarray(0, MAGIC.length), MAGIC) !== 0) {
    const prefix = [...MAGIC].join(' ');
    throw statusError.badRequest(`provided data does not appear to be a protobuf message, expected prefix [${prefix}]`);
  }
  if (bytes.length === MAGIC.length) throw statusError.badRequest('empty body');
  const input = new Input(bytes.subarray(MAGIC.length));
  let [apiVersion, kind] = ['', ''];
  let raw = [0, 0];
  while (input.at < input.end) {
    const key = input.key();
    const tag = key >>> 3;
    if (tag > 4) {
      input.skip(key);
      continue;
    }
    if ((key & 7) !== SIZED) throw wrongWire(key & 7, 'envelope');
    const outer = input.enter();
    if (tag === 1) [apiVersion = apiVersion, kind = kind] = takeParts(input, typeMetaParts, 'typeMeta') as string[];
    else if (tag === 2) raw = [input.at, input.end];
    input.leave(outer);
  }
  return { apiVersion, kind, raw: input.bytes.subarray(...raw) };
}

/** Encodes an object in its envelope. The value must be normalised by its schema. */
export function writeProtobuf(schema: StructSchema, type: TypeMeta, value: Json, names: Names): Uint8Array {
  out.reset();
  out.raw(ENDING);
  const mark = out.size;
  structCodec(schema, names).put(out, value);
  out.close(mark);
  putEnvelopeStart(out, type);
  return out.copy();
}

/** The same in steps, for a large value. */
export function* writeProtobufInSteps(
  schema: StructSchema,
  type: TypeMeta,
  value: Json,
  names: Names,
): Steps<Uint8Array> {
  if (!isLarge(value)) return writeProtobuf(schema, type, value, names);
  yield;
  const own = new Output();
  own.raw(ENDING);
  const mark = own.size;
  yield* putInSteps(own, structCodec(schema, names), value);
  own.close(mark);
  putEnvelopeStart(own, type);
  return own.copy();
}

/** Writes the envelope up to the length of the object. */
function putEnvelopeStart(out: Output, { apiVersion, kind }: TypeMeta): void {
  out.varint(RAW);
  const mark = out.size;
  putPart(out, 2, text, kind);
  putPart(out, 1, text, apiVersion);
  out.close(mark);
  out.varint(TYPE_META);
  out.raw(MAGIC);
}

/**
 * Encodes the objects of a list one at a time, so that other requests can run in between. A list begins with its
 * length: a caller that knows the length of each object does not need all of them in memory.
 */
export class ProtobufList {
  readonly #codec: Codec;
  readonly #metadata: Codec;

  /** The schemas of the objects and of the list's metadata. */
  constructor(item: StructSchema, listMeta: StructSchema, names: Names) {
    this.#codec = structCodec(item, names);
    this.#metadata = structCodec(listMeta, names);
  }

  /** Encodes an item of the list; the object must be normalised by its schema. */
  item(value: Json): ByteString {
    out.reset();
    putPart(out, 2, this.#codec, value);
    return out.bytes();
  }

  /** The same in steps, for a large object. */
  *itemInSteps(value: Json): Steps<ByteString> {
    if (!isLarge(value)) return this.item(value);
    yield;
    const own = new Output();
    yield* putPartInSteps(own, 2, this.#codec, value);
    return own.bytes();
  }

  /** The bytes before the items, which have `size` bytes in all. `type` is that of the list. */
  head(type: TypeMeta, metadata: Json, size: number): ByteString {
    out.reset();
    putPart(out, 1, this.#metadata, metadata);
    out.varint(out.size + size);
    putEnvelopeStart(out, type);
    return out.bytes();
  }

  /** The bytes after the items. */
  readonly tail = bytesOf(ENDING);
}

/** A frame of a watch: the length of the event in four bytes (big-endian), the event. `object` is in its envelope. */
export function frameProtobufWatch(type: string, object: Uint8Array): Uint8Array {
  out.reset();
  out.raw(object);
  out.close(0);
  out.varint(1 * 8 + SIZED);
  out.close(0);
  out.varint(2 * 8 + SIZED);
  putPart(out, 1, text, type);
  const frame = Buffer.allocUnsafe(FRAME_HEAD + out.size);
  frame.writeUInt32BE(out.size);
  out.copyTo(frame, FRAME_HEAD);
  return frame;
}

/** The size of the length prefix of a frame (bytes). */
const FRAME_HEAD = 4;

/** The event of a frame, without the length. */
export const unframed = (frame: Uint8Array): Uint8Array => frame.subarray(FRAME_HEAD);
