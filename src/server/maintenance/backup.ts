import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type BackupFile, openLmdbSnapshot, writeBackup } from '../../store/index.ts';
import { systemClock } from '../clock.ts';
import type { Progress } from '../commands/progress.ts';
import { shellWord } from '../commands/shell-word.ts';
import {
  mergeTables,
  parseFileAndSettings,
  type Report,
  reportTable,
  runWithProgress,
  serveFlags,
} from '../commands/store-command.ts';
import type { LoadedCommand } from '../settings/flag.ts';
import { commandHelp } from '../settings/flag-docs.ts';
import { StartError, systemReason } from '../start-error.ts';
import { onlyDataDir } from '../storage/data-folder.ts';

const table = mergeTables(serveFlags('dataDir'), reportTable);

/** Maximum size in bytes of a file in a backup, besides the store: excludes logs. */
const largestFile = 1024 * 1024;

/** The output of `orch backup --help`. */
const backupHelp = (): string =>
  commandHelp(
    'orch backup [flags] FILE',
    [
      'Writes a backup of the data directory of a server, which may be running, to FILE: all objects at one',
      'revision, and the certificates and keys. FILE must not exist. Only its owner has access to it, and it',
      'appears once it is complete and on disk.',
      '',
      'To restore it: orch restore [flags] FILE',
    ],
    table.list,
  );

/** Runs `orch backup`. Exit status 2 for invalid arguments, 1 when the backup fails. */
async function backup(args: readonly string[]): Promise<void> {
  const invocation = await parseFileAndSettings('backup', table, args);
  if (invocation === undefined) return;
  const { file, settings } = invocation;
  await runWithProgress(settings, async (progress) =>
    backUp(settings.dataDir ?? (await onlyDataDir()), file, progress),
  );
}

/** @throws StartError or StoreError */
async function backUp(dataDir: string, path: string, progress: Progress): Promise<Report> {
  const snapshot = await openLmdbSnapshot(join(dataDir, 'store'));
  try {
    const { files, tooLarge } = await filesOf(dataDir);
    if (tooLarge.length > 0) progress.say(`left out, as larger than 1 MiB: ${tooLarge.join(', ')}`);
    const show = (entries: number) => progress.show('backup', entries, snapshot.size);
    show(0);
    const createdAt = new Date(systemClock.now());
    const { entries, bytes } = await writeBackup({ path, snapshot, files, made: createdAt, progress: show });
    progress.show('backup', entries, entries);
    const { revision } = snapshot;
    const names = files.map(({ name }) => name);
    return {
      text: `${dataDir} is backed up to ${path}: revision ${revision}, ${entries} objects, ${bytes} bytes (${names.join(', ')})
restore: orch restore --data-dir=${shellWord(dataDir)} ${shellWord(path)}
`,
      json: { file: path, dataDir, made: createdAt.toISOString(), revision, entries, bytes, files: names, tooLarge },
    };
  } finally {
    await snapshot.close();
  }
}

/** Reads the files besides the store, without temporary ones. @throws StartError */
async function filesOf(dataDir: string): Promise<{ files: BackupFile[]; tooLarge: string[] }> {
  const [files, tooLarge]: [BackupFile[], string[]] = [[], []];
  try {
    for (const name of (await readdir(dataDir)).toSorted()) {
      const status = await stat(join(dataDir, name));
      if (!status.isFile() || name.endsWith('.tmp')) continue;
      if (status.size > largestFile) tooLarge.push(name);
      else files.push({ name, content: await readFile(join(dataDir, name)) });
    }
  } catch (error) {
    throw new StartError(`${dataDir} cannot be read: ${systemReason(error)}`, error);
  }
  return { files, tooLarge };
}

export const backupCommand: LoadedCommand = { run: backup, help: backupHelp, flags: table.list };
