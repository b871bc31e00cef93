import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { copyLmdbStore, StoreError } from '../store/index.ts';
import { syncFolder, writePrivate } from './files.ts';
import { defaultSettings } from './flags.ts';
import { variableOf } from './settings.ts';
import { StartError, systemReason } from './start-error.ts';

const usage = `orch backup [--data-dir=<folder>] DIR

Copies the data directory of a server, which may be running, into DIR: the objects as they were at one revision, and the
certificates and keys. DIR must be empty or not exist. What is copied has reached the disk and is for its owner alone.

To restore it, start a server on it, or on a copy of it: orch serve --data-dir=DIR

  --data-dir=<folder>   the data directory of the server (${variableOf('data-dir')}; ${defaultSettings.dataDir})
`;

/** What has been copied. */
interface Backup {
  readonly files: readonly string[];
  readonly bytes: number;
  readonly revision: number;
}

/** Runs `orch backup`. Exit status 2 for invalid arguments, 1 when the backup fails. */
export async function backup(args: readonly string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(usage);
    return;
  }
  const places = parseArguments(args);
  if (typeof places === 'string') {
    process.stderr.write(`orch: ${places}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const { from, to } = places;
  try {
    const { files, bytes, revision } = await copyDataDirectory(from, to);
    process.stdout.write(`${from} is copied to ${to}: revision ${revision}, ${bytes} bytes (${files.join(', ')})
restore: orch serve --data-dir=${JSON.stringify(to)}
`);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`orch: ${error.message}\n`);
    process.exitCode = 1;
  }
}

/** The source and the target directory, or the error of the command line. */
function parseArguments(args: readonly string[]): { readonly from: string; readonly to: string } | string {
  const name = '--data-dir';
  let from = process.env[variableOf('data-dir')] || defaultSettings.dataDir;
  const rest: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (arg === name) from = args[++i] ?? '';
    else if (arg.startsWith(`${name}=`)) from = arg.slice(name.length + 1);
    else if (arg.startsWith('-')) return `unknown flag ${JSON.stringify(arg)}`;
    else rest.push(arg);
  }
  if (from === '') return `${name} needs a value: ${name}=<folder>`;
  const [to] = rest;
  if (to === undefined || to === '' || rest.length > 1) return 'backup needs one directory to copy to';
  return { from, to };
}

/** @throws StartError */
async function copyDataDirectory(from: string, to: string): Promise<Backup> {
  const made = ensureEmptyFolder(to);
  try {
    // Renamed when complete: no server opens a partial store.
    const partial = join(to, 'store.partial');
    const { revision, bytes } = await copyLmdbStore(join(from, 'store'), partial);
    const files = readdirSync(from).filter((name) => !name.endsWith('.tmp') && statSync(join(from, name)).isFile());
    for (const name of files) await writePrivate(join(to, name), readFileSync(join(from, name), 'utf8'));
    renameSync(partial, join(to, 'store'));
    await syncFolder(to);
    return { files: ['store', ...files], bytes, revision };
  } catch (error) {
    for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true, force: true });
    if (made) rmSync(to, { recursive: true, force: true });
    if (error instanceof StoreError) throw new StartError(error.message, error);
    throw new StartError(`${from} cannot be copied to ${to}: ${systemReason(error)}`, error);
  }
}

/** Creates the folder, or checks that it is empty. Returns whether it was created. @throws StartError */
function ensureEmptyFolder(path: string): boolean {
  try {
    const made = mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined;
    if (readdirSync(path).length === 0) return made;
  } catch (error) {
    throw new StartError(`${path} cannot be written: ${systemReason(error)}`, error);
  }
  throw new StartError(`${path} is not empty: choose another directory for the backup`);
}
