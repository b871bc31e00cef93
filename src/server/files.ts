import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { StartError } from './start-error.ts';

/** Makes the folder, and those above it, readable for their owner alone; leaves one that is there as it is. */
export async function ensureFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** The text of a file; undefined when there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  return ifThere(readFile(path, 'utf8'));
}

/** The same for a file that holds a secret: nobody but its owner has a right to it from now on. @throws StartError */
export async function readPrivate(path: string): Promise<string | undefined> {
  const found = await ifThere(stat(path));
  if (found === undefined) return undefined;
  if ((found.mode & 0o177) !== 0) {
    try {
      await chmod(path, found.mode & 0o600);
    } catch (error) {
      const fix = 'make this user its owner, or take the rights of others away';
      throw new StartError(`${path} is open to others and belongs to another user: ${fix}`, error);
    }
  }
  return readFile(path, 'utf8');
}

async function ifThere<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Puts the text into the file at once and durably: readers see the old file or the new one. Its owner alone may read it. */
export async function writePrivate(path: string, text: string): Promise<void> {
  await writeWhole(path, text, 0o600);
}

/** The same for a file that everyone may read. */
export async function writePublic(path: string, text: string): Promise<void> {
  await writeWhole(path, text, 0o644);
}

async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const partial = `${path}.${process.pid}.tmp`;
  // What is there under this name, whoever put it there, is not written into.
  await rm(partial, { force: true });
  const file = await open(partial, 'wx', mode);
  try {
    // The umask may have taken rights away.
    await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, path);
}

/** The names in the folder have reached the disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
