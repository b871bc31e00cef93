import {
  frameProtobufWatch,
  ProtobufList,
  readProtobuf,
  readProtobufInSteps,
  type TypeMeta,
  unframed,
  writeProtobuf,
  writeProtobufInSteps,
} from '../../codec/index.ts';
import {
  type ByteString,
  compatibleDomain,
  inTurns,
  type JsonObject,
  type Names,
  namesFor,
  type Steps,
  statusError,
  type Turns,
} from '../../meta/index.ts';
import {
  type CachedObject,
  largeBytes,
  listFields,
  type ObjectList,
  type Representation,
  representObject,
  type Target,
} from '../../registry/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import { builtInSchema, type FindType } from '../openapi/built-in-types.ts';
import type { ApiResponse } from '../types.ts';
import { fromJson, readOwnBytes, valueInSteps } from './encode-steps.ts';
import { watchOfValues } from './watch-of-values.ts';
import type { StreamingCodec } from './wire-codec.ts';

/** Protobuf in the envelope `runtime.Unknown`, for the objects of built-in types. */
export function protobufCodec(findType: FindType, names: Names): StreamingCodec {
  const schemaFor = (type: TypeMeta) => builtInSchema(findType, type);
  const schemaOf = (type: TypeMeta): StructSchema => {
    const schema = schemaFor(type);
    if (schema === undefined) throw statusError.internal(`${type.kind} has no protobuf form`);
    return schema;
  };
  const typeOf = (value: JsonObject): TypeMeta => ({
    apiVersion: value['apiVersion'] as string,
    kind: value['kind'] as string,
  });
  const encode = (value: JsonObject): Uint8Array => {
    const type = typeOf(value);
    return writeProtobuf(schemaOf(type), type, value, names);
  };
  const encodeInSteps = (value: JsonObject): Steps<Uint8Array> => {
    const type = typeOf(value);
    return writeProtobufInSteps(schemaOf(type), type, value, names);
  };
  return {
    mediaTypes: mediaTypes(names),
    tables: false,
    watch: watchOfValues({
      listed: `${names.protobufMediaType};stream=watch`,
      contentType: (mediaType) => `${mediaType};stream=watch`,
      frame: (type, object) => frameProtobufWatch(type, encode(object)),
      *frameInSteps(type, object) {
        return frameProtobufWatch(type, yield* encodeInSteps(object));
      },
      payload: (frame) => unframed(frame as Uint8Array),
    }),
    completeErrors: true,
    decode: (body, _user, expected) => readProtobuf(body, expected, schemaFor, names),
    decodeInSteps: (body, expected) => readProtobufInSteps(body, expected, schemaFor, names),
    // Some discovery documents have no apiVersion.
    encodeValue: (value) => encode({ apiVersion: '', ...value }),
    encodeValueInSteps: (value) => encodeInSteps({ apiVersion: '', ...value }),
    encodeObject: (json, turns) => fromJson(json, turns, encode, encodeInSteps),
    encodeList(target, list, view, turns) {
      const { apiVersion, kind, metadata } = listFields(target, list, view) as unknown as ListFields;
      const schema = schemaOf({ apiVersion, kind: kind.replace(/List$/, '') });
      const written = new ProtobufList(schema, schemaOf({ apiVersion: 'v1', kind: 'ListMeta' }), names);
      const write = (object: CachedObject): ByteString | Promise<ByteString> => {
        if (object.bytes.length >= largeBytes) return inTurns(itemInSteps(written, target, object, view), turns);
        return written.item(readOwnBytes(representObject(target, object, view)));
      };
      const head = (size: number) => written.head({ apiVersion, kind }, metadata, size);
      return encodeItems(list, schema, { write, head, tail: written.tail }, turns);
    },
  };
}

function* itemInSteps(
  written: ProtobufList,
  target: Target,
  object: CachedObject,
  view: Representation,
): Steps<ByteString> {
  return yield* written.itemInSteps(yield* valueInSteps(target, object, view));
}

type ListFields = TypeMeta & { readonly metadata: JsonObject };

/** The name of the domain, and the one that existing clients use under every domain. */
function mediaTypes(names: Names): [string, ...string[]] {
  const own = names.protobufMediaType;
  const compatible = namesFor(compatibleDomain).protobufMediaType;
  return own === compatible ? [own] : [own, compatible];
}

// Lists

/** How a list is written. */
interface ListParts {
  readonly write: (object: CachedObject) => ByteString | Promise<ByteString>;
  /** The bytes before the items, whose total size is `size` bytes. */
  readonly head: (size: number) => ByteString;
  readonly tail: ByteString;
}

/** After so much JSON was encoded (bytes), work looks at the clock. */
const strideBytes = 16 * 1024;
/** The size of a chunk, and how much of the beginning of a list is kept from being encoded twice (bytes). */
const chunkBytes = 64 * 1024;
const keptBytes = 1024 * 1024;

/**
 * A list begins with its length. The encoded size of an object is kept with it in the cache, so that only objects
 * without one are encoded before the list is sent, and those of its beginning are encoded once.
 */
async function encodeItems(
  list: ObjectList,
  schema: StructSchema,
  { write, head, tail }: ListParts,
  turns: Turns,
): Promise<ApiResponse['body']> {
  if (turns.over) await turns.next();
  const items: CachedObject[] = [];
  const kept: ByteString[] = [];
  let size = 0;
  let read = 0;
  for (const object of list.items) {
    read += 64;
    if (object.sizeOf !== schema) {
      const written = write(object);
      // Most are small and written at once.
      const item = typeof written === 'string' ? written : await written;
      if (size < keptBytes && kept.length === items.length) kept.push(item);
      object.size = item.length;
      object.sizeOf = schema;
      read += object.bytes.length;
    }
    size += object.size ?? 0;
    items.push(object);
    if (read < strideBytes) continue;
    read = 0;
    if (turns.over) await turns.next();
  }
  const encoded = (object: CachedObject, i: number) => kept[i] ?? write(object);
  if (size <= chunkBytes) {
    let list: string = head(size);
    for (const [i, object] of items.entries()) {
      const item = encoded(object, i);
      list += typeof item === 'string' ? item : await item;
    }
    return (list + tail) as ByteString;
  }
  return streamItems(items, encoded, head(size), tail, turns);
}

async function* streamItems(
  items: readonly CachedObject[],
  encoded: (object: CachedObject, i: number) => ByteString | Promise<ByteString>,
  head: ByteString,
  tail: ByteString,
  turns: Turns,
): AsyncGenerator<ByteString> {
  let chunk: string = head;
  for (const [i, object] of items.entries()) {
    const item = encoded(object, i);
    chunk += typeof item === 'string' ? item : await item;
    if (chunk.length < chunkBytes) continue;
    yield chunk as ByteString;
    chunk = '';
    if (turns.over) await turns.next();
  }
  yield (chunk + tail) as ByteString;
}
