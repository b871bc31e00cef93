import { realpathSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { compatibleDomain } from '../../meta/index.ts';
import { parseSettings, runToEnd } from '../commands/run-until-signal.ts';
import { loadServerCommands } from '../commands/server-script.ts';
import { shellWord } from '../commands/shell-word.ts';
import { ensureFolder, readIfExists, writePublic } from '../private-files.ts';
import { defaultsOf, type FlagTable, flag, type LoadedCommand, listOf, type SettingsOf } from '../settings/flag.ts';
import { commandHelp } from '../settings/flag-docs.ts';
import * as type from '../settings/flag-types.ts';
import { StartError, systemReason } from '../start-error.ts';

const flags = {
  binDir: flag('Process', type.file, undefined, 'Folder for the programs; it is created if it is missing.'),
};

const table: FlagTable<SettingsOf<typeof flags>> = {
  list: listOf(flags),
  defaults: defaultsOf(flags),
  problemsOf: ({ binDir }, nameOf) =>
    binDir === undefined ? [`${nameOf('binDir')} must name the folder for the programs`] : [],
};

/** The programs that envtest starts, by name. Each is loaded separately, so that etcd starts fast. */
const programs: { readonly [name: string]: () => Promise<(args: readonly string[]) => Promise<void>> } = {
  'kube-apiserver': async () => loadServerCommands().runApiServer,
  etcd: async () => (await import('./etcd.ts')).runEtcd,
};

const help = (): string =>
  commandHelp(
    'orch envtest --bin-dir=<folder>',
    [
      'Writes the programs kube-apiserver and etcd for envtest of controller-runtime: a server in memory without',
      `controllers, in the API domain ${compatibleDomain}. kube-apiserver also takes the flags of orch serve.`,
    ],
    table.list,
  );

/** Runs `orch envtest`, or a program that it has written. Exit status 2 for invalid arguments, 1 for any other failure. */
async function run(args: readonly string[]): Promise<void> {
  const [first = '', ...rest] = args;
  const program = Object.hasOwn(programs, first) ? programs[first] : undefined;
  if (program !== undefined) {
    const start = await program();
    return start(rest);
  }
  const settings = await parseSettings('envtest', table, args);
  if (settings !== undefined) await runToEnd(() => writePrograms(resolve(settings.binDir ?? '')));
}

const mark = '# Written by "orch envtest"';

/** @throws StartError, also when there is another program of that name */
async function writePrograms(folder: string): Promise<void> {
  const start = [process.execPath, realpathSync(process.argv[1] ?? '')].map(shellWord).join(' ');
  try {
    await ensureFolder(folder);
    for (const name of Object.keys(programs)) {
      const path = join(folder, name);
      if ((await readIfExists(path))?.includes(mark) === false) {
        throw new StartError(`${path} is another program: choose a folder without one, or remove it`);
      }
      await writePublic(path, `#!/bin/sh\n${mark}\nexec ${start} envtest ${name} "$@"\n`);
      await chmod(path, 0o755);
    }
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`--bin-dir=${JSON.stringify(folder)} cannot be written: ${systemReason(error)}`, error);
  }
  process.stdout.write(`export KUBEBUILDER_ASSETS=${shellWord(folder)}\n`);
}

export const envtestCommand: LoadedCommand = { run, help, flags: table.list };
