import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';

/** Makes the folder, and those above it, readable for their owner alone; leaves one that is there as it is. */
export async function ensureFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** The text of a file; undefined when there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
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
  await writeFile(partial, text, { mode, flush: true });
  await rename(partial, path);
}
