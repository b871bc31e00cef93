import { constants, existsSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { sync } from '../sync.ts';
import { encodeGroup, groupBytes, type LoggedGroup, logPageBytes, type Payload } from './log-format.ts';
import { type LogMark, logFile } from './tail.ts';

/** The size of a log (bytes), and of what a start reads. */
export const logBytes = 4 * 1024 * 1024;
/** The part of a log that one group may take: larger ones are written to the tree at once. */
const mostOfLog = 1 / 8;
/** Memory that is kept for a group: larger ones are rare (bytes). */
const spaceBytes = 256 * 1024;

/**
 * The log of a store: groups of commits, each durable once its write has returned. Space is preallocated, so a write is one
 * synchronous write of data alone.
 */
export class Log {
  readonly #file: FileHandle;
  readonly #pages: number;
  #id: Buffer;
  #sequence = 0;
  /** Where the next group begins (page). */
  #next = 0;
  /** The groups that are not in the tree, oldest first. */
  #live: Pick<LoggedGroup, 'sequence' | 'page' | 'pages'>[] = [];
  #isUsable = false;
  /** Where groups are encoded, one at a time: new memory for each would be a page fault for each page. */
  readonly #space = Buffer.allocUnsafeSlow(spaceBytes);

  private constructor(file: FileHandle, bytes: number, id: Buffer) {
    this.#file = file;
    this.#pages = bytes / logPageBytes;
    this.#id = id;
  }

  /** Opens the file, and preallocates it when its size differs from `bytes`. It is usable when the tree has its mark. */
  static async create(path: string, bytes: number, id: Buffer): Promise<Log> {
    const name = join(path, logFile);
    if (!existsSync(name) || statSync(name).size !== bytes) await preallocate(path, bytes);
    return new Log(await openSynchronous(name), bytes, id);
  }

  /** Opens the log that a process has left, with the groups that are not in the tree, and makes them durable. */
  static async resume(path: string, { id, sequence }: LogMark, tail: readonly LoggedGroup[]): Promise<Log> {
    const file = await openSynchronous(join(path, logFile));
    await file.datasync();
    const log = new Log(file, Math.floor((await file.stat()).size / logPageBytes) * logPageBytes, id);
    log.#live = [...tail];
    const last = tail.at(-1);
    log.#sequence = last?.sequence ?? sequence;
    log.#next = last === undefined ? 0 : last.page + last.pages;
    log.#isUsable = true;
    return log;
  }

  /** The mark of a tree that has all groups. */
  get mark(): LogMark {
    return { id: this.#id, sequence: this.#sequence };
  }

  /** Whether groups can be written: the tree names this log, and no write has failed since. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Whether a group is small enough for the log. */
  takes(payload: Payload): boolean {
    return groupBytes(payload) <= this.#pages * logPageBytes * mostOfLog;
  }

  /** Whether there is space for the group now. */
  hasSpace(payload: Payload): boolean {
    return this.#place(groupBytes(payload) / logPageBytes) !== undefined;
  }

  /**
   * Resolves with the sequence of the group when it is durable. There must be space, and no other write. After a failure it
   * is unknown whether the log has the group, and `id` replaces that of the log, which the tree must have before more is
   * written.
   */
  async write(payload: Payload, id: () => Buffer): Promise<number> {
    const sequence = this.#sequence + 1;
    const bytes = encodeGroup(this.#id, sequence, payload, this.#space);
    const pages = bytes.length / logPageBytes;
    const page = this.#place(pages);
    if (page === undefined) throw new Error('the log is full');
    try {
      await writeAll(this.#file, bytes, page * logPageBytes);
      if (!isSynchronous) await this.#file.datasync();
    } catch (error) {
      this.#isUsable = false;
      this.#id = id();
      throw error;
    }
    this.#sequence = sequence;
    this.#next = page + pages;
    this.#live.push({ sequence, page, pages });
    return sequence;
  }

  /** Must be called when the synced tree has a mark: frees the space of the groups up to it. */
  release({ id, sequence }: LogMark): void {
    while ((this.#live[0]?.sequence ?? Number.POSITIVE_INFINITY) <= sequence) this.#live.shift();
    if (this.#id.equals(id)) this.#isUsable = true;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /** Where a group of so many pages fits: behind the last one, or at the start of the file. */
  #place(pages: number): number | undefined {
    const oldest = this.#live[0]?.page;
    if (oldest === undefined) return pages <= this.#pages ? 0 : undefined;
    if (this.#next <= oldest) return this.#next + pages <= oldest ? this.#next : undefined;
    if (this.#next + pages <= this.#pages) return this.#next;
    return pages <= oldest ? 0 : undefined;
  }
}

// Elsewhere a synchronous write may stay in the cache of the disk, or does not exist.
const isSynchronous = process.platform === 'linux';

const openSynchronous = (name: string): Promise<FileHandle> =>
  open(name, isSynchronous ? constants.O_RDWR | constants.O_DSYNC : 'r+');

/** Writes zeros, so that later writes need no new blocks. */
async function preallocate(path: string, bytes: number): Promise<void> {
  const name = join(path, logFile);
  const file = await open(name, 'w', 0o600);
  try {
    await writeAll(file, Buffer.alloc(bytes), 0);
    await file.datasync();
  } catch (error) {
    await file.truncate(0);
    throw error;
  } finally {
    await file.close();
  }
  // Windows cannot flush a directory.
  if (process.platform !== 'win32') await sync(path);
}

/** The number of bytes that one call writes may be smaller. */
async function writeAll(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  }
}
