/** Where a server keeps its files when no `--data-dir` names a folder. */
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '../start-error.ts';

/** The folder with the data directories of all domains; one of an earlier version is itself a data directory. */
const dataRoot = './orch-data';

/** Whether a server has kept its files in a folder. */
const isDataDir = (folder: string): boolean => ['store', 'ca.crt'].some((name) => existsSync(join(folder, name)));

/** The data directory of a domain. */
export const dataDirOf = (domain: string): string => (isDataDir(dataRoot) ? dataRoot : `${dataRoot}/${domain}`);

/** A folder for one run of a server, which goes with the process. */
export async function temporaryDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'orch-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The only data directory that there is, for commands that know no domain. @throws StartError */
export async function onlyDataDir(): Promise<string> {
  if (isDataDir(dataRoot)) return dataRoot;
  const names = await readdir(dataRoot).catch(() => []);
  const folders = names.map((name) => `${dataRoot}/${name}`).filter(isDataDir);
  const [only, ...others] = folders;
  if (only === undefined) throw new StartError(`there is no data directory in ${dataRoot}: name it with --data-dir`);
  if (others.length > 0) {
    throw new StartError(
      `${dataRoot} has several data directories: name one with --data-dir=${folders.join(' or --data-dir=')}`,
    );
  }
  return only;
}
