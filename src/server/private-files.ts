import { constants } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { shellWord } from './commands/shell-word.ts';
import { StartError } from './start-error.ts';

/** Creates the folder and its parents with mode 0700; does not change an existing folder. */
export async function ensureFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** Reads a file; resolves with undefined when it does not exist. */
export async function readIfExists(path: string): Promise<string | undefined> {
  return ifExists(readFile(path, 'utf8'));
}

/** Like `readIfExists`, for a file with secrets that only its owner may read. @throws StartError */
export async function readPrivate(path: string): Promise<string | undefined> {
  const text = await readIfExists(path);
  const problem = text === undefined ? undefined : await permissionProblem(path, 0o077);
  // Others may have copied an exposed key: it is rejected, and its mode is not changed.
  if (problem !== undefined) throw new StartError(`${path} ${problem}`);
  return text;
}

/** The problem of a file with secrets that grants one of the permissions; undefined when it grants none. */
export async function permissionProblem(path: string, permissions: number): Promise<string | undefined> {
  // Windows has no such modes.
  if (process.platform === 'win32') return undefined;
  const { mode } = await stat(path);
  // A pipe or a device, such as that of process substitution in a shell, is private to its creator.
  if ((mode & constants.S_IFMT) !== constants.S_IFREG || (mode & permissions) === 0) return undefined;
  const octalMode = (mode & 0o777).toString(8).padStart(4, '0');
  return `is secret, and open to others (mode ${octalMode}): chmod 600 ${shellWord(path)}`;
}

async function ifExists<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces the file atomically and durably, with mode 0600. */
export async function writePrivate(path: string, content: string | Uint8Array): Promise<void> {
  await writeWhole(path, content, 0o600);
}

/** Like `writePrivate`, with mode 0644. */
export async function writePublic(path: string, text: string): Promise<void> {
  await writeWhole(path, text, 0o644);
}

async function writeWhole(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const partial = `${path}.${process.pid}.tmp`;
  // Removes an existing file or link of this name instead of writing into it.
  await rm(partial, { force: true });
  const file = await open(partial, 'wx', mode);
  try {
    // The umask may have removed permissions.
    await file.chmod(mode);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, path);
}

/** Makes the directory entries of the folder durable (fsync). */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
