import {
  cborListHead,
  readCborObjectInSteps,
  readOwnJsonInSteps,
  selfDescribed,
  type TypeMeta,
  writeCbor,
  writeCborInSteps,
} from '../../codec/index.ts';
import {
  atOnce,
  type ByteString,
  decodeText,
  type JsonObject,
  type Names,
  type Steps,
  type Turns,
} from '../../meta/index.ts';
import {
  type CachedObject,
  type ListLayout,
  largeBytes,
  listFields,
  type ObjectList,
  representList,
} from '../../registry/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import { fromJson, inPieces, readOwnBytes } from './encode-steps.ts';
import { watchOfValues } from './watch-of-values.ts';
import type { StreamingCodec } from './wire-codec.ts';

/** The built-in schema of a type; undefined for a custom type. */
type SchemaFor = (type: TypeMeta) => StructSchema | undefined;

/** CBOR (RFC 8949). Watches are sequences of items (RFC 8742). */
export function cborCodec(schemaFor: SchemaFor, names: Names): StreamingCodec {
  const schemaOf = ({ apiVersion, kind }: JsonObject) =>
    schemaFor({ apiVersion: apiVersion as string, kind: kind as string });
  const bare = (value: JsonObject) => writeCbor(value, schemaOf(value), names);
  const encode = (value: JsonObject) => tagged(bare(value));
  function* encodeInSteps(value: JsonObject): Steps<ByteString> {
    return tagged(yield* writeCborInSteps(value, schemaOf(value), names));
  }
  const event = eventWriter(names);
  return {
    mediaTypes: ['application/cbor'],
    tables: false,
    completeErrors: true,
    watch: watchOfValues({
      listed: 'application/cbor-seq',
      contentType: (mediaType) => `${mediaType}-seq`,
      frame: (type, object) => event(type, encode(object)),
      *frameInSteps(type, object) {
        return event(type, yield* encodeInSteps(object));
      },
      payload: (frame) => frame,
    }),
    decode: (body, _user, expected) => atOnce(readCborObjectInSteps(body, expected, schemaFor(expected), names)),
    decodeInSteps: (body, expected) => readCborObjectInSteps(body, expected, schemaFor(expected), names),
    encodeValue: encode,
    encodeValueInSteps: encodeInSteps,
    encodeObject: (json, turns) => fromJson(json, turns, encode, encodeInSteps),
    async encodeList(target, list, view, turns) {
      const items = await itemsOf(list, turns);
      const fields = listFields(target, list, view);
      const schema = schemaOf({ ...fields, kind: (fields['kind'] as string).replace(/List$/, '') });
      const layout = layoutOf(fields, items.length, schema, names);
      return inPieces(representList(target, { ...list, items }, view, layout), '', turns);
    },
  };
}

/** An item with the tag that marks it as CBOR. */
const tagged = (item: ByteString): ByteString => (selfDescribed + item) as ByteString;

/** Writes an event of a watch around its encoded object. */
function eventWriter(names: Names): (type: string, object: ByteString) => ByteString {
  const none = writeCbor(null, undefined, names);
  return (type, object) => {
    const head = writeCbor({ type, object: null }, undefined, names).slice(0, -none.length);
    return tagged((head + object) as ByteString);
  };
}

/** A list has its length before its items. */
async function itemsOf(list: ObjectList, turns: Turns): Promise<readonly CachedObject[]> {
  const items: CachedObject[] = [];
  for (const object of list.items) {
    items.push(object);
    if (items.length % itemsPerStep === 0 && turns.over) await turns.next();
  }
  return items;
}

const itemsPerStep = 1_000;

function layoutOf(fields: JsonObject, items: number, schema: StructSchema | undefined, names: Names): ListLayout {
  // The last field is an empty list, whose head that of the items replaces.
  const head = writeCbor(fields, undefined, names).slice(0, -cborListHead(0).length) + cborListHead(items);
  const none = '' as ByteString;
  return {
    head: tagged(head as ByteString),
    first: '',
    separator: '',
    tail: none,
    emptyTail: none,
    item: (json) =>
      json.length < largeBytes ? writeCbor(readOwnBytes(json), schema, names) : itemInSteps(json, schema, names),
  };
}

function* itemInSteps(json: ByteString, schema: StructSchema | undefined, names: Names): Steps<ByteString> {
  const value = yield* readOwnJsonInSteps(decodeText(json));
  yield;
  return yield* writeCborInSteps(value, schema, names);
}
