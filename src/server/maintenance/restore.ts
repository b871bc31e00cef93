import { basename, join } from 'node:path';
import { defaultDomain } from '../../meta/index.ts';
import { type Backup, copyStore, openBackup, replaceLmdbStore } from '../../store/index.ts';
import { domainOf } from '../cluster/cluster-identity.ts';
import type { Progress } from '../commands/progress.ts';
import { shellWord } from '../commands/shell-word.ts';
import {
  copyObserver,
  mergeTables,
  parseFileAndSettings,
  type Report,
  reportTable,
  runWithProgress,
  serveFlags,
} from '../commands/store-command.ts';
import { ensureFolder, syncFolder, writePrivate } from '../private-files.ts';
import type { LoadedCommand } from '../settings/flag.ts';
import { defaultsOf, type FlagTable, flag, listOf, type SettingsOf } from '../settings/flag.ts';
import { commandHelp } from '../settings/flag-docs.ts';
import * as type from '../settings/flag-types.ts';
import { StartError, systemReason } from '../start-error.ts';
import { dataDirOf } from '../storage/data-folder.ts';

const ownFlags = {
  replace: flag(
    'Store',
    type.boolean,
    false,
    'Whether to replace an existing store in the data directory, and files of the same names.',
  ),
};
const ownTable: FlagTable<SettingsOf<typeof ownFlags>> = {
  list: listOf(ownFlags),
  defaults: defaultsOf(ownFlags),
  problemsOf: () => [],
};
const table = mergeTables(mergeTables(serveFlags('dataDir'), ownTable), reportTable);

/** The output of `orch restore --help`. */
const restoreHelp = (): string =>
  commandHelp(
    'orch restore [flags] FILE',
    [
      'Restores a data directory from a backup. The backup is verified before anything is written; the store is',
      'verified once it is written, and then put in place atomically. No server may be running on the directory.',
      '',
      'Objects keep their resourceVersions. Clients that watch from an earlier resourceVersion list again.',
    ],
    table.list,
  );

/** Runs `orch restore`. Exit status 2 for invalid arguments, 1 when nothing was restored. */
async function restore(args: readonly string[]): Promise<void> {
  const invocation = await parseFileAndSettings('restore', table, args);
  if (invocation === undefined) return;
  const { file, settings } = invocation;
  await runWithProgress(settings, (progress) => restoreTo(settings, file, progress));
}

/** @throws StartError or StoreError */
async function restoreTo(
  { dataDir: configuredDir, replace: overwrite }: typeof table.defaults,
  path: string,
  progress: Progress,
): Promise<Report> {
  const { files, made: createdAt, entries, snapshot } = await openBackup(path);
  if (files.some(({ name }) => !isFileName(name))) throw new StartError(`${path} is not a backup of a data directory`);
  const dataDir = configuredDir ?? dataDirOf((await domainOf(snapshot)) ?? defaultDomain);
  await writeInto(dataDir, () => ensureFolder(dataDir));
  let digest = '';
  await replaceLmdbStore({
    path: join(dataDir, 'store'),
    overwrite,
    fill: async (to) => {
      ({ digest } = await copyStore(async () => snapshot, to, copyObserver(progress)));
      await writeInto(dataDir, () => writeFiles(dataDir, files));
    },
  });
  const { revision } = snapshot;
  const when = createdAt.toISOString();
  return {
    text: `${path} of ${when} is restored to ${dataDir}: revision ${revision}, ${entries} objects (sha256 ${digest})
serve: orch serve --data-dir=${shellWord(dataDir)}
`,
    json: { file: path, dataDir, made: when, revision, entries, sha256: digest, files: files.map(({ name }) => name) },
  };
}

/** Names that a restore uses itself, and invalid file names. */
const reservedNames = ['store', 'store.new', '', '.', '..'];
const maxNameBytes = 200;

/** Whether a file of a backup may have the name: a path may not. */
const isFileName = (name: string): boolean =>
  name === basename(name) &&
  !name.includes('\0') &&
  Buffer.byteLength(name) <= maxNameBytes &&
  !reservedNames.includes(name);

async function writeFiles(dataDir: string, files: Backup['files']): Promise<void> {
  for (const { name, content } of files) await writePrivate(join(dataDir, name), content);
  await syncFolder(dataDir);
}

/** @throws StartError */
async function writeInto(dataDir: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw new StartError(`${dataDir} cannot be written: ${systemReason(error)}`, error);
  }
}

export const restoreCommand: LoadedCommand = { run: restore, help: restoreHelp, flags: table.list };
