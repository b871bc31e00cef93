import type { LoadedCommand } from '../settings/flag.ts';

/** A command of `orch`. */
export interface Command {
  readonly name: string;
  /** Usage, for the list of commands. */
  readonly call: string;
  readonly summary: string;
  /** Loads the modules of the command on demand, so that help and version are fast. */
  readonly load: () => Promise<LoadedCommand>;
}

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
      const run = async (args: readonly string[]) => (await import('./serve.ts')).serve(args);
      return { run, help: helpText, flags: flagList };
    },
  },
  {
    name: 'demo',
    call: 'demo [flags]',
    summary: 'serve example objects in memory, to try kubectl',
    load: async () => (await import('./demo-command.ts')).demoCommand,
  },
  {
    name: 'controllers',
    call: 'controllers [flags]',
    summary: 'run the controllers for a server',
    load: async () => {
      const [{ managerHelp }, { managerTable }] = await Promise.all([
        import('../settings/flag-docs.ts'),
        import('../settings/manager-flags.ts'),
      ]);
      const run = async (args: readonly string[]) => (await import('./controllers-command.ts')).controllers(args);
      return { run, help: managerHelp, flags: managerTable.list };
    },
  },
  {
    name: 'kubeconfig',
    call: 'kubeconfig --user=NAME [flags]',
    summary: 'issue a client certificate for a user, with a kubeconfig',
    load: async () => (await import('./kubeconfig-command.ts')).kubeconfigCommand,
  },
  {
    name: 'backup',
    call: 'backup [flags] FILE',
    summary: 'back up the data directory of a server, also while it runs',
    load: async () => (await import('../maintenance/backup.ts')).backupCommand,
  },
  {
    name: 'restore',
    call: 'restore [flags] FILE',
    summary: 'restore a data directory from a backup',
    load: async () => (await import('../maintenance/restore.ts')).restoreCommand,
  },
  {
    name: 'check',
    call: 'check [flags] [FILE]',
    summary: 'verify a store or a backup, also while servers run',
    load: async () => (await import('../maintenance/check.ts')).checkCommand,
  },
  {
    name: 'migrate',
    call: 'migrate [flags]',
    summary: 'copy all objects from one store to another',
    load: async () => (await import('../maintenance/migrate.ts')).migrateCommand,
  },
  {
    name: 'rewrite',
    call: 'rewrite [flags]',
    summary: 'encrypt all stored values with the current configuration',
    load: async () => (await import('../maintenance/rewrite.ts')).rewriteCommand,
  },
  {
    name: 'envtest',
    call: 'envtest --bin-dir=DIR',
    summary: 'write the programs that envtest of controller-runtime starts',
    load: async () => (await import('../envtest/command.ts')).envtestCommand,
  },
  {
    name: 'generate',
    call: 'generate types [flags]',
    summary: 'generate TypeScript types of custom resources',
    load: async () => (await import('./generate.ts')).generateCommand,
  },
  {
    name: 'convert',
    call: 'convert -f FILE [flags]',
    summary: 'convert manifests to another version',
    load: async () => (await import('./convert.ts')).convertCommand,
  },
];
