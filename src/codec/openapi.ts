import { getKey, isJsonObject, isLarge, type Json, type JsonObject, type Steps } from '../meta/index.ts';
import {
  type FieldShape,
  type FieldType,
  type Message,
  type MessageName,
  messages as messagesV2,
} from './openapi-messages.ts';
import { messagesV3 } from './openapi3-messages.ts';
import { FIXED64, Output, SIZED, VARINT } from './protobuf-wire.ts';
import { stringifyYaml, stringifyYamlInSteps } from './yaml-write.ts';

/** The large parts of an OpenAPI 2.0 document: objects with a field for each path or type. */
type OpenApiPart = 'paths' | 'definitions';

const messages = { ...messagesV2, ...messagesV3 };

/** One buffer for all messages, which are encoded one at a time. */
const out = new Output();

/**
 * Encodes one field of a part of an OpenAPI 2.0 document in protobuf (`openapi.v2.Paths`, `openapi.v2.Definitions`).
 * The concatenation of several is the part with all of these fields.
 */
export function encodeOpenApiPart(part: OpenApiPart, name: string, value: JsonObject): Steps<Uint8Array[]> {
  return fieldOfPart(partField(part)[1], name, value);
}

/**
 * An OpenAPI 2.0 document in protobuf (`openapi.v2.Document`) without its large parts: the bytes before the paths,
 * between the paths and the definitions, and after them. The sizes of the parts are known.
 */
export function encodeOpenApi(rest: JsonObject, sizes: { readonly [part in OpenApiPart]: number }): OpenApiFrame {
  const [paths, definitions] = [partField('paths')[0], partField('definitions')[0]];
  const between = (from: number, to: number): Uint8Array[] =>
    stepsOf('Document').flatMap(({ number, write }) =>
      number > from && number < to ? [encode(() => write(rest))] : [],
    );
  return [
    Buffer.concat([...between(0, paths), head(paths, sizes.paths)]),
    Buffer.concat([...between(paths, definitions), head(definitions, sizes.definitions)]),
    Buffer.concat(between(definitions, Number.POSITIVE_INFINITY)),
  ];
}

/** The bytes before, between and after two parts of a document. */
export type OpenApiFrame = readonly [before: Uint8Array, between: Uint8Array, after: Uint8Array];

function encode(write: () => void): Buffer {
  try {
    write();
    return out.copy();
  } finally {
    out.reset();
  }
}

/** The large parts of an OpenAPI 3.0 document: objects with a field for each path or type. */
type OpenApi3Part = 'paths' | 'schemas';

/** Encodes one field of a part of an OpenAPI 3.0 document in protobuf, as {@link encodeOpenApiPart}. */
export function encodeOpenApi3Part(part: OpenApi3Part, name: string, value: JsonObject): Steps<Uint8Array[]> {
  return fieldOfPart(part === 'paths' ? 'v3.Paths' : 'v3.SchemasOrReferences', name, value);
}

/**
 * An OpenAPI 3.0 document in protobuf (`openapi.v3.Document`) without its large parts, as {@link encodeOpenApi}. `rest`
 * has its fields except for the large parts, and `components` those of the components except for the schemas.
 */
export function encodeOpenApi3(
  rest: { readonly openapi: string; readonly info: JsonObject },
  components: JsonObject,
  sizes: { readonly [part in OpenApi3Part]: number },
): OpenApiFrame {
  const first = encode(() => writeMessage('v3.Document', rest));
  // `schemas` is the first field of the components.
  const schemas = head(1, sizes.schemas);
  const after = encode(() => writeMessage('v3.Components', components));
  return [
    Buffer.concat([first, head(4, sizes.paths)]),
    Buffer.concat([head(5, schemas.length + sizes.schemas + after.length), schemas]),
    after,
  ];
}

/** The key and the length of a length-delimited field. */
const head = (number: number, size: number): Buffer => encode(() => writeHead(number, size));

const partField = (part: OpenApiPart) => (messages.Document as Message).fields[part] as [number, MessageName];

const fieldOfPart = (type: MessageName, name: string, value: JsonObject): Steps<Uint8Array[]> =>
  messageInSteps(type, { [name]: value });

/** Writes the members of an object that have one field number. */
interface Step {
  readonly number: number;
  readonly write: (value: JsonObject) => void;
  /** The same in steps. */
  readonly inSteps: (value: JsonObject) => Steps<Uint8Array[]>;
}

const compiled = new Map<MessageName, readonly Step[]>();

/** The steps of a message by ascending field number. */
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
    function* inSteps(object: JsonObject): Steps<Uint8Array[]> {
      const value = object[name];
      return value === undefined ? [] : yield* fieldInSteps(number, shape, value);
    }
    return { number, write, inSteps };
  });
  const isExtension = (name: string) => name.startsWith('x-');
  if (extensions !== undefined) steps.push(pairs(extensions, 'Any', isExtension));
  if (entries !== undefined) {
    steps.push(pairs(...entries, extensions === undefined ? () => true : (name) => !isExtension(name)));
  }
  return steps.sort((a, b) => a.number - b.number);
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
  function* inSteps(object: JsonObject): Steps<Uint8Array[]> {
    const chunks = new Chunks();
    for (const name of Object.keys(object)) {
      if (!mine(name)) continue;
      const value = getKey(object, name) as Json;
      if (isLarge(value)) {
        const pair = [encode(() => writeField(1, 'string', name)), ...(yield* fieldInSteps(2, type, value))];
        chunks.add(sized(number, pair));
      } else chunks.add([encode(() => writePair(object, name))]);
      yield;
    }
    return chunks.all();
  }
  return { number, write, inSteps };
}

const scalars: ReadonlySet<string> = new Set(['string', 'bool', 'int64', 'double']);

/** Writes a field unless it is a scalar of zero value. */
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
  } else if (isJsonObject(value)) {
    const steps = stepsOf(name);
    for (let i = steps.length - 1; i >= 0; i--) (steps[i] as Step).write(value);
  }
}

/** As {@link writeMessage}; the steps return the bytes. */
function* messageInSteps(name: MessageName, value: Json): Steps<Uint8Array[]> {
  const message = messages[name];
  if (typeof message === 'function') {
    const chosen = message(value);
    return chosen === undefined ? [] : yield* fieldInSteps(...chosen, value);
  }
  const chunks = new Chunks();
  if (isJsonObject(value)) for (const { inSteps } of stepsOf(name)) chunks.add(yield* inSteps(value));
  return chunks.all();
}

/** Encodes a field of a large value in parts, that of any other value in one piece. */
function* fieldInSteps(number: number, shape: FieldShape[1], value: Json): Steps<Uint8Array[]> {
  if (!isLarge(value)) return [encode(() => writeField(number, shape, value))];
  yield;
  if (shape === 'Any') {
    const text = yield* stringifyYamlInSteps(value);
    yield;
    return [encode(() => writeSized(number, () => writeText(2, text)))];
  }
  if (!shape.endsWith('[]')) return sized(number, yield* messageInSteps(shape as MessageName, value));
  const type = shape.slice(0, -2) as FieldType;
  const chunks = new Chunks();
  for (const item of Array.isArray(value) ? value : [value]) {
    // Unlike a field, an item of zero value is written.
    const isSmall = !isLarge(item);
    chunks.add(isSmall ? [encode(() => writeOne(number, type, item))] : yield* fieldInSteps(number, type, item));
    yield;
  }
  return chunks.all();
}

/** Small chunks are joined up to this size (bytes). */
const joinedBytes = 16 * 1024;

/** Consecutive chunks; small ones are joined. */
class Chunks {
  readonly #joined: Uint8Array[] = [];
  #run: Uint8Array[] = [];
  #size = 0;

  add(chunks: readonly Uint8Array[]): void {
    for (const chunk of chunks) {
      this.#run.push(chunk);
      this.#size += chunk.length;
      if (this.#size >= joinedBytes) this.#join();
    }
  }

  all(): Uint8Array[] {
    this.#join();
    return this.#joined;
  }

  #join(): void {
    if (this.#run.length > 0)
      this.#joined.push(this.#run.length === 1 ? (this.#run[0] as Uint8Array) : Buffer.concat(this.#run));
    this.#run = [];
    this.#size = 0;
  }
}

/** A length-delimited field with the concatenated chunks. */
function sized(number: number, chunks: readonly Uint8Array[]): Uint8Array[] {
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return [head(number, size), ...chunks];
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
