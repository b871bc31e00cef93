import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** The latest revision, twice: a reader that sees two different ones has met a write, and reads again. */
const boardBytes = 16;
const unknown = 0;

/**
 * The latest revision of a store in memory that processes share: in the page of a file that has no name. Each process has its
 * own descriptor. A read takes a few microseconds and does not wake the process that writes.
 */
export class RevisionBoard {
  readonly descriptor: number;
  readonly #bytes = Buffer.alloc(boardBytes);

  constructor(descriptor: number) {
    this.descriptor = descriptor;
  }

  /** Creates a board without a revision, by way of a file in this folder. Throws as the file system does. */
  static create(folder: string): RevisionBoard {
    const path = join(folder, `revision-${process.pid}`);
    rmSync(path, { force: true });
    const board = new RevisionBoard(openSync(path, 'wx+', 0o600));
    rmSync(path);
    board.clear();
    return board;
  }

  write(revision: number): void {
    this.#bytes.writeDoubleLE(revision, 0);
    this.#bytes.writeDoubleLE(revision, boardBytes / 2);
    writeSync(this.descriptor, this.#bytes, 0, boardBytes, 0);
  }

  /** From now on the revision is unknown. */
  clear(): void {
    this.write(unknown);
  }

  /** The latest revision; undefined while it is unknown. */
  read(): number | undefined {
    for (;;) {
      readSync(this.descriptor, this.#bytes, 0, boardBytes, 0);
      const revision = this.#bytes.readDoubleLE(0);
      if (revision === this.#bytes.readDoubleLE(boardBytes / 2)) return revision === unknown ? undefined : revision;
    }
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
