import { type Json, type JsonObject, type Names, parseGroupVersion, StatusError, statusError } from '../meta/index.ts';
import type { StructSchema } from '../schema/index.ts';
import { type ParsedBody, summarizeBody } from './json.ts';
import { putPart, scalarCodecs, takeParts, wrongWire } from './protobuf-scalars.ts';
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
  const given = { kind: kind || expected.kind, apiVersion: apiVersion || expected.apiVersion };
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

/** Items of a list lie together in pieces of about this size (bytes). */
const PIECE = 128 * 1024;

/**
 * A list in its envelope, written object by object, so that others can have a turn between two of them. The envelope
 * begins with the length of all: nothing can be sent before the last object is there. What is held until then is the
 * list as it is sent, and no more.
 */
export class ProtobufList {
  readonly #schema: StructSchema;
  readonly #names: Names;
  readonly #pieces: Uint8Array[] = [];
  #piece = Buffer.alloc(0);
  #filled = 0;
  #size = 0;

  /** `schema` is that of the objects. */
  constructor(schema: StructSchema, names: Names) {
    this.#schema = schema;
    this.#names = names;
  }

  /** The next object, in the normal form of its schema. */
  add(item: Json): void {
    out.reset();
    putPart(out, 2, structCodec(this.#schema, this.#names), item);
    const { size } = out;
    this.#size += size;
    if (size > this.#piece.length - this.#filled) {
      this.#cut();
      this.#piece = Buffer.allocUnsafeSlow(Math.max(PIECE, size));
    }
    out.copyTo(this.#piece, this.#filled);
    this.#filled += size;
  }

  /** The whole list in pieces. `type` is that of the list, `listMeta` the schema of its metadata. */
  finish(type: TypeMeta, metadata: Json, listMeta: StructSchema): readonly Uint8Array[] {
    this.#cut();
    out.reset();
    putPart(out, 1, structCodec(listMeta, this.#names), metadata);
    out.varint(out.size + this.#size);
    putEnvelopeStart(type);
    return [out.copy(), ...this.#pieces, ENDING];
  }

  #cut(): void {
    if (this.#filled > 0) this.#pieces.push(this.#piece.subarray(0, this.#filled));
    this.#piece = Buffer.alloc(0);
    this.#filled = 0;
  }
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
  const frame = Buffer.allocUnsafe(4 + out.size);
  frame.writeUInt32BE(out.size);
  out.copyTo(frame, 4);
  return frame;
}
