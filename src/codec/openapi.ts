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

/** The large parts of a document: objects with a field for each path or type. */
export type OpenApiPart = 'paths' | 'definitions';

const messages = { ...messagesV2, ...messagesV3 };

/** Messages are made one at a time, all in the same place. */
const out = new Output();

/**
 * A part of an OpenAPI 2.0 document that has one field, in protobuf (`openapi.v2.Paths`, `openapi.v2.Definitions`).
 * Several, one after the other, are the part that has all of their fields.
 */
export function encodeOpenApiPart(part: OpenApiPart, name: string, value: JsonObject): Buffer {
  const [, type] = partField(part);
  return encode(() => writeMessage(type, { [name]: value }));
}

/** An OpenAPI 2.0 document in protobuf (`openapi.v2.Document`). `parts` is what {@link encodeOpenApiPart} gave. */
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

/** A part of an OpenAPI 3.0 document that has one field, in protobuf. Several, one after the other, are the whole part. */
export function encodeOpenApi3Part(part: OpenApi3Part, name: string, value: JsonObject): Buffer {
  const type = part === 'paths' ? 'v3.Paths' : 'v3.SchemasOrReferences';
  return encode(() => writeMessage(type, { [name]: value }));
}

/**
 * An OpenAPI 3.0 document in protobuf (`openapi.v3.Document`). `rest` is what it says beside its large parts, and
 * `components` the same of its components; `parts` is what {@link encodeOpenApi3Part} gave.
 */
export function encodeOpenApi3(
  rest: { readonly openapi: string; readonly info: JsonObject },
  components: JsonObject,
  { paths, schemas }: { readonly [part in OpenApi3Part]: readonly Uint8Array[] },
): Buffer {
  const pieces = [
    ...sizedPieces(1, schemas),
    // The types come first among the components.
    encode(() => writeMessage('v3.Components', components)),
  ];
  return Buffer.concat([
    encode(() => writeMessage('v3.Document', rest)),
    ...sizedPieces(4, paths),
    ...sizedPieces(5, pieces),
  ]);
}

/** One field of the given number that holds all of the pieces. */
function sizedPieces(number: number, pieces: readonly Uint8Array[]): Uint8Array[] {
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return [encode(() => writeHead(number, size)), ...pieces];
}

const partField = (part: OpenApiPart) => (messages.Document as Message).fields[part] as [number, MessageName];

/** Writes a field, or all that are kept under one number, of an object. */
interface Step {
  readonly number: number;
  readonly write: (value: JsonObject) => void;
}

const compiled = new Map<MessageName, readonly Step[]>();

/** What writes the fields of a message, the last number first: messages are written from their ends. */
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

/** Names with their values, each as a message of its own. */
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

/** A single number, text or truth that is zero, empty or false goes without saying. */
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

/** What stands before so many bytes. */
function writeHead(number: number, size: number): void {
  out.varint(size);
  out.varint(number * 8 + SIZED);
}
