import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DiscoveryRecord } from './discovery.ts';

/** Counts the format of the file: a file of another format is ignored. */
const format = 1;

/** The file of a server below the cache folder. Servers of one address and different authorities have files of their own. */
export function discoveryFile(cacheFolder: string, server: string, authority: string | undefined): string {
  const identity = createHash('sha256')
    .update(`${server}\n${authority ?? ''}`)
    .digest('hex')
    .slice(0, 16);
  const host = new URL(server).host.replaceAll(/[^\w.-]/g, '_');
  return join(cacheFolder, 'orch', `${host}-${identity}.json`);
}

/** Returns undefined when the file is missing, damaged or of another format. */
export async function loadRecord(file: string): Promise<DiscoveryRecord | undefined> {
  try {
    const content = JSON.parse(await readFile(file, 'utf8')) as { format: number; record: DiscoveryRecord };
    return content.format === format ? content.record : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the file in one step. A cache that cannot be written is left out. */
export async function saveRecord(file: string, record: DiscoveryRecord): Promise<void> {
  const temporary = `${file}.${process.pid}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o750 });
    await writeFile(temporary, JSON.stringify({ format, record }), { mode: 0o660 });
    await rename(temporary, file);
  } catch {
    // The next command reads the documents from the server.
    await rm(temporary, { force: true });
  }
}
