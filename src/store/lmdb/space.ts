import { type FileHandle, open } from 'node:fs/promises';
import { usedBytes } from './data-file.ts';

/** How much the file grows at a time: several small transactions (bytes). */
const chunk = Buffer.alloc(1024 * 1024);

/**
 * Space on disk for what the library writes: a write of it that fails for lack of space may corrupt the memory of the
 * process. The file is therefore made longer before, by zeros in the place of pages that are not used yet.
 */
export class Space {
  readonly #path: string;
  readonly #file: FileHandle;
  /** How many bytes can be written before the file has to be looked at. */
  #left = 0;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** `path`: that of the data file, which exists. */
  static async open(path: string): Promise<Space> {
    return new Space(path, await open(path, 'r+'));
  }

  /** Resolves when a transaction that writes so many bytes at most has space. Fails with the error of the file system. */
  async reserve(bytes: number): Promise<void> {
    this.#left -= bytes;
    if (this.#left < 0) this.#left = await this.#grow(bytes);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /** What is left besides `bytes`. */
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
