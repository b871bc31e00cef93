import { getKey, isJsonObject, type Json, type JsonObject } from '../meta/index.ts';
import {
  type FieldShape,
  type FieldType,
  type Message,
  type MessageName,
  messages as messagesV2,
} from './openapi-messages.ts';
import { messagesV3 } from './openapi3-messages.ts';
import { FIXED64, Output, SIZED, VARINT } from './protobuf-wire.ts';
import { stringifyYaml } from './yaml-write.ts';

/** The large parts of an OpenAPI 2.0 document: objects with a field for each path or type. */
export type OpenApiPart = 'paths' | 'definitions';

const messages = { ...messagesV2, ...messagesV3 };

/** One buffer for all messages, which are encoded one at a time. */
const out = new Output();

/**
 * Encodes one field of a part of an OpenAPI 2.0 document in protobuf (`openapi.v2.Paths`, `openapi.v2.Definitions`).
 * The concatenation of several is the part with all of these fields.
 */
export function encodeOpenApiPart(part: OpenApiPart, name: string, value: JsonObject): Buffer {
  const [, type] = partField(part);
  return encode(() => writeMessage(type, { [name]: value }));
}

/** An OpenAPI 2.0 document in protobuf (`openapi.v2.Document`). `parts` are results of {@link encodeOpenApiPart}. */
export function encodeOpenApi(
  rest: JsonObject,
  parts: { readonly [part in OpenApiPart]: readonly Uint8Array[] },
): Buffer {
  const large = new Map(Object.entries(parts).map(([part, pieces]) => [partField(part as OpenApiPart)[0], pieces]));
  const chunks = stepsOf('Document')
    .toReversed()
    .flatMap(({ number, write }) => {
      const pieces = large.get(number);
      if (pieces === undefined) return encode(() => write(rest));
      return sizedPieces(number, pieces);
    });
  return Buffer.concat(chunks);
}

function encode(write: () => void): Buffer {
  try {
    write();
    return out.copy();
  } finally {
    out.reset();
  }
}

/** The large parts of an OpenAPI 3.0 document: objects with a field for each path or type. */
export type OpenApi3Part = 'paths' | 'schemas';

/** Encodes one field of a part of an OpenAPI 3.0 document in protobuf, as {@link encodeOpenApiPart}. */
export function encodeOpenApi3Part(part: OpenApi3Part, name: string, value: JsonObject): Buffer {
  const type = part === 'paths' ? 'v3.Paths' : 'v3.SchemasOrReferences';
  return encode(() => writeMessage(type, { [name]: value }));
}

/**
 * An OpenAPI 3.0 document in protobuf (`openapi.v3.Document`). `rest` has its fields except for the large parts, and
 * `components` those of the components except for the schemas; the parts are results of {@link encodeOpenApi3Part}.
 */
export function encodeOpenApi3(
  rest: { readonly openapi: string; readonly info: JsonObject },
  components: JsonObject,
  { paths, schemas }: { readonly [part in OpenApi3Part]: readonly Uint8Array[] },
): Buffer {
  const pieces = [
    ...sizedPieces(1, schemas),
    // `schemas` is the first field of the components.
    encode(() => writeMessage('v3.Components', components)),
  ];
  return Buffer.concat([
    encode(() => writeMessage('v3.Document', rest)),
    ...sizedPieces(4, paths),
    ...sizedPieces(5, pieces),
  ]);
}

/** A length-delimited field with the concatenated pieces. */
function sizedPieces(number: number, pieces: readonly Uint8Array[]): Uint8Array[] {
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return [encode(() => writeHead(number, size)), ...pieces];
}

const partField = (part: OpenApiPart) => (messages.Document as Message).fields[part] as [number, MessageName];

/** Writes the members of an object that have one field number. */
interface Step {
  readonly number: number;
  readonly write: (value: JsonObject) => void;
}

const compiled = new Map<MessageName, readonly Step[]>();

/** The steps of a message by descending field number, because messages are written from their end. */
function stepsOf(name: MessageName): readonly Step[] {
  let steps = compiled.get(name);
  if (steps === undefined) {
    steps = compile(messages[name] as Message);
    compiled.set(name, steps);
  }
  return steps;
}

function compile({ fields, extensions, entries }: Message): Step[] {
  const steps = Object.entries(fields).map(([name, [number, shape]]): Step => {
    const write = (object: JsonObject) => {
      const value = object[name];
      if (value !== undefined) writeField(number, shape, value);
    };
    return { number, write };
  });
  const isExtension = (name: string) => name.startsWith('x-');
  if (extensions !== undefined) steps.push(pairs(extensions, 'Any', isExtension));
  if (entries !== undefined) {
    steps.push(pairs(...entries, extensions === undefined ? () => true : (name) => !isExtension(name)));
  }
  return steps.sort((a, b) => b.number - a.number);
}

/** Named values: a message with name and value for each. */
function pairs(number: number, type: FieldType, mine: (name: string) => boolean): Step {
  const writePair = (object: JsonObject, name: string) =>
    writeSized(number, () => {
      writeField(2, type, getKey(object, name) as Json);
      writeField(1, 'string', name);
    });
  const write = (object: JsonObject) => {
    const names = Object.keys(object);
    for (let i = names.length - 1; i >= 0; i--) {
      const name = names[i] as string;
      if (mine(name)) writePair(object, name);
    }
  };
  return { number, write };
}

const scalars: ReadonlySet<string> = new Set(['string', 'bool', 'int64', 'double']);

/** Writes a field; a scalar of zero value is left out. */
function writeField(number: number, shape: FieldShape[1], value: Json): void {
  const isZero = value === '' || value === 0 || value === false;
  if (!isZero || !scalars.has(shape)) writeShape(number, shape, value);
}

function writeShape(number: number, shape: FieldShape[1], value: Json): void {
  if (!shape.endsWith('[]')) {
    writeOne(number, shape as FieldType, value);
    return;
  }
  const type = shape.slice(0, -2) as FieldType;
  const items = Array.isArray(value) ? value : [value];
  for (let i = items.length - 1; i >= 0; i--) writeOne(number, type, items[i] as Json);
}

function writeOne(number: number, type: FieldType, value: Json): void {
  switch (type) {
    case 'string':
      writeText(number, value as string);
      break;
    case 'bool':
      out.varint(value === true ? 1 : 0);
      out.varint(number * 8 + VARINT);
      break;
    case 'int64':
      out.int64(value as number | bigint);
      out.varint(number * 8 + VARINT);
      break;
    case 'double':
      out.double(Number(value));
      out.varint(number * 8 + FIXED64);
      break;
    case 'Any':
      writeSized(number, () => writeText(2, stringifyYaml(value)));
      break;
    default:
      writeSized(number, () => writeMessage(type, value));
  }
}

function writeMessage(name: MessageName, value: Json): void {
  const message = messages[name];
  if (typeof message === 'function') {
    const chosen = message(value);
    if (chosen !== undefined) writeShape(...chosen, value);
  } else if (isJsonObject(value)) for (const { write } of stepsOf(name)) write(value);
}

function writeSized(number: number, write: () => void): void {
  const mark = out.size;
  write();
  writeHead(number, out.size - mark);
}

function writeText(number: number, text: string): void {
  const mark = out.size;
  out.text(text);
  writeHead(number, out.size - mark);
}

/** Writes the key and the length of a length-delimited field. */
function writeHead(number: number, size: number): void {
  out.varint(size);
  out.varint(number * 8 + SIZED);
}
