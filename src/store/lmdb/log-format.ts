import { crc32 } from 'node:zlib';

// The log: a file of a fixed size, a ring of pages. Each group of commits takes whole pages, so that no write touches a page
// of an earlier group:
//   mark (8) `storelog`, version (2), id of the log (16), sequence (6), length of the payload (4), CRC-32 (4) of everything
//   from the version to the length and of the payload, payload, zeros up to the end of the page.
// A payload: length (2) and bytes of the state, length (2) and bytes of the marks, 0 bytes when they have not changed, and
// the changes: number of the table (1), length (2) and bytes of the key, length (4, all ones for a removal) and bytes of the
// value. State, marks, keys and values are as in the tables (records.ts). All numbers are big-endian.

export const logPageBytes = 4096;
const mark = Buffer.from('storelog');
const version = 1;
const versionAt = mark.length;
const idAt = versionAt + 2;
export const idBytes = 16;
const sequenceAt = idAt + idBytes;
const lengthAt = sequenceAt + 6;
const checksumAt = lengthAt + 4;
const payloadAt = checksumAt + 4;
const removal = 0xffff_ffff;

/** A change of a table, encoded: a removal without a value. */
export interface Change {
  readonly table: number;
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}
export interface Payload {
  readonly state: Buffer;
  /** Undefined when they have not changed. */
  readonly marks: Buffer | undefined;
  readonly changes: readonly Change[];
}
/** A group in the pages of a log. */
export interface LoggedGroup {
  readonly sequence: number;
  readonly page: number;
  readonly pages: number;
  readonly payload: Buffer;
}

/** The number of bytes that a group takes in a log. */
export function groupBytes({ state, marks, changes }: Payload): number {
  let bytes = payloadAt + 2 + state.length + 2 + (marks?.length ?? 0);
  for (const { key, value } of changes) bytes += 7 + key.length + (value?.length ?? 0);
  return Math.ceil(bytes / logPageBytes) * logPageBytes;
}

/** Returns whole pages, in `space` when it is large enough. `id` names the log, `sequence` the place of the group in it. */
export function encodeGroup(id: Buffer, sequence: number, payload: Payload, space?: Buffer): Buffer {
  const length = groupBytes(payload);
  const bytes =
    space !== undefined && space.length >= length ? space.subarray(0, length) : Buffer.allocUnsafeSlow(length);
  bytes.set(mark);
  bytes.writeUInt16BE(version, versionAt);
  bytes.set(id, idAt);
  bytes.writeUIntBE(sequence, sequenceAt, 6);
  const end = writePayload(bytes, payload);
  bytes.writeUInt32BE(end - payloadAt, lengthAt);
  bytes.writeUInt32BE(checksumOf(bytes, end), checksumAt);
  return bytes.fill(0, end);
}

function writePayload(bytes: Buffer, { state, marks, changes }: Payload): number {
  let at = payloadAt;
  for (const part of [state, marks ?? Buffer.alloc(0)]) {
    at = bytes.writeUInt16BE(part.length, at);
    bytes.set(part, at);
    at += part.length;
  }
  for (const { table, key, value } of changes) {
    at = bytes.writeUInt16BE(key.length, bytes.writeUInt8(table, at));
    bytes.set(key, at);
    at = bytes.writeUInt32BE(value?.length ?? removal, at + key.length);
    if (value === undefined) continue;
    bytes.set(value, at);
    at += value.length;
  }
  return at;
}

/** The bytes must have passed the checksum of their group. */
export function decodePayload(bytes: Buffer): Payload {
  let at = 0;
  const take = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  const state = take(take(2).readUInt16BE());
  const marks = take(take(2).readUInt16BE());
  const changes: Change[] = [];
  while (at < bytes.length) {
    const table = take(1).readUInt8();
    const key = take(take(2).readUInt16BE());
    const length = take(4).readUInt32BE();
    changes.push({ table, key, value: length === removal ? undefined : take(length) });
  }
  return { state, marks: marks.length === 0 ? undefined : marks, changes };
}

/** The whole groups of the log `id` that are in a file, in the order of their sequence. A torn group is none. */
export function groupsIn(file: Buffer, id: Buffer): LoggedGroup[] {
  const groups: LoggedGroup[] = [];
  for (let page = 0; page * logPageBytes < file.length; ) {
    const group = groupAt(file, page, id);
    if (group !== undefined) groups.push(group);
    // The inside of a group is its payload, which clients choose.
    page += group?.pages ?? 1;
  }
  return groups.sort((a, b) => a.sequence - b.sequence);
}

function groupAt(file: Buffer, page: number, id: Buffer): LoggedGroup | undefined {
  const bytes = file.subarray(page * logPageBytes);
  if (bytes.length < logPageBytes || mark.compare(bytes, 0, mark.length) !== 0) return undefined;
  if (bytes.readUInt16BE(versionAt) !== version || id.compare(bytes, idAt, sequenceAt) !== 0) return undefined;
  const end = payloadAt + bytes.readUInt32BE(lengthAt);
  if (end > bytes.length || bytes.readUInt32BE(checksumAt) !== checksumOf(bytes, end)) return undefined;
  const pages = Math.ceil(end / logPageBytes);
  return { sequence: bytes.readUIntBE(sequenceAt, 6), page, pages, payload: bytes.subarray(payloadAt, end) };
}

const checksumOf = (bytes: Buffer, end: number) =>
  crc32(bytes.subarray(payloadAt, end), crc32(bytes.subarray(versionAt, checksumAt)));

/**
 * The groups after sequence `applied`, without a gap. Undefined when a group is missing before one that was written later:
 * groups are written one after the other, so the missing one was whole, and has been lost.
 */
export function tailOf(groups: readonly LoggedGroup[], applied: number): LoggedGroup[] | undefined {
  const tail = groups.filter(({ sequence }) => sequence > applied);
  return tail.every(({ sequence }, i) => sequence === applied + 1 + i) ? tail : undefined;
}
