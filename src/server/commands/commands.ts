import type { CommandDocs, LoadedCommand } from '../settings/flag.ts';
import { loadServerCommands } from './server-script.ts';

/** A command of `orch`. */
export interface Command {
  readonly name: string;
  /** Usage, for the list of commands. */
  readonly call: string;
  readonly summary: string;
  /** Loads its documentation on demand, so that help and version are fast. */
  readonly load: () => Promise<CommandDocs>;
  /** Loads and runs it. */
  readonly run: (args: readonly string[]) => Promise<void>;
}

/** A command whose module has its documentation too. */
const fromModule = (load: () => Promise<LoadedCommand>): Pick<Command, 'load' | 'run'> => ({
  load,
  run: async (args) => (await load()).run(args),
});

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  {
    name: 'serve',
    call: 'serve [flags]',
    summary: 'serve the API',
    load: async () => {
      const [{ helpText }, { flagList }] = await Promise.all([
        import('../settings/flag-docs.ts'),
        import('../settings/flags.ts'),
      ]);
      return { help: helpText, flags: flagList };
    },
    run: (args) => loadServerCommands().serve(args),
  },
  {
    name: 'demo',
    call: 'demo [flags]',
    summary: 'serve example objects in memory, to try kubectl',
    load: async () => (await import('./demo-docs.ts')).demoDocs,
    run: (args) => loadServerCommands().demo(args),
  },
  {
    name: 'controllers',
    call: 'controllers [flags]',
    summary: 'run the controllers for a server',
    ...fromModule(async () => {
      const [{ managerHelp }, { managerTable }] = await Promise.all([
        import('../settings/flag-docs.ts'),
        import('../settings/manager-flags.ts'),
      ]);
      const run = async (args: readonly string[]) => (await import('./controllers-command.ts')).controllers(args);
      return { run, help: managerHelp, flags: managerTable.list };
    }),
  },
  {
    name: 'kubeconfig',
    call: 'kubeconfig --user=NAME [flags]',
    summary: 'issue a client certificate for a user, with a kubeconfig',
    ...fromModule(async () => (await import('./kubeconfig-command.ts')).kubeconfigCommand),
  },
  {
    name: 'backup',
    call: 'backup [flags] FILE',
    summary: 'back up the data directory of a server, also while it runs',
    ...fromModule(async () => (await import('../maintenance/backup.ts')).backupCommand),
  },
  {
    name: 'restore',
    call: 'restore [flags] FILE',
    summary: 'restore a data directory from a backup',
    ...fromModule(async () => (await import('../maintenance/restore.ts')).restoreCommand),
  },
  {
    name: 'check',
    call: 'check [flags] [FILE]',
    summary: 'verify a store or a backup, also while servers run',
    ...fromModule(async () => (await import('../maintenance/check.ts')).checkCommand),
  },
  {
    name: 'migrate',
    call: 'migrate [flags]',
    summary: 'copy all objects from one store to another',
    ...fromModule(async () => (await import('../maintenance/migrate.ts')).migrateCommand),
  },
  {
    name: 'rewrite',
    call: 'rewrite [flags]',
    summary: 'encrypt all stored values with the current configuration',
    ...fromModule(async () => (await import('../maintenance/rewrite.ts')).rewriteCommand),
  },
  {
    name: 'envtest',
    call: 'envtest --bin-dir=DIR',
    summary: 'write the programs that envtest of controller-runtime starts',
    ...fromModule(async () => (await import('../envtest/command.ts')).envtestCommand),
  },
  {
    name: 'generate',
    call: 'generate types [flags]',
    summary: 'generate TypeScript types of custom resources',
    ...fromModule(async () => (await import('./generate.ts')).generateCommand),
  },
  {
    name: 'convert',
    call: 'convert -f FILE [flags]',
    summary: 'convert manifests to another version',
    ...fromModule(async () => (await import('./convert.ts')).convertCommand),
  },
];
