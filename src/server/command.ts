import { helpText, managerHelp } from './flag-docs.ts';
import { didYouMean } from './suggest.ts';
import { version } from './version.ts';

const usage = `orch — a cluster API server

  orch serve [flags]    serve the API; "orch serve --help" lists the flags
  orch controllers      run the controllers for a server; "orch controllers --help" lists the flags
  orch backup FILE      back up the data directory of a server, which may be running; "orch backup --help" tells more
  orch restore FILE     make a data directory of a backup; "orch restore --help" tells more
  orch check [FILE]     verify a store or a backup, also while servers run; "orch check --help" tells more
  orch migrate          copy the objects from one store to another; "orch migrate --help" lists the flags
  orch rewrite          encrypt what is stored by the present configuration; "orch rewrite --help" lists the flags
  orch generate types   write TypeScript types of custom resources; "orch generate --help" lists the flags
  orch --version        print the version
  orch --help           print this
`;

const commands = ['serve', 'controllers', 'backup', 'restore', 'check', 'migrate', 'rewrite', 'generate'];

/** Runs the command. Sets the exit status of the process: 2 for an invalid command line. */
export async function runCommand(args: readonly string[]): Promise<void> {
  const [command = '--help', ...rest] = args;
  if (command === '--help' || command === '-h' || command === 'help') {
    process.stdout.write(usage);
  } else if (command === '--version') {
    process.stdout.write(`orch ${version}\n`);
  } else if (command === 'backup') {
    const { backup, backupHelp } = await import('./backup.ts');
    await runOrHelp(rest, backup, backupHelp);
  } else if (command === 'restore') {
    const { restore, restoreHelp } = await import('./restore.ts');
    await runOrHelp(rest, restore, restoreHelp);
  } else if (command === 'check') {
    const { check, checkHelp } = await import('./check.ts');
    await runOrHelp(rest, check, checkHelp);
  } else if (command === 'migrate') {
    const { migrate, migrateHelp } = await import('./migrate.ts');
    await runOrHelp(rest, migrate, migrateHelp);
  } else if (command === 'rewrite') {
    const { rewrite, rewriteHelp } = await import('./rewrite.ts');
    await runOrHelp(rest, rewrite, rewriteHelp);
  } else if (command === 'generate') {
    const { generate, generateHelp } = await import('./generate.ts');
    await runOrHelp(rest, generate, generateHelp);
  } else if (command === 'controllers') {
    // Loaded on demand, to keep help and version fast.
    await runOrHelp(rest, async (args) => (await import('./controllers-command.ts')).controllers(args), managerHelp);
  } else if (command !== 'serve') {
    process.stderr.write(
      `orch: unknown command ${JSON.stringify(command)}${didYouMean(command, commands)}\n\n${usage}`,
    );
    process.exitCode = 2;
  } else if (rest.includes('--help') || rest.includes('-h')) {
    process.stdout.write(helpText());
  } else {
    const { serve } = await import('./serve.ts');
    await serve(rest);
  }
}

async function runOrHelp(
  args: readonly string[],
  run: (args: readonly string[]) => Promise<void>,
  help: () => string,
): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) process.stdout.write(help());
  else await run(args);
}
