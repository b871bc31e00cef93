import {
  type ByteString,
  isLarge,
  type Json,
  largeWeight,
  type Names,
  Pace,
  type Steps,
  weigh,
} from '../meta/index.ts';
import { hasField, remember, resolve, type Schema } from '../schema/index.ts';
import { halfOf } from './cbor-floats.ts';
import { Major, partSchema, Simple, Tag } from './cbor-head.ts';

const FIRST_SIZE = 64 * 1024;
/** Maximum size of a buffer that is reused for the next item (bytes). */
const KEPT_SIZE = 1024 * 1024;
/** Maximum length of a string that is written character by character. */
const SHORT = 32;

/** Data items being encoded. */
class Output {
  #bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
  #end = 0;

  /** Discards the bytes written. */
  reset(): void {
    if (this.#bytes.length > KEPT_SIZE) this.#bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
    this.#end = 0;
  }

  /** The bytes written, as a byte string. */
  text(): ByteString {
    return this.#bytes.toString('latin1', 0, this.#end) as ByteString;
  }

  /** The head of an item in its shortest form. `argument`: an integer from 0 to 2^64 - 1. */
  head(major: number, argument: number | bigint): void {
    const bytes = this.#reserve(9);
    const first = major << 5;
    if (argument < 24) bytes[this.#end++] = first | Number(argument);
    else if (argument < 0x100) {
      bytes[this.#end] = first | 24;
      this.#end = bytes.writeUInt8(Number(argument), this.#end + 1);
    } else if (argument < 0x10000) {
      bytes[this.#end] = first | 25;
      this.#end = bytes.writeUInt16BE(Number(argument), this.#end + 1);
    } else if (argument < 0x1_0000_0000) {
      bytes[this.#end] = first | 26;
      this.#end = bytes.writeUInt32BE(Number(argument), this.#end + 1);
    } else {
      bytes[this.#end] = first | 27;
      this.#end = bytes.writeBigUInt64BE(BigInt(argument), this.#end + 1);
    }
  }

  /** A float in the shortest of the three forms that is exact. */
  float(value: number): void {
    const bytes = this.#reserve(9);
    const half = halfOf(value);
    if (half !== undefined) {
      bytes[this.#end] = 0xf9;
      this.#end = bytes.writeUInt16BE(half, this.#end + 1);
    } else if (Math.fround(value) === value) {
      bytes[this.#end] = 0xfa;
      this.#end = bytes.writeFloatBE(value, this.#end + 1);
    } else {
      bytes[this.#end] = 0xfb;
      this.#end = bytes.writeDoubleBE(value, this.#end + 1);
    }
  }

  /** A text as a byte string. */
  string(value: string): void {
    if (value.length <= SHORT && this.#shortString(value)) return;
    const size = Buffer.byteLength(value);
    this.head(Major.bytes, size);
    const bytes = this.#reserve(size);
    this.#end += bytes.write(value, this.#end, size, size === value.length ? 'latin1' : 'utf8');
  }

  raw(value: Uint8Array): void {
    const bytes = this.#reserve(value.length);
    bytes.set(value, this.#end);
    this.#end += value.length;
  }

  /** Writes a text if it is ASCII; returns whether it was. */
  #shortString(value: string): boolean {
    const start = this.#end;
    this.head(Major.bytes, value.length);
    const bytes = this.#reserve(value.length);
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      if (code >= 0x80) {
        this.#end = start;
        return false;
      }
      bytes[this.#end++] = code;
    }
    return true;
  }

  #reserve(count: number): Buffer {
    if (this.#end + count > this.#bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#end + count));
      this.#bytes.copy(bytes, 0, 0, this.#end);
      this.#bytes = bytes;
    }
    return this.#bytes;
  }
}

/** Whether values of a schema contain base64 text: in CBOR that is binary data. */
const binary = new WeakMap<Schema, boolean>();
const holdsBytes = (schema: Schema): boolean =>
  remember(binary, schema, () => isBytes(schema) || hasField(schema, (field) => isBytes(field.schema)));

/** Whether a schema is `bytes`, or a list or map of it. */
function isBytes(schema: Schema): boolean {
  const resolved = resolve(schema);
  if (resolved.type === 'list') return isBytes(resolved.element);
  return resolved.type === 'map' ? isBytes(resolved.value) : resolved.type === 'bytes';
}

/** One buffer for all items that are encoded in one go. Encoding in steps uses a separate one. */
const shared = new Output();

/**
 * Encodes a value, without the self-described tag: keys in their order, texts as byte strings, numbers in their shortest
 * form. What is base64 by the schema is written as bytes with tag 22. An integer beyond 64 bits, which
 * no client of the reference server reads, is written as a float.
 */
export function writeCbor(value: Json, schema: Schema | undefined, names: Names): ByteString {
  shared.reset();
  put(shared, value, schema, names);
  return shared.text();
}

/** The same in steps, for a large value. */
export function* writeCborInSteps(value: Json, schema: Schema | undefined, names: Names): Steps<ByteString> {
  if (!isLarge(value)) return writeCbor(value, schema, names);
  yield;
  const own = new Output();
  yield* putInSteps(own, value, schema, names, new Pace());
  return own.text();
}

/** The head of a list of so many items, which follow it. */
export function cborListHead(items: number): ByteString {
  shared.reset();
  shared.head(Major.array, items);
  return shared.text();
}

function put(out: Output, value: Json, schema: Schema | undefined, names: Names): void {
  if (typeof value !== 'object' || value === null) putScalar(out, value, schema);
  else if (Array.isArray(value)) {
    out.head(Major.array, value.length);
    const element = schema && binaryBelow(schema, 0, names);
    for (const item of value) put(out, item, element, names);
  } else {
    const keys = Object.keys(value);
    out.head(Major.map, keys.length);
    for (const key of keys) {
      out.string(key);
      put(out, value[key] as Json, schema && binaryBelow(schema, key, names), names);
    }
  }
}

function* putInSteps(out: Output, value: Json, schema: Schema | undefined, names: Names, pace: Pace): Steps<void> {
  const weight = weigh(value);
  if (pace.over(weight)) yield;
  if (weight < largeWeight || typeof value !== 'object' || value === null) return put(out, value, schema, names);
  if (Array.isArray(value)) {
    out.head(Major.array, value.length);
    const element = schema && binaryBelow(schema, 0, names);
    for (const item of value) yield* putInSteps(out, item, element, names, pace);
    return;
  }
  const keys = Object.keys(value);
  yield;
  out.head(Major.map, keys.length);
  for (const key of keys) {
    out.string(key);
    yield* putInSteps(out, value[key] as Json, schema && binaryBelow(schema, key, names), names, pace);
  }
}

/** The schema of a part of a value, if that contains binary data. */
function binaryBelow(schema: Schema, key: string | number, names: Names): Schema | undefined {
  const below = partSchema(schema, key, names);
  return below !== undefined && holdsBytes(below) ? below : undefined;
}

function putScalar(out: Output, value: null | boolean | number | bigint | string, schema: Schema | undefined): void {
  switch (typeof value) {
    case 'string':
      if (schema?.type === 'bytes') putBinary(out, Buffer.from(value, 'base64'));
      else out.string(value);
      return;
    case 'number':
    case 'bigint':
      putNumber(out, value);
      return;
    case 'boolean':
      out.head(Major.simple, value ? Simple.true : Simple.false);
      return;
    default:
      out.head(Major.simple, Simple.null);
  }
}

function putBinary(out: Output, bytes: Uint8Array): void {
  out.head(Major.tag, Tag.base64);
  out.head(Major.bytes, bytes.length);
  out.raw(bytes);
}

function putNumber(out: Output, value: number | bigint): void {
  const isInteger = typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value);
  if (!isInteger) out.float(Number(value));
  else if (value >= 0) out.head(Major.positive, value);
  else out.head(Major.negative, typeof value === 'bigint' ? -1n - value : -1 - value);
}
