import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { platformHas } from '../../../test/support/requirements.ts';

/** Whether this platform lets a test do it. */
export const canFailMetaWrites = platformHas(
  process.platform === 'linux',
  'run on Linux to make writes of the store fail',
);

/**
 * Lets the next transaction on this file fail where its outcome is not known: the library writes the pages of its data
 * through one descriptor and its meta pages through another, which can only read from now on.
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

/** Makes the descriptor one that reads the file. A new descriptor has the lowest number that is free. */
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
