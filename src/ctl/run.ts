import { KubeconfigError } from '../client/index.ts';
import { type Cluster, openCluster } from './cluster/cluster.ts';
import type { Command, CommandContext } from './command.ts';
import { commandGroups, commands } from './commands/index.ts';
import { CommandError, errorText, statusOf } from './errors.ts';
import type { FlagTable } from './flags/flag.ts';
import { type GlobalValues, globalFlags } from './flags/global-flags.ts';
import { commandHelp, globalOptions, overview } from './flags/help.ts';
import { FlagError, type ParsedLine, parseLine } from './flags/parse.ts';
import type { Io, ProgramIo } from './io.ts';
import { ioOf, warn } from './output/terminal.ts';

/** The name of the program in help and messages. */
const program = 'orch ctl';

/** The exit status after Ctrl-C. */
export const interrupted = 130;

/**
 * Runs one command line, without the name of the program. Resolves to the exit status; every error is printed on standard
 * error.
 */
export async function runCtl(line: readonly string[], program: ProgramIo): Promise<number> {
  const io = ioOf(program);
  try {
    return await dispatch(line, io);
  } catch (error) {
    if (io.signal.aborted) return interrupted;
    io.stderr.write(`${error instanceof KubeconfigError ? `error: ${error.message}` : errorText(error)}\n`);
    return statusOf(error);
  }
}

async function dispatch(line: readonly string[], io: Io): Promise<number> {
  const found = findCommand(line);
  const { command, path, rest } = found;
  if (command === undefined) return withoutCommand(found, io);
  const table: FlagTable = { ...globalFlags, ...command.flags };
  const parsed = parse(table, rest, path, command);
  if (parsed.values['help'] === true) {
    io.stdout.write(commandHelp(program, path, command));
    return 0;
  }
  if (command.run === undefined) return withoutSubcommand(command, path, parsed, io);
  let cluster: Promise<Cluster> | undefined;
  let warnings = 0;
  const globals = globalsOf(parsed, command);
  const context: CommandContext<FlagTable> = {
    args: parsed.args,
    argsBeforeDash: parsed.argsBeforeDash,
    flags: parsed.values as CommandContext<FlagTable>['flags'],
    isSet: (key) => parsed.set.has(String(key)),
    globals,
    io,
    path,
    cluster: () => {
      cluster ??= openCluster(globals, io, (text) => {
        warnings++;
        warn(io, text);
      });
      return cluster;
    },
  };
  try {
    const status = (await command.run(context)) ?? 0;
    if (warnings > 0 && globals.warningsAsErrors) {
      throw new CommandError(`${warnings} ${warnings === 1 ? 'warning' : 'warnings'} received`);
    }
    return status;
  } finally {
    await cluster?.then(
      (opened) => opened.close(),
      () => {},
    );
  }
}

/** The global flags. Where a command has a flag of the same name, such as `--user` of a role binding, it means that one. */
function globalsOf({ values }: ParsedLine, { flags }: Command): GlobalValues {
  const entries = Object.entries(globalFlags).map(([key, flag]) => [key, key in flags ? flag.default : values[key]]);
  return Object.fromEntries(entries) as GlobalValues;
}

interface FoundCommand {
  readonly command: Command | undefined;
  /** The program and the names of the command. */
  readonly path: string;
  /** The command line without the names of the command. */
  readonly rest: readonly string[];
}

/** Finds the command that the first arguments name; flags may precede it. */
function findCommand(line: readonly string[]): FoundCommand {
  let found: FoundCommand = { command: undefined, path: program, rest: line };
  for (;;) {
    const at = firstArgument(found.rest, found.command?.flags ?? {});
    const word = at === undefined ? undefined : found.rest[at];
    const candidates = found.command === undefined ? commands : (found.command.subcommands ?? []);
    const next = candidates.find(({ name, aliases = [] }) => name === word || aliases.includes(word ?? ''));
    if (at === undefined || next === undefined) return found;
    found = { command: next, path: `${found.path} ${next.name}`, rest: found.rest.toSpliced(at, 1) };
  }
}

/** The index of the first word that is neither a flag nor its value. */
function firstArgument(line: readonly string[], flags: FlagTable): number | undefined {
  const table: FlagTable = { ...globalFlags, ...flags };
  const needsValue = new Set(
    Object.entries(table)
      .filter(([, { bare }]) => bare === undefined)
      .flatMap(([key, { short }]) => [
        `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
        ...(short === undefined ? [] : [`-${short}`]),
      ]),
  );
  for (let i = 0; i < line.length; i++) {
    const word = line[i] ?? '';
    if (word === '--') return undefined;
    if (!word.startsWith('-') || word === '-') return i;
    if (needsValue.has(word)) i++;
  }
  return undefined;
}

function parse(table: FlagTable, rest: readonly string[], path: string, command?: Command): ParsedLine {
  try {
    return parseLine(table, rest, { stopAtArgument: command?.stopAtArgument ?? false });
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    throw new CommandError(`${error.message}\nSee '${path} --help' for usage.`);
  }
}

/** Prints the overview, the global options or the help of a command. */
function withoutCommand({ rest }: FoundCommand, io: Io): number {
  const { args } = parse(globalFlags, rest, program);
  const [word, ...names] = args;
  if (word === 'options') io.stdout.write(globalOptions());
  else if (word === undefined || (word === 'help' && names.length === 0)) {
    io.stdout.write(overview(program, commandGroups));
  } else if (word === 'help') {
    const { command, path } = findCommand(names);
    if (command === undefined) throw unknownCommand(names[0] ?? '', program, commands);
    io.stdout.write(commandHelp(program, path, command));
  } else throw unknownCommand(word, program, commands);
  return 0;
}

function withoutSubcommand(command: Command, path: string, { args }: ParsedLine, io: Io): number {
  const [word] = args;
  if (word !== undefined) {
    throw new CommandError(`unknown command ${JSON.stringify(word)}\nSee '${path} -h' for help and examples`);
  }
  io.stderr.write(commandHelp(program, path, command));
  return 1;
}

function unknownCommand(word: string, path: string, candidates: readonly Command[]): CommandError {
  const similar = candidates
    .map(({ name }) => name)
    .filter((name) => name.startsWith(word) || distance(name, word) <= 2);
  const hint = similar.length === 0 ? '' : `\n\nDid you mean this?\n${similar.map((name) => `\t${name}`).join('\n')}`;
  return new CommandError(`unknown command ${JSON.stringify(word)} for ${JSON.stringify(path)}${hint}`);
}

/** The Levenshtein distance of the first 50 characters. */
function distance(a: string, b: string): number {
  const [from, to] = [a.slice(0, 50), b.slice(0, 50)];
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, letter] of from.split('').entries()) {
    const next = [i + 1];
    for (const [j, other] of to.split('').entries()) {
      next.push(Math.min((row[j] ?? 0) + (letter === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
