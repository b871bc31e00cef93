import { accessSync, chmodSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import type { ByteString } from '../../meta/index.ts';
import { checkDataFile } from './data-file.ts';
import { failure, foreignFile, inUse, openToOthers, otherFormat } from './failure.ts';
import {
  decodeState,
  type LeaseKey,
  leaseKeys,
  type Pointer,
  type Position,
  pointerValues,
  positionKeys,
  type State,
  textKeys,
} from './records.ts';
import { Table } from './table.ts';

/** The open files of a store, used by nobody else. */
export interface Environment {
  readonly path: string;
  readonly root: RootDatabase<Buffer, Buffer>;
  readonly records: Table<Buffer, Position>;
  readonly heads: Table<Pointer, ByteString>;
  readonly long: Table<Pointer, ByteString>;
  readonly leases: Table<Pointer, LeaseKey>;
  readonly state: State;
  close(): Promise<void>;
}

const formatKey = Buffer.from('format');
export const stateKey = Buffer.from('state');
const formatMark = 'multi-version store ';
const formatVersion = 1;
const emptyState: State = { latest: 1, oldest: 1, swept: 1 };

const fileNames = ['data.mdb', 'lock.mdb'];

/** Directories that this process has opened. */
const opened = new Set<string>();

/**
 * Opens the store in a directory, and makes both when they are missing. Directory and files are for their owner alone,
 * whatever they were before. Fails as `unavailable` when the files cannot be written or be kept from others, are not a
 * store of this format, or are in use.
 */
export async function openEnvironment(path: string, mapSize: number): Promise<Environment> {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const place = realpathSync(path);
    if (opened.has(place)) throw inUse(path);
    checkFiles(path);
    // Before there are files in it: the library makes them for a group to read.
    restrict(path, 0o700);
    opened.add(place);
    try {
      return await openFiles(path, mapSize, () => opened.delete(place));
    } catch (error) {
      opened.delete(place);
      throw error;
    }
  } catch (error) {
    throw failure(path, error);
  }
}

/** Throws when the library could not open what is there: it would take the process down. */
function checkFiles(path: string): void {
  accessSync(path, constants.W_OK);
  const [data, lock] = fileNames.map((name) => join(path, name));
  for (const file of [data, lock]) if (file !== undefined && existsSync(file)) accessSync(file, constants.W_OK);
  if (data !== undefined && existsSync(data)) checkDataFile(data);
}

/** Takes every right but those in `mode` away. Throws when the file belongs to another user. */
function restrict(file: string, mode: number): void {
  const found = statSync(file).mode;
  if ((found & 0o777 & ~mode) === 0) return;
  try {
    chmodSync(file, found & mode);
  } catch (error) {
    throw openToOthers(file, error);
  }
}

async function openFiles(path: string, mapSize: number, released: () => void): Promise<Environment> {
  // Loaded here, because a program that keeps its data in memory should not wait for it.
  const { open } = await import('lmdb');
  const root = open<Buffer, Buffer>({
    path,
    mapSize,
    noSubdir: false,
    encoding: 'binary',
    keyEncoding: 'binary',
    // A commit is answered only when the disk has it.
    overlappingSync: false,
    // Writes are gathered here, not by the library.
    eventTurnBatching: false,
  });
  try {
    for (const name of fileNames) restrict(join(path, name), 0o600);
    claim(root, path, 0);
    checkFormat(root, path);
    const text = { keyEncoder: textKeys, encoder: pointerValues };
    const tables = {
      records: new Table<Buffer, Position>(root, path, 'records', { keyEncoder: positionKeys }),
      heads: new Table<Pointer, ByteString>(root, path, 'heads', text),
      long: new Table<Pointer, ByteString>(root, path, 'long', text),
      leases: new Table<Pointer, LeaseKey>(root, path, 'leases', { keyEncoder: leaseKeys, encoder: pointerValues }),
    };
    const state = root.get(stateKey);
    claim(root, path, 1);
    const close = async () => {
      try {
        await root.close();
      } catch (error) {
        throw failure(path, error);
      } finally {
        released();
      }
    };
    return { path, root, ...tables, state: state === undefined ? emptyState : decodeState(state), close };
  } catch (error) {
    await root.close();
    throw error;
  }
}

/**
 * Throws unless the files have at most `readers` readers. Every process that has read once stays in the table of
 * readers, under a lock that the system takes away when the process ends, however it ends. So of two processes that
 * open the store at once at least one sees the other.
 */
function claim(root: RootDatabase<Buffer, Buffer>, path: string, readers: number): void {
  root.readerCheck();
  if ((root.readerList().match(/^\s*\d+ /gm) ?? []).length > readers) throw inUse(path);
}

function checkFormat(root: RootDatabase<Buffer, Buffer>, path: string): void {
  const found = root.get(formatKey)?.toString('latin1');
  if (found === undefined) {
    if (root.getKeysCount({ limit: 1 }) > 0) throw foreignFile(path);
    root.putSync(formatKey, Buffer.from(`${formatMark}${formatVersion}`));
    return;
  }
  if (!found.startsWith(formatMark)) throw foreignFile(path);
  const version = Number(found.slice(formatMark.length));
  if (version !== formatVersion) throw otherFormat(path, version, formatVersion);
}
