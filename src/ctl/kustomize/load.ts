/** The files of a kustomization. */
import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { CommandError } from '../errors.ts';
import type { Io } from '../io.ts';
import { readUrl } from '../objects/contents.ts';

/** The most files that one build reads, and how deep kustomizations may refer to others. */
const maxFiles = 10_000;
/** The size of all texts that a build reads, and that patches, replacements and labels copy into objects (bytes, characters). */
const maxSize = 256 * 1024 * 1024;
const maxDepth = 64;

/** The files that a build has read. */
export interface Reading {
  /** Whether files outside of the folder of their kustomization are refused. */
  readonly isRestricted: boolean;
  readonly env: Io['env'];
  readonly signal: AbortSignal;
  files: number;
  size: number;
}

export const isUrl = (path: string): boolean => /^https?:\/\//.test(path);

/** Whether a path that does not exist looks like a git repository. */
const isRepository = (path: string): boolean =>
  /^(?:git::|git@|ssh:|file:)|^(?:www\.)?(?:github|gitlab|bitbucket)\.\w+[/:]|\.git(?:[/?]|$)|[?&](?:ref|version)=/.test(
    path,
  );

const repositoryError = (path: string) =>
  new CommandError(`${JSON.stringify(path)} is a git repository: clone it, and name its folder instead`);

/** A folder with a kustomization. */
export class Folder {
  /** The absolute path, without symbolic links. */
  readonly path: string;
  readonly #reading: Reading;
  /** The folder whose kustomization refers to this one. */
  readonly #parent: Folder | undefined;

  private constructor(path: string, reading: Reading, parent: Folder | undefined) {
    this.path = path;
    this.#reading = reading;
    this.#parent = parent;
  }

  /** The folder that a build begins with. @throws CommandError */
  static async open(path: string, base: string, reading: Reading): Promise<Folder> {
    if (isUrl(path) || isRepository(path)) throw repositoryError(path);
    return new Folder(await folderAt(resolve(base, path), path), reading, undefined);
  }

  /** A folder that the kustomization of this one refers to. @throws CommandError */
  async enter(path: string): Promise<Folder> {
    if (isAbsolute(path)) throw new CommandError(`the folder ${JSON.stringify(path)} must be a relative path`);
    const child = await folderAt(join(this.path, path), path);
    let depth = 0;
    for (let folder: Folder | undefined = this; folder !== undefined; folder = folder.#parent) {
      if (isWithin(folder.path, child)) {
        throw new CommandError(
          `cycle detected: the folder ${JSON.stringify(path)} of ${this.path} contains the kustomization of ${folder.path}, which refers to it`,
        );
      }
      if (++depth > maxDepth)
        throw new CommandError(`kustomizations refer to each other more than ${maxDepth} levels deep`);
    }
    return new Folder(child, this.#reading, this);
  }

  /** Whether a path of this kustomization is a folder, a file or a URL. @throws CommandError when there is none */
  async kindOf(path: string): Promise<'folder' | 'file'> {
    if (isUrl(path)) return 'file';
    const found = await stat(resolve(this.path, path)).catch(() => undefined);
    if (found !== undefined) return found.isDirectory() ? 'folder' : 'file';
    if (isRepository(path)) throw repositoryError(path);
    throw new CommandError(`${JSON.stringify(path)} does not exist in ${this.path}`);
  }

  /** Whether a file exists right in this folder. */
  async has(name: string): Promise<boolean> {
    const found = await stat(join(this.path, name)).catch(() => undefined);
    return found?.isFile() === true;
  }

  /** Reads a file, which must be in this folder or below, or a URL. @throws CommandError */
  async read(path: string): Promise<Buffer> {
    const reading = this.#reading;
    if (++reading.files > maxFiles) throw new CommandError(`the kustomization reads more than ${maxFiles} files`);
    return isUrl(path) ? this.#readUrl(path) : this.#readFile(path);
  }

  /** Counts text that is read or copied against the limit of the build. @throws CommandError beyond it */
  charge(size: number): void {
    this.#reading.size += size;
    if (this.#reading.size <= maxSize) return;
    throw new CommandError(`the kustomization reads and copies more than ${maxSize / 1024 / 1024} MiB`);
  }

  async #readUrl(url: string): Promise<Buffer> {
    const text = await readUrl(url, this.#reading).catch((error: unknown) => {
      throw isRepository(url) ? repositoryError(url) : error;
    });
    this.charge(text.length);
    return Buffer.from(text);
  }

  async #readFile(path: string): Promise<Buffer> {
    const full = await realpath(resolve(this.path, path)).catch((cause: unknown) => {
      throw new CommandError(`${JSON.stringify(path)} does not exist in ${this.path}`, { cause });
    });
    if (this.#reading.isRestricted && !isWithin(full, this.path)) {
      throw new CommandError(
        `security; file '${resolve(this.path, path)}' is not in or below '${this.path}': --load-restrictor=LoadRestrictionsNone of 'ctl kustomize' allows it`,
      );
    }
    const found = await stat(full);
    if (!found.isFile()) throw new CommandError(`${JSON.stringify(path)} in ${this.path} must be a file`);
    this.charge(found.size);
    return readFile(full);
  }
}

async function folderAt(full: string, path: string): Promise<string> {
  const real = await realpath(full).catch(() => undefined);
  const found = real === undefined ? undefined : await stat(real);
  if (real === undefined) throw new CommandError(`the folder ${JSON.stringify(path)} does not exist`);
  if (found?.isDirectory() !== true)
    throw new CommandError(`${JSON.stringify(path)} must be a folder with a kustomization`);
  return real;
}

/** Whether a path is a folder or something below it. Both are absolute and without symbolic links. */
function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
