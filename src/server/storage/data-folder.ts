/** The default data directories. */
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '../start-error.ts';

/** The folder of the data directories of all domains. In early versions it was the data directory itself. */
const dataRoot = './orch-data';

/** Whether the folder is the data directory of a server. */
const isDataDir = (folder: string): boolean => ['store', 'ca.crt'].some((name) => existsSync(join(folder, name)));

/** The data directory of a domain. */
export const dataDirOf = (domain: string): string => (isDataDir(dataRoot) ? dataRoot : `${dataRoot}/${domain}`);

/** Creates a temporary folder that is removed when the process exits. */
export async function temporaryDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'orch-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Finds the only data directory, for commands without a domain. @throws StartError */
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
