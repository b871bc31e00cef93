import { crc32 } from 'node:zlib';
import type { ByteString } from '../../meta/index.ts';
import type { Aging, Mark } from '../history.ts';

// The data of the store, in five tables:
//   records  position -> one write of one commit (layout below): the history and the values
//   heads    key -> pointer to the latest record of the key
//   long     the same, under the SHA-256 of a key that is too long for an index
//   leases   time of expiry and position -> the pointer of a record that expires
//   sequence the number of the last transaction, see sequence.ts
// and, in the root table, `format`, `state`, `marks` and, while records of format 1 are left, `unsealed`.

/** Where a record is: the `ordinal`th write of the commit that took `revision`. */
export interface Position {
  readonly revision: number;
  readonly ordinal: number;
}
export interface Pointer extends Position {
  /** The write deleted the key. */
  readonly deleted: boolean;
  /** The write has a lease. */
  readonly leased: boolean;
}
export interface LeaseKey extends Position {
  /** Milliseconds since 1970. */
  readonly expires: number;
}
/** Written with every commit; the marks only when they change. */
export interface State extends Aging {
  /** Records that are not visible at this revision or later have been removed. */
  readonly swept: number;
  /** Milliseconds for which the store has been open, over all restarts. */
  readonly openMs: number;
}

const positionBytes = 10;
const pointerBytes = 11;
const leaseBytes = 16;

function writePosition({ revision, ordinal }: Position, target: Buffer, at: number): number {
  target.writeUIntBE(revision, at, 6);
  return target.writeUInt32BE(ordinal, at + 6);
}

const readPosition = (source: Buffer, at: number): Position => ({
  revision: readRevision(source, at),
  ordinal: source.readUInt32BE(at + 6),
});

// Takes half the time of readUIntBE, which matters for a hundred thousand pointers.
const readRevision = (source: Buffer, at: number) => source.readUInt32BE(at) * 65536 + source.readUInt16BE(at + 4);

function writePointer(pointer: Pointer, target: Buffer, at: number): number {
  return target.writeUInt8((pointer.deleted ? 1 : 0) | (pointer.leased ? 2 : 0), writePosition(pointer, target, at));
}

function readPointer(source: Buffer, at: number): Pointer {
  const flags = source[at + positionBytes] ?? 0;
  return {
    revision: readRevision(source, at),
    ordinal: source.readUInt32BE(at + 6),
    deleted: (flags & 1) !== 0,
    leased: (flags & 2) !== 0,
  };
}

/** Key encodings of the tables. */
export const positionKeys = { writeKey: writePosition, readKey: readPosition };
export const textKeys = {
  writeKey: (key: ByteString, target: Buffer, at: number) => at + target.write(key, at, 'latin1'),
  readKey: (source: Buffer, start: number, end: number) => source.toString('latin1', start, end) as ByteString,
};
export const leaseKeys = {
  writeKey: (key: LeaseKey, target: Buffer, at: number) =>
    writePosition(key, target, target.writeUIntBE(key.expires, at, 6)),
  readKey: (source: Buffer, at: number): LeaseKey => ({
    expires: source.readUIntBE(at, 6),
    ...readPosition(source, at + leaseBytes - positionBytes),
  }),
};

/**
 * Allocates small buffers from larger blocks, since every allocation has a cost. A buffer keeps its whole block
 * alive. Blocks are never reused.
 */
export class Slab {
  #block = Buffer.alloc(0);
  #used = 0;

  take(size: number): Buffer {
    if (size > 32 * 1024) return Buffer.allocUnsafeSlow(size);
    if (this.#used + size > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(128 * 1024);
      this.#used = 0;
    }
    this.#used += size;
    return this.#block.subarray(this.#used - size, this.#used);
  }
}

const pointerSlab = new Slab();
export const pointerValues = {
  encode(pointer: Pointer): Buffer {
    const bytes = pointerSlab.take(pointerBytes);
    writePointer(pointer, bytes, 0);
    return bytes;
  },
  decode: (bytes: Buffer): Pointer => readPointer(bytes, 0),
};

// A record: flags (1), number of writes in its commit (4), pointer to the previous record of the key (11, zeros if none),
// time of expiry (6, 0 without a lease), length of the key (2), the key, the value, and the seal (4): the CRC-32 of its
// position and of all of this. Records of format 1 have no seal.
const deletesFlag = 1;
const sealedFlag = 2;
const countAt = 1;
const previousAt = countAt + 4;
const expiresAt = previousAt + pointerBytes;
const keyLengthAt = expiresAt + 6;
const keyAt = keyLengthAt + 2;
const sealBytes = 4;

/** A record without the fields that are known only once its commit has a revision: see {@link completeRecord}. */
export function makeRecord(slab: Slab, key: ByteString, value: Uint8Array | undefined, expires: number): Buffer {
  const record = slab.take(keyAt + key.length + (value?.length ?? 0) + sealBytes);
  record.fill(0, 0, expiresAt);
  record[0] = sealedFlag | (value === undefined ? deletesFlag : 0);
  record.writeUIntBE(expires, expiresAt, 6);
  record.writeUInt16BE(key.length, keyLengthAt);
  record.write(key, keyAt, 'latin1');
  if (value !== undefined) record.set(value, keyAt + key.length);
  return record;
}

export function completeRecord(record: Buffer, position: Position, count: number, previous: Pointer | undefined): void {
  record.writeUInt32BE(count, countAt);
  if (previous === undefined) record.fill(0, previousAt, expiresAt);
  else writePointer(previous, record, previousAt);
  record.writeUInt32BE(sealOf(record, position), record.length - sealBytes);
}

/** A record of format 1 with a seal. */
export function sealRecord(slab: Slab, record: Buffer, position: Position): Buffer {
  const sealed = slab.take(record.length + sealBytes);
  sealed.set(record);
  sealed[0] = (record[0] ?? 0) | sealedFlag;
  sealed.writeUInt32BE(sealOf(sealed, position), record.length);
  return sealed;
}

const positionScratch = Buffer.alloc(positionBytes);

/** The checksum of a record of its full length: another record in its place has another one. */
function sealOf(record: Buffer, position: Position): number {
  writePosition(position, positionScratch, 0);
  return crc32(record.subarray(0, record.length - sealBytes), crc32(positionScratch));
}

/** Why these are not the bytes of the record at a position; undefined when they are. `unsealed`: a seal may be missing. */
export function recordFault(bytes: Buffer, position: Position, unsealed: boolean): string | undefined {
  const sealed = isSealed(bytes);
  if (!sealed && !unsealed) return 'has no checksum';
  if (
    sealed &&
    (bytes.length < keyAt + sealBytes || bytes.readUInt32BE(bytes.length - sealBytes) !== sealOf(bytes, position))
  ) {
    return 'does not match its checksum';
  }
  const isRecord = bytes.length >= keyAt && recordEnd(bytes) >= valueAt(bytes) && recordCount(bytes) > 0;
  return isRecord ? undefined : 'is not a record';
}

const valueAt = (record: Buffer) => keyAt + record.readUInt16BE(keyLengthAt);
const recordEnd = (record: Buffer) => record.length - (isSealed(record) ? sealBytes : 0);

export const isSealed = (record: Buffer) => ((record[0] ?? 0) & sealedFlag) !== 0;
export const recordDeletes = (record: Buffer) => ((record[0] ?? 0) & deletesFlag) !== 0;
export const recordCount = (record: Buffer) => record.readUInt32BE(countAt);
export const recordExpires = (record: Buffer) => record.readUIntBE(expiresAt, 6);
export function recordPrevious(record: Buffer): Pointer | undefined {
  const pointer = readPointer(record, previousAt);
  return pointer.revision === 0 ? undefined : pointer;
}
export function recordKey(record: Buffer): ByteString {
  return record.toString('latin1', keyAt, valueAt(record)) as ByteString;
}
/** The value as a part of the record. */
export function recordValue(record: Buffer): Buffer {
  return record.subarray(valueAt(record), recordEnd(record));
}

export function encodeState({ latest, oldest, swept, openMs }: State): Buffer {
  return encodeNumbers([latest, oldest, swept, openMs]);
}
export function encodeMarks({ marks }: State): Buffer {
  return encodeNumbers(marks.flatMap(({ at, revision }) => [at, revision]));
}
/** Undefined when the bytes do not match their checksum. */
export function decodeState(state: Buffer, marks: Buffer | undefined): State | undefined {
  const numbers = decodeNumbers(state);
  const marked = marks === undefined ? [] : decodeNumbers(marks);
  if (numbers === undefined || marked === undefined) return undefined;
  const [latest = 1, oldest = 1, swept = 1, openMs = 0] = numbers;
  const pairs = decodeMarks(marked);
  // Versions before marks write the state without open time.
  return { latest, oldest, swept, openMs: Math.max(openMs, pairs.at(-1)?.at ?? 0), marks: pairs };
}

function decodeMarks(numbers: readonly number[]): Mark[] {
  const marks: Mark[] = [];
  for (let i = 0; i + 1 < numbers.length; i += 2) marks.push({ at: numbers[i] ?? 0, revision: numbers[i + 1] ?? 0 });
  return marks;
}

const numberBytes = 6;
/** Encodes numbers followed by the CRC-32 of their bytes. Format 1, recognised by its length, has no checksum. */
function encodeNumbers(numbers: readonly number[]): Buffer {
  const size = numbers.length * numberBytes;
  const bytes = pointerSlab.take(size + sealBytes);
  for (const [i, number] of numbers.entries()) bytes.writeUIntBE(number, i * numberBytes, numberBytes);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, size)), size);
  return bytes;
}
function decodeNumbers(bytes: Buffer): number[] | undefined {
  const count = Math.floor(bytes.length / numberBytes);
  const size = count * numberBytes;
  if (bytes.length > size && bytes.readUInt32BE(bytes.length - sealBytes) !== crc32(bytes.subarray(0, size))) {
    return undefined;
  }
  return Array.from({ length: count }, (_, i) => bytes.readUIntBE(i * numberBytes, numberBytes));
}

/** The value of `unsealed`: records from this position on may have no seal. */
export function encodePosition(position: Position): Buffer {
  const bytes = Buffer.alloc(positionBytes);
  writePosition(position, bytes, 0);
  return bytes;
}
export const decodePosition = (bytes: Buffer): Position => readPosition(bytes, 0);
