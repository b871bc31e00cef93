import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { platformHas } from '../../../test/support/requirements.ts';

/** Whether this platform lets a test do it. */
export const canFailSyncWrites = platformHas(
  process.platform === 'linux',
  'run on Linux to make writes of the store fail',
);

/**
 * Makes the next synchronous write to this file fail, by replacing its descriptor by a read-only one. The library writes the
 * meta pages of the data file that way, so a transaction on it fails with an unknown outcome; so is every write to the log.
 */
export function failSyncWrites(file: string): void {
  for (const descriptor of readdirSync('/proc/self/fd')) {
    if (!leadsTo(descriptor, file)) continue;
    const flags = /flags:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1] ?? '';
    const synchronous = (Number.parseInt(flags, 8) & 0o10000) !== 0;
    if (!synchronous) continue;
    replace(Number(descriptor), file);
    return;
  }
  throw new Error(`no descriptor writes synchronously to ${file}`);
}

/** Replaces the descriptor by a read-only one of the file. A new descriptor gets the lowest free number. */
function replace(descriptor: number, file: string): void {
  const below: number[] = [];
  for (let opened = openSync(file, 'r'); ; opened = openSync(file, 'r')) {
    below.push(opened);
    if (opened > descriptor) break;
  }
  closeSync(descriptor);
  const opened = openSync(file, 'r');
  for (const each of below) closeSync(each);
  if (opened !== descriptor) throw new Error(`descriptor ${descriptor} has not been replaced`);
}

function leadsTo(descriptor: string, file: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`) === file;
  } catch {
    return false;
  }
}
