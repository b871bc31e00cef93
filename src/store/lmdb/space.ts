import { type FileHandle, open } from 'node:fs/promises';
import { usedBytes } from './data-file.ts';

/** The size by which the file grows (bytes): several small transactions. */
const chunk = Buffer.alloc(1024 * 1024);

/**
 * Reserves disk space for writes of the library: a failed write of its own for lack of space may corrupt the memory of the
 * process. The file is therefore extended first, with zeros in place of unused pages.
 */
export class Space {
  readonly #path: string;
  readonly #file: FileHandle;
  /** The number of bytes that can be written before the size of the file must be checked again. */
  #left = 0;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** `path` is the data file, which must exist. */
  static async open(path: string): Promise<Space> {
    return new Space(path, await open(path, 'r+'));
  }

  /** Resolves when there is space for a transaction that writes at most `bytes`. Fails with the error of the file system. */
  async reserve(bytes: number): Promise<void> {
    this.#left -= bytes;
    if (this.#left < 0) this.#left = await this.#grow(bytes);
  }

  /** Resolves when what was written to the file is on disk. */
  async sync(): Promise<void> {
    await this.#file.datasync();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /** Returns the remaining space after `bytes`. */
  async #grow(bytes: number): Promise<number> {
    const file = this.#file;
    const used = usedBytes(file.fd, this.#path);
    let { size } = await file.stat();
    try {
      while (size < used + bytes + chunk.length) size += (await file.write(chunk, 0, chunk.length, size)).bytesWritten;
    } catch (error) {
      if (size < used + bytes) throw error;
    }
    return size - used - bytes;
  }
}
