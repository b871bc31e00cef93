import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { loadLmdb } from '../optional-package.ts';
import { checkDataFile } from './data-file.ts';
import { checkPresent } from './environment.ts';
import { foreignFile, noStore } from './failure.ts';
import { formatOf, refuseImport } from './format.ts';

const mapSize = 1024 ** 3;

/** Opens the files of a store for reading, which another process may be writing. Fails as `unavailable` or `damaged`. */
export async function openReadOnly(path: string): Promise<RootDatabase<Buffer, Buffer>> {
  const file = join(path, 'data.mdb');
  checkPresent(path);
  if (!existsSync(file)) throw noStore(path);
  checkDataFile(file);
  const { open } = await loadLmdb();
  const root = open<Buffer, Buffer>({
    path,
    mapSize,
    readOnly: true,
    noSubdir: false,
    encoding: 'binary',
    keyEncoding: 'binary',
  });
  try {
    if (formatOf(root, path) === undefined) throw foreignFile(path);
    refuseImport(root, path);
    return root;
  } catch (error) {
    await root.close();
    throw error;
  }
}
