import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import type { ByteString } from '../../meta/index.ts';
import { loadLmdb } from '../optional-package.ts';
import { checkDataFile } from './data-file.ts';
import {
  damaged,
  failure,
  foreignFile,
  inUse,
  lost,
  notOpen,
  openToOthers,
  otherFormat,
  unfinishedImport,
} from './failure.ts';
import {
  decodePosition,
  decodeState,
  encodePosition,
  type LeaseKey,
  leaseKeys,
  type Pointer,
  type Position,
  pointerValues,
  positionKeys,
  type State,
  textKeys,
} from './records.ts';
import { Sequence } from './sequence.ts';
import { Space } from './space.ts';
import { Table } from './table.ts';

/** The tables of a store. */
export interface Tables {
  readonly path: string;
  readonly records: Table<Buffer, Position>;
  readonly heads: Table<Pointer, ByteString>;
  readonly long: Table<Pointer, ByteString>;
  readonly leases: Table<Pointer, LeaseKey>;
  /** Whether records may have no seal: those of format 1 are still being rewritten. */
  readonly mayLackSeals: () => boolean;
}

/** The open files of a store, used by this process only. */
export interface Environment extends Tables {
  readonly root: RootDatabase<Buffer, Buffer>;
  /** The state read when the files were opened. */
  readonly state: State;
  /** From which position on records may have no seal; undefined: all of them have one. */
  readonly unsealed: Position | undefined;
  /** Called with the position up to which records are sealed, once that is durable. */
  sealedUpTo(position: Position | 'none'): void;
  /** What makes transactions follow each other. */
  readonly sequence: Sequence;
  /**
   * Closes the files and opens them again, as the library requires after it failed to write a meta page. Until that
   * succeeds, every other method but `close` fails as `unavailable`. Fails as `damaged` when revision `answered` is
   * missing.
   */
  reopen(answered: number): Promise<void>;
  /** Resolves when there is space for a transaction that writes at most this many bytes. Fails as the file system does. */
  reserve(bytes: number): Promise<void>;
  /** The size of the data file (bytes). */
  size(): Promise<number>;
  close(): Promise<void>;
}

const formatKey = Buffer.from('format');
export const stateKey = Buffer.from('state');
export const marksKey = Buffer.from('marks');
/** From which position on records may have no seal. */
export const unsealedKey = Buffer.from('unsealed');
/** The state of an unfinished import: the files are not a store yet. */
export const importKey = Buffer.from('import');
const formatPrefix = 'multi-version store ';
/** Format 1 has no checksums: its records are sealed one after the other once it has been opened. */
const formatVersion = 2;
const unsealedVersion = 1;
export const emptyState: State = { latest: 1, oldest: 1, swept: 1, openMs: 0, marks: [] };

const dataFile = 'data.mdb';
const fileNames = [dataFile, 'lock.mdb'];

/** Says that the directory has a store: without its data file, or with an empty one, the store is lost and not new. */
const markFile = 'created';

/** Fails as `damaged` when the directory has lost the data file of its store. */
export function checkPresent(path: string): void {
  if (!existsSync(join(path, markFile))) return;
  const file = join(path, dataFile);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) throw damaged(file, 'it is missing or empty');
}

/** To be called once the store has been opened. */
export function markPresent(path: string): void {
  const file = join(path, markFile);
  if (existsSync(file)) restrict(file, 0o600);
  else writeFileSync(file, 'This directory has a store, whose data is in data.mdb.\n', { mode: 0o600 });
}

/** Directories that are open in this process. */
const opened = new Set<string>();

/**
 * Opens the store in a directory, and creates both when they are missing. Directory and files become accessible to their
 * owner only. Fails as `unavailable` when the files cannot be written or restricted, are not a store of this format, or
 * are in use; as `damaged` when they are truncated or corrupt.
 */
export async function openEnvironment(path: string, mapSize: number): Promise<Environment> {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const place = realpathSync(path);
    if (opened.has(place)) throw inUse(path);
    opened.add(place);
    const files = new Files(path, mapSize, () => opened.delete(place));
    try {
      await files.reopen(emptyState.latest);
    } catch (error) {
      await files.close();
      throw error;
    }
    return files;
  } catch (error) {
    throw failure(path, error);
  }
}

/** Tables before they are opened. */
export function tablesOf(path: string, mayLackSeals: () => boolean): Tables {
  const text = { keyEncoder: textKeys, encoder: pointerValues };
  return {
    path,
    mayLackSeals,
    records: new Table(path, 'records', { keyEncoder: positionKeys }),
    heads: new Table(path, 'heads', text),
    long: new Table(path, 'long', text),
    leases: new Table(path, 'leases', { keyEncoder: leaseKeys, encoder: pointerValues }),
  };
}

class Files implements Environment {
  readonly path: string;
  readonly records: Tables['records'];
  readonly heads: Tables['heads'];
  readonly long: Tables['long'];
  readonly leases: Tables['leases'];
  readonly sequence: Sequence;
  readonly #mapSize: number;
  readonly #released: () => void;
  #root: RootDatabase<Buffer, Buffer> | undefined;
  #space: Space | undefined;
  #state = emptyState;
  #unsealed: Position | undefined;

  constructor(path: string, mapSize: number, released: () => void) {
    this.path = path;
    this.sequence = new Sequence(path);
    const tables = tablesOf(path, this.mayLackSeals);
    ({ records: this.records, heads: this.heads, long: this.long, leases: this.leases } = tables);
    this.#mapSize = mapSize;
    this.#released = released;
  }

  get root(): RootDatabase<Buffer, Buffer> {
    if (this.#root === undefined) throw notOpen(this.path);
    return this.#root;
  }

  get state(): State {
    return this.#state;
  }

  get unsealed(): Position | undefined {
    return this.#unsealed;
  }

  readonly mayLackSeals = (): boolean => this.#unsealed !== undefined;

  sealedUpTo(position: Position | 'none'): void {
    this.#unsealed = position === 'none' ? undefined : position;
  }

  async reopen(answered: number): Promise<void> {
    try {
      await this.#closeRoot();
      checkFiles(this.path);
      // Before the library creates its files, which it makes readable by the group.
      restrict(this.path, 0o700);
      const root = await openRoot(this.path, this.#mapSize);
      this.#root = root;
      for (const name of fileNames) restrict(join(this.path, name), 0o600);
      claim(root, this.path, 0);
      prepareFormat(root, this.path);
      for (const table of this.#tables) table.open(root);
      this.sequence.open(root);
      const found = root.get(stateKey);
      claim(root, this.path, 1);
      const state = found === undefined ? emptyState : decodeState(found, root.get(marksKey));
      if (state === undefined) throw damaged(this.path, 'its state does not match its checksum');
      this.#unsealed = unsealedFrom(root);
      if (state.latest < answered) throw lost(this.path, answered, state.latest);
      this.#space = await Space.open(join(this.path, dataFile));
      this.#state = state;
    } catch (error) {
      await this.#closeRoot();
      throw failure(this.path, error);
    }
  }

  async reserve(bytes: number): Promise<void> {
    if (this.#space === undefined) throw notOpen(this.path);
    await this.#space.reserve(bytes);
  }

  async size(): Promise<number> {
    try {
      return (await stat(join(this.path, dataFile))).size;
    } catch (error) {
      throw failure(this.path, error);
    }
  }

  async close(): Promise<void> {
    try {
      await this.#closeRoot();
    } catch (error) {
      throw failure(this.path, error);
    } finally {
      this.#released();
    }
  }

  get #tables() {
    return [this.records, this.heads, this.long, this.leases];
  }

  async #closeRoot(): Promise<void> {
    const root = this.#root;
    const space = this.#space;
    [this.#root, this.#space] = [undefined, undefined];
    for (const table of this.#tables) table.close();
    await space?.close();
    await root?.close();
    this.sequence.close();
  }
}

/** Throws when opening the files would crash the library and the process with it. */
function checkFiles(path: string): void {
  accessSync(path, constants.W_OK);
  const [data, lock] = fileNames.map((name) => join(path, name));
  for (const file of [data, lock]) if (file !== undefined && existsSync(file)) accessSync(file, constants.W_OK);
  if (data !== undefined && existsSync(data)) checkDataFile(data);
}

/** Removes every permission that is not in `mode`. Throws when the file belongs to another user. */
function restrict(file: string, mode: number): void {
  const found = statSync(file).mode;
  if ((found & 0o777 & ~mode) === 0) return;
  try {
    chmodSync(file, found & mode);
  } catch (error) {
    throw openToOthers(file, error);
  }
}

async function openRoot(path: string, mapSize: number): Promise<RootDatabase<Buffer, Buffer>> {
  const { open } = await loadLmdb();
  return open<Buffer, Buffer>({
    path,
    mapSize,
    noSubdir: false,
    encoding: 'binary',
    keyEncoding: 'binary',
    // A commit is answered only after it is flushed to disk.
    overlappingSync: false,
    // Group commit is done here, not by the library.
    eventTurnBatching: false,
  });
}

/**
 * Throws when the files have more than `readers` readers. Every process that has read once stays in the reader table,
 * under a lock that the system releases when the process ends, however it ends. So of two processes that open the store
 * at once at least one sees the other.
 */
function claim(root: RootDatabase<Buffer, Buffer>, path: string, readers: number): void {
  root.readerCheck();
  const pids = [...root.readerList().matchAll(/^\s*(\d+) /gm)].map(([, pid]) => Number(pid));
  if (pids.length > readers)
    throw inUse(
      path,
      pids.find((pid) => pid !== process.pid),
    );
}

/** Makes the files a store of the present format: new ones, and those of format 1, whose records are sealed later. */
function prepareFormat(root: RootDatabase<Buffer, Buffer>, path: string): void {
  const found = formatOf(root, path);
  if (found === formatVersion) return;
  if (found === undefined && root.getKeysCount({ limit: 1 }) > 0) throw foreignFile(path);
  root.transactionSync(() => {
    void root.put(formatKey, Buffer.from(`${formatPrefix}${formatVersion}`));
    if (found !== undefined) void root.put(unsealedKey, encodePosition({ revision: 0, ordinal: 0 }));
  });
}

/** From which position on records may have no seal, also in files of format 1 that are only read. */
export function unsealedFrom(root: RootDatabase<Buffer, Buffer>, reading = {}): Position | undefined {
  const found = root.get(unsealedKey, reading);
  if (found !== undefined) return decodePosition(found);
  const isOld = root.get(formatKey, reading)?.toString('latin1') === `${formatPrefix}${unsealedVersion}`;
  return isOld ? { revision: 0, ordinal: 0 } : undefined;
}

/** Throws when the files are those of an unfinished import. */
export function refuseImport(root: RootDatabase<Buffer, Buffer>, path: string): void {
  if (root.get(importKey) !== undefined) throw unfinishedImport(path);
}

/** The format of the files, one that can be read; undefined without the key. Throws when it names another one. */
export function formatOf(root: RootDatabase<Buffer, Buffer>, path: string): number | undefined {
  const found = root.get(formatKey)?.toString('latin1');
  if (found === undefined) return undefined;
  if (!found.startsWith(formatPrefix)) throw foreignFile(path);
  const version = Number(found.slice(formatPrefix.length));
  if (version !== formatVersion && version !== unsealedVersion) throw otherFormat(path, version, formatVersion);
  return version;
}
