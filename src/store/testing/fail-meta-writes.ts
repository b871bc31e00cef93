import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { platformHas } from '../../../test/support/requirements.ts';

/** Whether this platform lets a test do it. */
export const canFailMetaWrites = platformHas(
  process.platform === 'linux',
  'run on Linux to make writes of the store fail',
);

/**
 * Makes the next transaction on this file fail with an unknown outcome: the library writes data pages through one
 * descriptor and meta pages through another, which this replaces by a read-only one.
 */
export function failMetaWrites(file: string): void {
  for (const descriptor of readdirSync('/proc/self/fd')) {
    if (!leadsTo(descriptor, file)) continue;
    const flags = /flags:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1] ?? '';
    const synchronous = (Number.parseInt(flags, 8) & 0o10000) !== 0;
    if (!synchronous) continue;
    replace(Number(descriptor), file);
    return;
  }
  throw new Error(`no descriptor writes meta pages of ${file}`);
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
