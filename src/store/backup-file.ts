import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isJsonObject, type Json } from '../meta/index.ts';
import type { LeasedEntry, StoreSnapshot } from './snapshot.ts';
import { StoreError } from './store.ts';
import { sync } from './sync.ts';

// A backup is one file; docs/backup.md has its format:
//   a line of JSON: format, version, revision, when it was made (milliseconds since 1970)
//   frames: kind (1: `E` an entry, `F` a file), length of the name (4), of the value (4), revision (6), time of expiry in
//     milliseconds since 1970 (6, 0 without a lease), the name, the value; numbers are big-endian
//   SHA-256 of everything before it (32)

const format = 'multi-version store backup';
const version = 1;
const frameHead = 1 + 4 + 4 + 6 + 6;
const digestBytes = 32;
const chunkBytes = 1024 * 1024;
const longestHeader = 1024;
/** Maximum size of a frame (bytes): larger than any entry of a store. */
const longestFrame = 16 * 1024 * 1024;
/** The latest revision: records have six bytes for it, and the store goes on a good deal later. */
const latestRevision = 2 ** 47;

/** A file that belongs to the store, such as a key of the server. */
export interface BackupFile {
  readonly name: string;
  readonly content: Uint8Array;
}

/** A verified backup. */
export interface Backup {
  /** When it was made. */
  readonly made: Date;
  readonly files: readonly BackupFile[];
  readonly entries: number;
  /** The size of the file. */
  readonly bytes: number;
  /** The entries; to be closed. */
  readonly snapshot: StoreSnapshot;
}

export interface WriteBackupOptions {
  /** Must not exist. */
  readonly path: string;
  readonly snapshot: StoreSnapshot;
  readonly files: readonly BackupFile[];
  readonly made: Date;
  readonly progress: (entries: number) => void;
}

const unavailable = (message: string, cause?: unknown) => new StoreError('unavailable', message, { cause });

/**
 * Writes a backup, readable by its owner only. It has its name once it is whole and flushed to disk. Fails as
 * `unavailable`.
 */
export async function writeBackup(options: WriteBackupOptions): Promise<{ entries: number; bytes: number }> {
  const { path } = options;
  const partial = `${path}.${process.pid}.partial`;
  try {
    if (await isThere(path)) throw unavailable(`${path} exists already: choose another name`);
    // An existing file or link with this name is removed and not written into.
    await rm(partial, { force: true });
    const handle = await open(partial, 'wx', 0o600);
    let written: { entries: number; bytes: number };
    try {
      written = await writeFrames(handle, options);
    } finally {
      await handle.close();
    }
    await rename(partial, path);
    await sync(dirname(path));
    return written;
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    if (error instanceof StoreError) throw error;
    throw unavailable(`${path} cannot be written: ${reasonOf(error)}`, error);
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function writeFrames(
  handle: FileHandle,
  { snapshot, files, made, progress }: WriteBackupOptions,
): Promise<{ entries: number; bytes: number }> {
  const hash = createHash('sha256');
  let [entries, bytes] = [0, 0];
  const write = async (parts: readonly Uint8Array[]) => {
    const chunk = Buffer.concat(parts);
    hash.update(chunk);
    bytes += chunk.length;
    await handle.writeFile(chunk);
  };
  const header = { format, version, revision: snapshot.revision, made: made.getTime() };
  await write([Buffer.from(`${JSON.stringify(header)}\n`)]);
  for (const { name, content } of files) await write(frameOf('F', name, content, 0, 0));
  for await (const page of snapshot.pages()) {
    await write(page.flatMap(({ key, value, revision, expires }) => frameOf('E', key, value, revision, expires ?? 0)));
    entries += page.length;
    progress(entries);
  }
  await handle.writeFile(hash.digest());
  await handle.sync();
  return { entries, bytes: bytes + digestBytes };
}

function frameOf(kind: 'E' | 'F', name: string, value: Uint8Array, revision: number, expires: number): Uint8Array[] {
  const key = Buffer.from(name);
  const head = Buffer.alloc(frameHead);
  head.write(kind, 'latin1');
  head.writeUInt32BE(key.length, 1);
  head.writeUInt32BE(value.length, 5);
  head.writeUIntBE(revision, 9, 6);
  head.writeUIntBE(expires, 15, 6);
  return [head, key, value];
}

/**
 * Opens a backup and verifies all of it, before anything is returned. Fails as `unavailable` when the file cannot be read
 * or is not a backup of this version, as `damaged` when it is not what was written.
 */
export async function openBackup(path: string): Promise<Backup> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, 'r');
    return await readBackup(path, handle);
  } catch (error) {
    await handle?.close();
    if (error instanceof StoreError) throw error;
    throw unavailable(`${path} cannot be read: ${reasonOf(error)}`, error);
  }
}

async function readBackup(path: string, handle: FileHandle): Promise<Backup> {
  const { size } = await handle.stat();
  const { start, revision, made } = await readHeader(path, handle);
  const end = size - digestBytes;
  if (end < start) throw damaged(path, 'it was cut off');
  const hash = createHash('sha256');
  for await (const chunk of chunksOf(handle, 0, end)) hash.update(chunk);
  await checkDigest(path, handle, end, hash);
  const files: BackupFile[] = [];
  let entries = 0;
  for await (const frames of framesOf(path, handle, start, end)) {
    for (const { kind, name, value } of frames) {
      if (kind === 'E') entries++;
      else files.push({ name, content: Buffer.from(value) });
    }
  }
  async function* pages(): AsyncGenerator<readonly LeasedEntry[]> {
    for await (const frames of framesOf(path, handle, start, end)) {
      const page = frames.filter(({ kind }) => kind === 'E');
      if (page.length > 0)
        yield page.map(({ name: key, value, revision, expires }) => ({ key, value, revision, expires }));
    }
  }
  const snapshot = { revision, size: entries, pages, close: () => handle.close() };
  return { made, files, entries, bytes: size, snapshot };
}

async function readHeader(path: string, handle: FileHandle) {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(longestHeader), 0, longestHeader, 0);
  const end = buffer.subarray(0, bytesRead).indexOf('\n');
  const header = jsonOf(buffer.toString('utf8', 0, Math.max(0, end)));
  if (!isJsonObject(header) || header['format'] !== format) throw unavailable(`${path} is not a backup`);
  if (header['version'] !== version) {
    const found = JSON.stringify(header['version']);
    throw unavailable(
      `${path} has version ${found}, and this program reads version ${version}: use the one that wrote it`,
    );
  }
  const [revision, made] = [Number(header['revision']), new Date(Number(header['made']))];
  if (!(Number.isInteger(revision) && revision >= 1 && revision <= latestRevision)) {
    throw damaged(path, 'its revision is not a number of a store');
  }
  if (Number.isNaN(made.getTime())) throw damaged(path, 'it does not say when it was made');
  return { start: end + 1, revision, made };
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

async function checkDigest(path: string, handle: FileHandle, at: number, hash: Hash): Promise<void> {
  const found = Buffer.alloc(digestBytes);
  await handle.read(found, 0, digestBytes, at);
  if (!found.equals(hash.digest())) throw damaged(path, 'its checksum is wrong, so that it was changed or cut off');
}

interface Frame {
  readonly kind: 'E' | 'F';
  readonly name: string;
  readonly value: Uint8Array;
  readonly revision: number;
  readonly expires: number | undefined;
}

/** The frames between two places, those of a chunk at once. */
async function* framesOf(path: string, handle: FileHandle, start: number, end: number): AsyncGenerator<Frame[]> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunksOf(handle, start, end)) {
    rest = Buffer.concat([rest, chunk]);
    const frames: Frame[] = [];
    for (;;) {
      const size = rest.length < frameHead ? frameHead : frameHead + rest.readUInt32BE(1) + rest.readUInt32BE(5);
      if (size > longestFrame) throw damaged(path, `it has an entry of ${size} bytes`);
      if (rest.length < size) break;
      frames.push(decodeFrame(path, rest.subarray(0, size)));
      rest = rest.subarray(size);
    }
    yield frames;
  }
  if (rest.length > 0) throw damaged(path, 'its last entry is cut off');
}

function decodeFrame(path: string, bytes: Buffer): Frame {
  const kind = bytes.toString('latin1', 0, 1);
  if (kind !== 'E' && kind !== 'F') throw damaged(path, 'it has an entry of an unknown kind');
  const value = frameHead + bytes.readUInt32BE(1);
  const expires = bytes.readUIntBE(15, 6);
  return {
    kind,
    name: bytes.toString('utf8', frameHead, value),
    value: bytes.subarray(value),
    revision: bytes.readUIntBE(9, 6),
    expires: expires === 0 ? undefined : expires,
  };
}

async function* chunksOf(handle: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end; ) {
    const length = Math.min(chunkBytes, end - at);
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) throw unavailable('the backup was changed while it was read');
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

const damaged = (path: string, what: string) =>
  new StoreError('damaged', `the backup ${path} is damaged: ${what}; use another one`);

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'ENOENT') return 'there is no such file or folder';
  return error.message;
}
