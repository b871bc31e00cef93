import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { copyLmdbStore, StoreError } from '../store/index.ts';
import { syncFolder, writePrivate } from './files.ts';
import { defaultSettings, variableOf } from './flags.ts';
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

/** Makes a backup and says what is in it. Exit status 2 for a command line that makes no sense, 1 when there is no backup. */
export async function backup(args: readonly string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(usage);
    return;
  }
  const places = readPlaces(args);
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

/** Where to copy from and to, or what is wrong with the command line. */
function readPlaces(args: readonly string[]): { readonly from: string; readonly to: string } | string {
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
  const made = claimFolder(to);
  try {
    // Until it is whole it has a name that no server reads.
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

/** Makes the folder unless it is there and empty; whether it has been made. @throws StartError */
function claimFolder(path: string): boolean {
  try {
    const made = mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined;
    if (readdirSync(path).length === 0) return made;
  } catch (error) {
    throw new StartError(`${path} cannot be written: ${systemReason(error)}`, error);
  }
  throw new StartError(`${path} is not empty: choose another directory for the backup`);
}
