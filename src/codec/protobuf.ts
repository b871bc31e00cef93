import {
  type ByteString,
  bytesOf,
  type Json,
  type JsonObject,
  type Names,
  parseGroupVersion,
  StatusError,
  shorten,
  statusError,
} from '../meta/index.ts';
import type { StructSchema } from '../schema/index.ts';
import { type ParsedBody, summarizeBody } from './json.ts';
import { type Codec, putPart, scalarCodecs, takeParts, wrongWire } from './protobuf-scalars.ts';
import { structCodec } from './protobuf-types.ts';
import { Input, Output, SIZED } from './protobuf-wire.ts';

/** What an object says of itself; in protobuf its envelope says it. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** What every envelope begins with. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
/** How it ends: neither a content encoding nor a content type. */
const ENDING = Buffer.from([0x1a, 0x00, 0x22, 0x00]);
/** The numbers of its other fields, with what they hold. */
const TYPE_META = 1 * 8 + SIZED;
const RAW = 2 * 8 + SIZED;

const NO_FINDINGS: readonly string[] = Object.freeze([]);

const { string: text } = scalarCodecs;
const typeMetaParts = [text, text];

/** Messages are made one at a time, all in the same place. */
const out = new Output();

/**
 * Reads an object in its envelope: as JSON, not yet in the normal form of its schema. What the envelope does not say
 * of the object is as `expected`. An object for which there is no schema is read as its kind and version alone. There
 * are no findings: numbers that no field has are passed over.
 * @throws StatusError 400 that says what the body should have been
 */
export function readProtobuf(
  bytes: Uint8Array,
  expected: TypeMeta,
  schemaFor: (given: TypeMeta) => StructSchema | undefined,
  names: Names,
): ParsedBody<JsonObject> {
  const { apiVersion, kind, raw } = attempt(
    () => readEnvelope(bytes),
    (why) => `the object provided is unrecognized (must be of type ${expected.kind}): ${why} (${summarizeBody(bytes)})`,
  );
  const given = { kind: shorten(kind) || expected.kind, apiVersion: shorten(apiVersion) || expected.apiVersion };
  const schema = schemaFor(given);
  if (schema === undefined) return { value: given, findings: NO_FINDINGS };
  const value = attempt(
    () => structCodec(schema, names).take(new Input(raw), given) as JsonObject,
    (why) =>
      `${given.kind} in version ${JSON.stringify(parseGroupVersion(given.apiVersion)?.version ?? '')} cannot be handled as a ${expected.kind}: ${why}`,
  );
  return { value, findings: NO_FINDINGS };
}

function attempt<T>(step: () => T, told: (why: string) => string): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400) throw error;
    throw statusError.badRequest(told(error.message), error);
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
  let raw: Uint8Array = new Uint8Array();
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
    else if (tag === 2) raw = input.rest();
    input.leave(outer);
  }
  return { apiVersion, kind, raw };
}

/** An object in its envelope. The value is in the normal form of its schema. */
export function writeProtobuf(schema: StructSchema, type: TypeMeta, value: Json, names: Names): Uint8Array {
  out.reset();
  out.raw(ENDING);
  const mark = out.size;
  structCodec(schema, names).put(out, value);
  out.close(mark);
  putEnvelopeStart(type);
  return out.copy();
}

/** What stands before the length of the object. */
function putEnvelopeStart({ apiVersion, kind }: TypeMeta): void {
  out.varint(RAW);
  const mark = out.size;
  putPart(out, 2, text, kind);
  putPart(out, 1, text, apiVersion);
  out.close(mark);
  out.varint(TYPE_META);
  out.raw(MAGIC);
}

/**
 * How objects are written into a list, one by one, so that others can have a turn between two of them. The list begins
 * with the length of all of it: who knows how long each object is need not hold them all at once.
 */
export class ProtobufList {
  readonly #codec: Codec;
  readonly #metadata: Codec;

  /** The schemas of the objects, and of the list's metadata. */
  constructor(item: StructSchema, listMeta: StructSchema, names: Names) {
    this.#codec = structCodec(item, names);
    this.#metadata = structCodec(listMeta, names);
  }

  /** An object, in the normal form of its schema, as it stands in the list. */
  item(value: Json): ByteString {
    out.reset();
    putPart(out, 2, this.#codec, value);
    return out.bytes();
  }

  /** What stands before the objects, which are so long in all (bytes). `type` is that of the list. */
  head(type: TypeMeta, metadata: Json, size: number): ByteString {
    out.reset();
    putPart(out, 1, this.#metadata, metadata);
    out.varint(out.size + size);
    putEnvelopeStart(type);
    return out.bytes();
  }

  /** What stands behind them. */
  readonly tail = bytesOf(ENDING);
}

/**
 * An event of a watch as it is sent: four bytes with the length (the highest first), then the event, which has no
 * envelope itself. `object` is in its envelope.
 */
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

/** The bytes of the length before an event. */
const FRAME_HEAD = 4;

/** The event of a frame alone. */
export const unframed = (frame: Uint8Array): Uint8Array => frame.subarray(FRAME_HEAD);
