import {
  type ByteString,
  type Json,
  type JsonObject,
  MAX_DEPTH,
  MAX_FIELDS,
  MAX_ITEMS,
  MAX_MEMBERS,
  type StatusError,
  setKey,
  statusError,
} from '../meta/index.ts';

/** A message of at least this size is read in steps, and a step reads or writes about as much (bytes). */
const stepBytes = 16 * 1024;

/** The wire types of protobuf. */
export const VARINT = 0;
export const FIXED64 = 1;
/** Length-delimited: a length, then as many bytes. */
export const SIZED = 2;
export type Wire = typeof VARINT | typeof FIXED64 | typeof SIZED;

const GROUP = 3;
const GROUP_END = 4;
const FIXED32 = 5;

const EOF = 'unexpected EOF';
const OVERFLOW = 'proto: integer overflow';
/** Up to this length, strings are decoded and encoded faster here than by `Buffer`. */
const SHORT = 24;

const fault = (message: string): StatusError => statusError.badRequest(message);

/** A shorter message has at most {@link MAX_FIELDS} entries of maps: each has a key and a length. */
const minBytesOfTooMany = 2 * MAX_FIELDS;

/**
 * A message being decoded. No method reads beyond `end`, the end of the innermost message; all throw StatusError 400
 * for malformed bytes.
 *
 * Limits: {@link MAX_DEPTH} levels of nesting; {@link MAX_MEMBERS} fields and packed numbers in all, unknown and repeated
 * ones too; {@link MAX_ITEMS} items of a list, and {@link MAX_FIELDS} entries of a map. Beyond them StatusError 413.
 */
export class Input {
  readonly bytes: Buffer;
  at = 0;
  end: number;
  /** The nesting depth of the current value. */
  depth = 0;
  #members = 0;
  /** The number of entries that each map has been given. Undefined: the message is too short for too many. */
  readonly #entries: Map<JsonObject, number> | undefined;
  #low = 0;
  #high = 0;
  #stepEnd = stepBytes;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.end = bytes.byteLength;
    if (bytes.byteLength > minBytesOfTooMany) this.#entries = new Map();
  }

  /** The key of the next field, `tag << 3 | wire`. */
  key(): number {
    this.countMember();
    this.#varint();
    const key = this.#low;
    if (this.#high !== 0 || key < 8) throw fault(`proto: illegal tag ${key >>> 3} (wire type ${key & 7})`);
    return key;
  }

  countMember(): void {
    if (++this.#members > MAX_MEMBERS) throw statusError.tooManyMembers();
  }

  /** Adds an item to a list. */
  add(list: Json[], item: Json): void {
    if (list.length >= MAX_ITEMS) throw statusError.tooManyMembers();
    list.push(item);
  }

  /** Sets an entry of a map; the last one of a key wins. */
  setEntry(map: JsonObject, key: string, value: Json): void {
    if (this.#entries !== undefined) {
      const entries = (this.#entries.get(map) ?? 0) + 1;
      if (entries > MAX_FIELDS) throw statusError.tooManyMembers();
      this.#entries.set(map, entries);
    }
    setKey(map, key, value);
  }

  /** Enters a length-delimited value. Returns the end of the outer message, for {@link leave}. */
  enter(): number {
    this.#varint();
    const outer = this.end;
    if (this.#high !== 0 || this.#low > outer - this.at) throw fault(EOF);
    this.end = this.at + this.#low;
    return outer;
  }

  /** Whether the next length-delimited value must be read in steps. */
  isLargeAhead(): boolean {
    const { at } = this;
    this.#varint();
    this.at = at;
    return this.#high !== 0 || this.#low >= stepBytes;
  }

  /** Whether a step of reading ends here; then the next one begins. */
  isStepOver(): boolean {
    if (this.at < this.#stepEnd) return false;
    this.#stepEnd = this.at + stepBytes;
    return true;
  }

  leave(outer: number): void {
    this.at = this.end;
    this.end = outer;
  }

  /** Increments the depth, which the caller decrements afterwards. @throws StatusError 400 above the limit */
  descend(): void {
    if (++this.depth > MAX_DEPTH) throw fault('exceeded max depth');
  }

  bool(): boolean {
    this.#varint();
    return this.#low !== 0 || this.#high !== 0;
  }

  int32(): number {
    this.#varint();
    return this.#low | 0;
  }

  /** A `bigint` only beyond 2^53. */
  int64(): number | bigint {
    this.#varint();
    const high = this.#high | 0;
    const value = high * 2 ** 32 + this.#low;
    return Number.isSafeInteger(value) ? value : (BigInt(high) << 32n) | BigInt(this.#low);
  }

  double(): number {
    this.#need(8);
    const value = this.bytes.readDoubleLE(this.at);
    this.at += 8;
    if (!Number.isFinite(value)) throw fault(`unsupported value: ${value}`);
    return value;
  }

  /** The rest of the innermost message as text; invalid UTF-8 becomes U+FFFD. */
  text(): string {
    const { bytes, at, end } = this;
    this.at = end;
    if (end - at > SHORT) return bytes.toString('utf8', at, end);
    let text = '';
    for (let i = at; i < end; i++) {
      const byte = bytes[i] as number;
      if (byte >= 0x80) return bytes.toString('utf8', at, end);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /** The rest of the innermost message, not copied. */
  rest(): Buffer {
    const rest = this.bytes.subarray(this.at, this.end);
    this.at = this.end;
    return rest;
  }

  /** Skips the value of an unknown field. */
  skip(key: number): void {
    let groups = 0;
    for (let next = key; ; next = this.key()) {
      switch (next & 7) {
        case VARINT:
          this.#varint();
          break;
        case FIXED64:
          this.#need(8);
          this.at += 8;
          break;
        case SIZED:
          this.leave(this.enter());
          break;
        case GROUP:
          groups++;
          break;
        case GROUP_END:
          if (--groups < 0) throw fault('proto: unexpected end of group');
          break;
        case FIXED32:
          this.#need(4);
          this.at += 4;
          break;
        default:
          throw fault(`proto: illegal wireType ${next & 7}`);
      }
      if (groups === 0) return;
    }
  }

  #need(count: number): void {
    if (count > this.end - this.at) throw fault(EOF);
  }

  /** Reads 64 bits as two halves. */
  #varint(): void {
    const { bytes, end } = this;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= end) throw fault(EOF);
      const byte = bytes[this.at++] as number;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte >= 0x80) continue;
      if (shift === 63 && byte > 1) break;
      this.#low = low >>> 0;
      this.#high = high >>> 0;
      return;
    }
    throw fault(OVERFLOW);
  }
}

const FIRST_SIZE = 64 * 1024;
/** Maximum size of a buffer that is reused for the next message (bytes). */
const KEPT_SIZE = 1024 * 1024;

/**
 * A message being encoded, from its end to its beginning: the length before a value is written when the value is
 * complete.
 */
export class Output {
  #bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
  #start = FIRST_SIZE;
  #stepEnd = stepBytes;

  /** The number of bytes written. */
  get size(): number {
    return this.#bytes.length - this.#start;
  }

  /** Whether a step of writing ends here; then the next one begins. */
  isStepOver(): boolean {
    if (this.size < this.#stepEnd) return false;
    this.#stepEnd = this.size + stepBytes;
    return true;
  }

  /** Discards the bytes written. */
  reset(): void {
    if (this.#bytes.length > KEPT_SIZE) this.#bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
    this.#start = this.#bytes.length;
  }

  /** A copy of the bytes written. */
  copy(): Buffer {
    return Buffer.from(this.#bytes.subarray(this.#start));
  }

  /** The bytes written, as a byte string. */
  bytes(): ByteString {
    return this.#bytes.toString('latin1', this.#start) as ByteString;
  }

  copyTo(target: Buffer, at: number): void {
    this.#bytes.copy(target, at, this.#start);
  }

  /** Writes the length of the bytes written since the size was `mark`. */
  close(mark: number): void {
    this.varint(this.size - mark);
  }

  /** An integer from 0 to 2^53. */
  varint(value: number): void {
    this.#reserve(8);
    const bytes = this.#bytes;
    if (value < 0x80) {
      bytes[--this.#start] = value;
      return;
    }
    let at = this.#start - sizeOf(value);
    this.#start = at;
    let rest = value;
    for (; rest > 0x7fffffff; rest = Math.floor(rest / 0x80)) bytes[at++] = (rest % 0x80) | 0x80;
    for (; rest >= 0x80; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
    bytes[at] = rest;
  }

  /** Any integer of 64 bits; a negative one takes ten bytes. */
  int64(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0) {
      this.varint(value);
      return;
    }
    this.#reserve(10);
    const groups: number[] = [];
    for (let rest = BigInt.asUintN(64, BigInt(value)); rest > 0n; rest >>= 7n) groups.push(Number(rest & 0x7fn) | 0x80);
    groups.push((groups.pop() as number) & 0x7f);
    this.#start -= groups.length;
    this.#bytes.set(groups, this.#start);
  }

  double(value: number): void {
    this.#reserve(8);
    this.#start -= 8;
    this.#bytes.writeDoubleLE(value, this.#start);
  }

  text(value: string): void {
    if (value.length <= SHORT && this.#shortText(value)) return;
    const size = Buffer.byteLength(value);
    this.#reserve(size);
    this.#start -= size;
    this.#bytes.write(value, this.#start, size, size === value.length ? 'latin1' : 'utf8');
  }

  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#start -= value.length;
    this.#bytes.set(value, this.#start);
  }

  /** Writes a text if it is ASCII; returns whether it was. */
  #shortText(value: string): boolean {
    const { length } = value;
    this.#reserve(length);
    const bytes = this.#bytes;
    const start = this.#start - length;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code >= 0x80) return false;
      bytes[start + i] = code;
    }
    this.#start = start;
    return true;
  }

  #reserve(count: number): void {
    if (count <= this.#start) return;
    const { size } = this;
    const bytes = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, size + count));
    this.#bytes.copy(bytes, bytes.length - size, this.#start);
    this.#start = bytes.length - size;
    this.#bytes = bytes;
  }
}

/** The length of a varint of 128 or more (bytes). */
function sizeOf(value: number): number {
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  if (value < 0x10000000) return 4;
  let size = 4;
  for (let rest = value / 0x10000000; rest >= 1; rest /= 0x80) size++;
  return size;
}
