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
import { loadLmdb } from '../optional-package.ts';
import { checkDataFile } from './data-file.ts';
import { damaged, failure, inUse, lost, notOpen, openToOthers } from './failure.ts';
import { emptyState, markFrom, marksKey, prepareFormat, stateKey, unsealedFrom } from './format.ts';
import { Log } from './log.ts';
import type { LoggedGroup } from './log-format.ts';
import { decodeState, type Position, type State } from './records.ts';
import { Sequence } from './sequence.ts';
import { Space } from './space.ts';
import { stageGroups, type Tables, tablesOf } from './tables.ts';
import { decodeGroups, type Group, type LogMark, logFile, lostGroup, readTail } from './tail.ts';

/** The open files of a store, used by this process only. */
export interface Environment extends Tables {
  readonly root: RootDatabase<Buffer, Buffer>;
  /** The state when the files were first opened, with the groups that were in the log alone. */
  readonly state: State;
  /** The state of the tree when the files were last opened. */
  readonly treeState: State;
  /** The log mark of the tree at that time; undefined when all commits are in the tree. */
  readonly mark: LogMark | undefined;
  /** The groups that were in the log alone when the files were first opened. They are staged in the tables. */
  readonly tail: readonly Group[];
  /** From which position on records may have no seal; undefined: all of them have one. */
  readonly unsealed: Position | undefined;
  /** Called with the position up to which records are sealed, once that is durable. */
  sealedUpTo(position: Position | 'none'): void;
  /** The order of transactions. */
  readonly sequence: Sequence;
  /**
   * Closes the files and opens them again, as the library requires after it failed to write a meta page. Until that
   * succeeds, every other method but `close` fails as `unavailable`. Fails as `damaged` when revision `answered` is
   * missing.
   */
  reopen(answered: number): Promise<void>;
  /** Opens the log: the one that the tree names, or a new one of this size and id. Fails as the file system does. */
  openLog(bytes: number, id: Buffer): Promise<Log>;
  /** Resolves when there is space for a transaction that writes at most this many bytes. Fails as the file system does. */
  reserve(bytes: number): Promise<void>;
  /** The size of the data file (bytes). */
  size(): Promise<number>;
  close(): Promise<void>;
}

const dataFile = 'data.mdb';
const fileNames = [dataFile, 'lock.mdb', logFile];

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
      await files.loadTail();
    } catch (error) {
      await files.close();
      throw error;
    }
    return files;
  } catch (error) {
    throw failure(path, error);
  }
}

class Files implements Environment {
  readonly path: string;
  readonly records: Tables['records'];
  readonly heads: Tables['heads'];
  readonly long: Tables['long'];
  readonly leases: Tables['leases'];
  readonly all: Tables['all'];
  readonly sequence: Sequence;
  readonly #mapSize: number;
  readonly #released: () => void;
  #root: RootDatabase<Buffer, Buffer> | undefined;
  #space: Space | undefined;
  #treeState = emptyState;
  #mark: LogMark | undefined;
  #logged: readonly LoggedGroup[] = [];
  #tail: readonly Group[] = [];
  #unsealed: Position | undefined;

  constructor(path: string, mapSize: number, released: () => void) {
    this.path = path;
    this.sequence = new Sequence(path);
    const tables = tablesOf(path, this.mayLackSeals);
    ({ records: this.records, heads: this.heads, long: this.long, leases: this.leases, all: this.all } = tables);
    this.#mapSize = mapSize;
    this.#released = released;
  }

  get root(): RootDatabase<Buffer, Buffer> {
    if (this.#root === undefined) throw notOpen(this.path);
    return this.#root;
  }

  get state(): State {
    return this.#tail.at(-1)?.state ?? this.#treeState;
  }

  get treeState(): State {
    return this.#treeState;
  }

  get mark(): LogMark | undefined {
    return this.#mark;
  }

  get tail(): readonly Group[] {
    return this.#tail;
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
      for (const name of fileNames) {
        if (existsSync(join(this.path, name))) restrict(join(this.path, name), 0o600);
      }
      claim(root, this.path, 0);
      prepareFormat(root, this.path);
      for (const table of this.all) table.open(root);
      this.sequence.open(root);
      const found = root.get(stateKey);
      claim(root, this.path, 1);
      const state = found === undefined ? emptyState : decodeState(found, root.get(marksKey));
      if (state === undefined) throw damaged(this.path, 'its state does not match its checksum');
      this.#unsealed = unsealedFrom(root);
      this.#mark = markFrom(root);
      if (state.latest < answered) throw lost(this.path, answered, state.latest);
      this.#space = await Space.open(join(this.path, dataFile));
      // A mark that was written by a process that has ended may not be on disk, and frees space of the log.
      if (this.#mark !== undefined) await this.#space.sync();
      this.#treeState = state;
    } catch (error) {
      await this.#closeRoot();
      throw failure(this.path, error);
    }
  }

  /** Must be called once, when the files have been opened for the first time. */
  async loadTail(): Promise<void> {
    if (this.#mark === undefined) return;
    const logged = await readTail(this.path, this.#mark);
    if (logged === undefined) throw lostGroup(this.path, this.#mark);
    this.#logged = logged;
    this.#tail = decodeGroups(this.path, logged, this.#treeState);
    stageGroups(this, this.#tail);
  }

  async openLog(bytes: number, id: Buffer): Promise<Log> {
    const log = await (this.#mark === undefined
      ? Log.create(this.path, bytes, id)
      : Log.resume(this.path, this.#mark, this.#logged));
    restrict(join(this.path, logFile), 0o600);
    return log;
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

  async #closeRoot(): Promise<void> {
    const root = this.#root;
    const space = this.#space;
    [this.#root, this.#space] = [undefined, undefined];
    for (const table of this.all) table.close();
    await space?.close();
    await root?.close();
    this.sequence.close();
  }
}

/** Throws when opening the files would crash the library and the process with it. */
function checkFiles(path: string): void {
  accessSync(path, constants.W_OK);
  for (const name of fileNames) if (existsSync(join(path, name))) accessSync(join(path, name), constants.W_OK);
  const data = join(path, dataFile);
  if (existsSync(data)) checkDataFile(data);
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
