import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type ByteString, bufferOf, type Clock } from '../meta/index.ts';

export interface RotationOptions {
  /** The size from which a file is rotated (bytes). */
  readonly maxSize: number;
  /** How many rotated files are kept; 0: all. */
  readonly maxBackups: number;
  /** How long rotated files are kept (ms); 0: for ever. */
  readonly maxAge: number;
  /** Compresses rotated files with gzip. */
  readonly compress: boolean;
}

export interface FileDependencies {
  readonly clock: Pick<Clock, 'now'>;
  /** Rotated files cannot be compressed or removed. */
  readonly failed: (error: unknown) => void;
}

/**
 * A file of lines that is rotated by size. A rotated file has the time of its rotation in its name, such as
 * `audit-2024-01-31T23-59-59.000.log`. Files have mode 0600. Calls must not overlap.
 */
export class RotatingFile {
  readonly #path: string;
  readonly #options: RotationOptions;
  readonly #dependencies: FileDependencies;
  #file: FileHandle | undefined;
  #size = 0;
  /** The file does not end with a line feed: a write failed, or the process ended during one. */
  #torn = false;
  /** The time in the name of the last rotated file (ms): names follow the order of rotation. */
  #rotatedAt = 0;
  #tidying: Promise<void> = Promise.resolve();

  constructor(path: string, options: RotationOptions, dependencies: FileDependencies) {
    this.#path = path;
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Opens the file, and creates it and its folder where they are missing. */
  async open(): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const file = await open(this.#path, 'a+', 0o600);
    this.#file = file;
    this.#size = (await file.stat()).size;
    this.#torn = this.#size > 0 && (await lastByte(file, this.#size)) !== lineFeed;
  }

  /** Appends lines. After a failure the next call opens the file again. */
  async append(lines: readonly ByteString[]): Promise<void> {
    try {
      if (this.#file === undefined) await this.open();
      let text = '';
      for (const line of lines) {
        const size = this.#size + text.length;
        if (size > 0 && size + line.length + 1 > this.#options.maxSize) {
          await this.#write(text);
          text = '';
          await this.#rotate();
        }
        text += `${line}\n`;
      }
      await this.#write(text);
    } catch (error) {
      await this.#closeFile().catch(() => {});
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#closeFile();
    await this.#tidying;
  }

  async #write(lines: string): Promise<void> {
    if (lines === '') return;
    const bytes = bufferOf((this.#torn ? `\n${lines}` : lines) as ByteString);
    await this.#file?.writeFile(bytes);
    this.#torn = false;
    this.#size += bytes.length;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #rotate(): Promise<void> {
    await this.#closeFile();
    await rename(this.#path, await this.#backupPath());
    await this.open();
    this.#tidying = this.#tidying.then(() => this.#tidy()).catch(this.#dependencies.failed);
  }

  /** A name that no rotated file has or had, with the current time or one shortly after. */
  async #backupPath(): Promise<string> {
    const { prefix, extension } = this.#parts();
    const taken = new Set(await readdir(dirname(this.#path)));
    for (let ms = Math.max(this.#dependencies.clock.now(), this.#rotatedAt + 1); ; ms++) {
      const name = `${prefix}${new Date(ms).toISOString().slice(0, 23).replaceAll(':', '-')}${extension}`;
      if (taken.has(name) || taken.has(`${name}.gz`)) continue;
      this.#rotatedAt = ms;
      return join(dirname(this.#path), name);
    }
  }

  #parts() {
    const extension = extname(this.#path);
    return { prefix: `${basename(this.#path, extension)}-`, extension };
  }

  /** Removes rotated files that are too many or too old, and compresses the others. */
  async #tidy(): Promise<void> {
    const { maxBackups, maxAge, compress } = this.#options;
    const folder = dirname(this.#path);
    const backups = await this.#backups();
    const oldest = maxAge === 0 ? Number.NEGATIVE_INFINITY : this.#dependencies.clock.now() - maxAge;
    const kept = backups.filter(({ time }, i) => time >= oldest && (maxBackups === 0 || i < maxBackups));
    for (const { name } of backups.filter((one) => !kept.includes(one))) {
      for (const file of [name, `${name}.gz`]) await rm(join(folder, file), { force: true });
    }
    if (!compress) return;
    for (const { name } of kept) {
      const path = join(folder, name);
      if ((await stat(path).catch(() => undefined)) === undefined) continue;
      await pipeline(createReadStream(path), createGzip(), createWriteStream(`${path}.gz`, { mode: 0o600 }));
      await rm(path);
    }
  }

  /** The rotated files by their names without `.gz`, the latest first. */
  async #backups(): Promise<{ readonly name: string; readonly time: number }[]> {
    const { prefix, extension } = this.#parts();
    const found = new Map<string, number>();
    for (const file of await readdir(dirname(this.#path))) {
      const name = file.endsWith('.gz') ? file.slice(0, -3) : file;
      if (!name.startsWith(prefix) || !name.endsWith(extension)) continue;
      const text = name.slice(prefix.length, name.length - extension.length);
      const [, date, h, m, s] = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(text) ?? [];
      if (date !== undefined) found.set(name, Date.parse(`${date}T${h}:${m}:${s}Z`));
    }
    return [...found].map(([name, time]) => ({ name, time })).sort((a, b) => b.time - a.time);
  }
}

const lineFeed = 0x0a;

async function lastByte(file: FileHandle, size: number): Promise<number | undefined> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0];
}
