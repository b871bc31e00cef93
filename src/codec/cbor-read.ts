import { isUtf8 } from 'node:buffer';
import {
  duplicateField,
  exactNumber,
  formatPath,
  type Json,
  type JsonObject,
  MAX_DEPTH,
  MAX_FIELDS,
  MAX_ITEMS,
  MAX_MEMBERS,
  type Names,
  Pace,
  type Path,
  parseInstant,
  quote,
  StatusError,
  type Steps,
  setKey,
  statusError,
} from '../meta/index.ts';
import type { Resolved, StructSchema } from '../schema/index.ts';
import { floatOf } from './cbor-floats.ts';
import { Major, partSchema, Simple, Tag } from './cbor-head.ts';
import {
  accepted,
  type Encoding,
  encodings,
  integers,
  majorNames,
  narrow,
  type Sort,
  strings,
  typeNames,
} from './cbor-sorts.ts';

/** Maximum number of chunks of a string of indefinite length. */
const MAX_CHUNKS = 10_000;
/** Maximum length of a string that is read byte by byte. */
const SHORT = 24;
/** The additional information of an item of indefinite length, and of the break code. */
const INDEFINITE = 31;
const BREAK = 0xff;
const EOF = 'unexpected EOF';

const malformed = (why: string): StatusError => statusError.badRequest(why);
const tooDeep = () => malformed(`cbor: exceeded max nested level ${MAX_DEPTH}`);

/** Well-formed CBOR that cannot be part of the expected object: a wrong type, a duplicate key, a tag out of place. */
export class UnsuitableItem extends StatusError {
  /** The path of the item; for a duplicate key, that of its map. */
  readonly path: Path;

  constructor(path: Path, why: string) {
    super(400, 'BadRequest', `cbor: ${why}`);
    this.path = path;
  }
}

/** A list or an object whose items are being read. */
interface Open {
  readonly value: Json[] | JsonObject;
  readonly schema: Resolved | undefined;
  readonly encoding: Encoding;
  /** The number of items or fields; undefined where a break code ends them. */
  readonly length: number | undefined;
  /** The number of those that were read. */
  entries: number;
  /** The index or the key of the current item; undefined while the key is read. */
  key: string | number | undefined;
}

/**
 * Reads a body, which is one map or null, with the self-described tag or without. Byte strings and text strings are both
 * texts; invalid UTF-8 becomes U+FFFD in byte strings. Integers beyond 2^53 become bigint. With a schema, items have the
 * types of its fields. Where a value may be anything, tags decide what becomes of it: a time or encoded bytes is a text.
 *
 * Limits: {@link MAX_DEPTH} levels of nesting and as many tags before one item, {@link MAX_FIELDS} fields of a map,
 * {@link MAX_ITEMS} items of a list, {@link MAX_MEMBERS} of both in all, {@link MAX_CHUNKS} chunks of a string.
 * @throws StatusError 400 for malformed CBOR, {@link UnsuitableItem} for other faults; 413 for too many items and fields
 */
export function* readCborInSteps(bytes: Uint8Array, schema: StructSchema | undefined, names: Names): Steps<Json> {
  if (bytes.length === 0) throw malformed('EOF');
  return yield* new Reader(bytes, names).document(schema);
}

class Reader {
  readonly #bytes: Buffer;
  readonly #names: Names;
  /** The lists and objects around the current item, the outermost first. */
  readonly #open: Open[] = [];
  #at = 0;
  #members = 0;
  /** The number of heads that were read in the current step: of items, tags and chunks. */
  #heads = 0;
  /** The current item: major type, additional information, argument, and what its tags say. */
  #major = 0;
  #info = 0;
  #argument = 0;
  #encoding: Encoding;
  #tag: number | undefined;

  constructor(bytes: Uint8Array, names: Names) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#names = names;
  }

  *document(schema: StructSchema | undefined): Steps<Json> {
    const pace = new Pace();
    this.#head(undefined);
    const sort = this.#sort();
    if (sort !== 'map' && sort !== 'null') throw this.#unsuitable(`cannot unmarshal ${sort} into an object`);
    let value = this.#value(sort, schema);
    for (let open = this.#open.at(-1); open !== undefined; open = this.#open.at(-1)) {
      if (value !== undefined) add(open, value);
      if (pace.over(this.#heads)) yield;
      this.#heads = 0;
      value = this.#next(open);
    }
    const extra = this.#bytes.length - this.#at;
    if (extra > 0) throw malformed(`cbor: ${extra} bytes of extraneous data starting at index ${this.#at}`);
    return value as Json;
  }

  /** The next item of a list or object; that itself when it is complete; undefined when the item has items of its own. */
  #next(open: Open): Json | undefined {
    if (this.#isComplete(open)) {
      this.#open.pop();
      return open.value;
    }
    const most = Array.isArray(open.value) ? MAX_ITEMS : MAX_FIELDS;
    if (++open.entries > most || ++this.#members > MAX_MEMBERS) throw statusError.tooManyMembers();
    open.key = undefined;
    open.key = Array.isArray(open.value) ? open.value.length : this.#key(open.encoding, open.value);
    const schema = open.schema && partSchema(open.schema, open.key, this.#names);
    this.#head(open.encoding);
    return this.#value(this.#sort(), schema);
  }

  #isComplete({ entries, length }: Open): boolean {
    if (length !== undefined) return entries === length;
    if (this.#bytes[this.#at] !== BREAK) return false;
    this.#at++;
    return true;
  }

  /** The key of the next field of an object. */
  #key(encoding: Encoding, object: JsonObject): string {
    this.#head(encoding);
    const sort = this.#sort();
    if (!strings.includes(sort)) throw this.#unsuitable(`cannot unmarshal ${sort} into a key`);
    if (this.#tag !== undefined) throw this.#unsuitable(`tag number ${this.#tag} is not accepted before a key`);
    const key = this.#string(this.#encoding);
    if (!Object.hasOwn(object, key)) return key;
    const map = this.#path();
    throw new UnsuitableItem(map, duplicateField([...map, key]));
  }

  /** The value of the current item; undefined when it is a list or an object, whose items follow. */
  #value(sort: Sort, schema: Resolved | undefined): Json | undefined {
    const sorts = schema && accepted[schema.type];
    this.#checkTag(sort);
    if (sort !== 'null' && sorts?.includes(sort) === false) throw this.#mismatch(sort, schema);
    const isTime = this.#tag !== undefined && sorts === undefined;
    switch (sort) {
      case 'array':
        return this.#enter([], 1, schema);
      case 'map':
        return this.#enter({}, 2, schema);
      case 'byte string':
      case 'text string': {
        const isBinary = schema?.type === 'bytes' && this.#encoding !== undefined;
        const text = this.#string(isBinary ? 'base64' : this.#encoding);
        if (isTime) this.#checkTime(text);
        return text;
      }
      case 'null':
        return null;
      case 'bool':
        return this.#argument === Simple.true;
      default: {
        const value = sort === 'float' ? this.#float() : this.#integer(sort, schema);
        return isTime ? this.#timeOf(Number(value)) : value;
      }
    }
  }

  /** Begins a list or an object, each of whose entries takes so many items. */
  #enter(value: Json[] | JsonObject, items: number, schema: Resolved | undefined): undefined {
    if (this.#open.length === MAX_DEPTH) throw tooDeep();
    const isIndefinite = this.#info === INDEFINITE;
    if (!isIndefinite && this.#argument * items > this.#bytes.length - this.#at) throw malformed(EOF);
    const length = isIndefinite ? undefined : this.#argument;
    this.#open.push({ value, schema, encoding: this.#encoding, length, entries: 0, key: undefined });
  }

  /** Reads the head of an item and of the tags before it. `encoding` is that of the list or object around it. */
  #head(encoding: Encoding): void {
    this.#encoding = encoding;
    this.#tag = undefined;
    for (let tags = 0; ; tags++) {
      this.#headOfOne();
      if (this.#major !== Major.tag) return;
      if (this.#tag !== undefined) throw this.#unsuitable(`tag number ${this.#tag} is followed by another tag`);
      if (tags === MAX_DEPTH) throw tooDeep();
      this.#encoding = encodings.get(this.#argument) ?? this.#encoding;
      if (this.#argument <= Tag.negativeBignum) this.#tag = this.#argument;
    }
  }

  #headOfOne(): void {
    this.#heads++;
    const first = this.#bytes[this.#take(1)] as number;
    this.#major = first >> 5;
    this.#info = first & 31;
    this.#argument = this.#info < 24 ? this.#info : this.#longArgument();
  }

  #longArgument(): number {
    const info = this.#info;
    if (info <= 27) {
      const size = 1 << (info - 24);
      const start = this.#take(size);
      if (size < 8) return this.#bytes.readUIntBE(start, size);
      return this.#bytes.readUInt32BE(start) * 2 ** 32 + this.#bytes.readUInt32BE(start + 4);
    }
    if (info === INDEFINITE && this.#major >= Major.bytes && this.#major !== Major.tag) return 0;
    throw malformed(`cbor: invalid additional information ${info} for type ${majorNames[this.#major]}`);
  }

  /** The sort of the current item. */
  #sort(): Sort {
    if (this.#major !== Major.simple) return majorNames[this.#major] as Sort;
    if (this.#info === INDEFINITE) throw malformed('cbor: unexpected "break" code');
    if (this.#info > 24) return 'float';
    const value = this.#argument;
    if (this.#info === 24 && value < 32) throw malformed(`cbor: invalid simple value ${value} for type primitives`);
    if (value === Simple.null) return 'null';
    if (value === Simple.false || value === Simple.true) return 'bool';
    throw this.#unsuitable(`simple value ${value} is not accepted`);
  }

  #checkTag(sort: Sort): void {
    if (this.#tag === undefined) return;
    if (this.#tag > Tag.epoch) throw this.#unsuitable('bignum is not accepted');
    const expected = this.#tag === Tag.time ? ['text string'] : [...integers, 'float'];
    if (expected.includes(sort)) return;
    const needs = this.#tag === Tag.time ? 'text string' : 'integer or floating-point number';
    throw this.#unsuitable(`tag number ${this.#tag} must be followed by ${needs}, got ${sort}`);
  }

  #integer(sort: Sort, schema: Resolved | undefined): number | bigint {
    const isNegative = sort === 'negative integer';
    if (this.#argument < 2 ** 31) return isNegative ? -1 - this.#argument : this.#argument;
    const isExact = Number.isSafeInteger(this.#argument);
    const argument = isExact ? this.#argument : this.#bytes.readBigUInt64BE(this.#at - 8);
    const value = isNegative ? -1n - BigInt(argument) : BigInt(argument);
    const bits = narrow.includes(schema?.type) ? 32 : 64;
    if (BigInt.asIntN(bits, value) !== value) throw this.#mismatch(sort, schema, ` (${value} overflows int${bits})`);
    const near = Number(value);
    return Number.isSafeInteger(near) ? near : value;
  }

  #float(): number | bigint {
    const value = floatOf(this.#bytes, this.#at, this.#info);
    if (!Number.isFinite(value)) throw this.#unsuitable(`floating-point ${value} is not accepted`);
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? exactNumber(String(value), false) : value + 0;
  }

  #checkTime(text: string): void {
    try {
      parseInstant(text);
    } catch (error) {
      throw this.#unsuitable((error as Error).message);
    }
  }

  /** The RFC 3339 text of seconds since 1970-01-01T00:00:00Z. */
  #timeOf(epoch: number): string {
    const seconds = Math.trunc(epoch);
    const nanos = Math.trunc((epoch - seconds) * 1e9);
    const date = new Date((nanos < 0 ? seconds - 1 : seconds) * 1000);
    const year = date.getUTCFullYear();
    if (!(year >= 0 && year <= 9999)) throw this.#unsuitable('the year of a time is outside of 0 to 9999');
    const fraction = String(nanos < 0 ? nanos + 1e9 : nanos)
      .padStart(9, '0')
      .replace(/0+$/, '');
    return `${date.toISOString().slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}Z`;
  }

  /** The text of the current string. `encoding` shows its bytes. */
  #string(encoding: Encoding): string {
    if (this.#info === INDEFINITE) return this.#chunks(encoding);
    const bytes = this.#bytes;
    const start = this.#take(this.#argument);
    const end = this.#at;
    if (encoding !== undefined && this.#major === Major.bytes) return bytes.toString(encoding, start, end);
    if (end - start > SHORT) return this.#decoded(bytes.subarray(start, end));
    let text = '';
    for (let i = start; i < end; i++) {
      const byte = bytes[i] as number;
      if (byte >= 0x80) return this.#decoded(bytes.subarray(start, end));
      text += String.fromCharCode(byte);
    }
    return text;
  }

  #decoded(bytes: Buffer): string {
    if (this.#major === Major.text && !isUtf8(bytes)) throw this.#unsuitable('invalid UTF-8 string');
    return bytes.toString();
  }

  /** The text of a string of indefinite length. */
  #chunks(encoding: Encoding): string {
    const major = this.#major;
    const name = majorNames[major];
    const chunks: Buffer[] = [];
    for (;;) {
      this.#headOfOne();
      if (this.#major === Major.simple && this.#info === INDEFINITE) break;
      const found = majorNames[this.#major];
      if (this.#major !== major) throw malformed(`cbor: wrong element type ${found} for indefinite-length ${name}`);
      if (this.#info === INDEFINITE) throw malformed(`cbor: indefinite-length ${name} chunk is not definite-length`);
      if (chunks.length === MAX_CHUNKS) throw malformed(`cbor: ${name} has more than ${MAX_CHUNKS} chunks`);
      const start = this.#take(this.#argument);
      const chunk = this.#bytes.subarray(start, this.#at);
      if (major === Major.text && !isUtf8(chunk)) throw this.#unsuitable('invalid UTF-8 string');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString(major === Major.bytes ? encoding : undefined);
  }

  /** Passes so many bytes; returns the position of the first one. */
  #take(count: number): number {
    const start = this.#at;
    if (count > this.#bytes.length - start) throw malformed(EOF);
    this.#at = start + count;
    return start;
  }

  /** The path of the current item; of its map, while a key is read. */
  #path(): Path {
    return this.#open.flatMap(({ key }) => key ?? []);
  }

  #unsuitable(why: string): UnsuitableItem {
    const path = this.#path();
    return new UnsuitableItem(path, path.length === 0 ? why : `${why} in field ${quote(formatPath(path))}`);
  }

  #mismatch(sort: Sort, schema: Resolved | undefined, more = ''): UnsuitableItem {
    const path = this.#path();
    const type = schema === undefined ? 'int64' : (typeNames.get(schema.type) ?? schema.type);
    return new UnsuitableItem(
      path,
      `cannot unmarshal ${sort} into field ${quote(formatPath(path))} of type ${type}${more}`,
    );
  }
}

function add({ value, key }: Open, item: Json): void {
  if (Array.isArray(value)) value.push(item);
  else setKey(value, key as string, item);
}
