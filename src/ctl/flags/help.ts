/** The help of commands, laid out as that of kubectl. */
import type { Command } from '../command.ts';
import { type FlagTable, nameOfKey } from './flag.ts';
import { globalFlags } from './global-flags.ts';

const globalHint = (program: string) =>
  `Use "${program} options" for a list of global command-line options (applies to all commands).\n`;

/** The help of a command. `path`: the program and the names of the command, such as `orch ctl get`. */
export function commandHelp(program: string, path: string, command: Command): string {
  const { subcommands = [] } = command;
  return [
    `${command.description ?? command.summary}\n`,
    ...(command.aliases === undefined ? [] : [`Aliases:\n${[command.name, ...command.aliases].join(', ')}\n`]),
    ...(command.examples.length === 0
      ? []
      : [`Examples:\n${command.examples.map((example) => exampleText(program, example)).join('\n  \n')}\n`]),
    ...(subcommands.length === 0 ? [] : [`Available Commands:\n${commandList(subcommands)}\n`]),
    ...(Object.keys(command.flags).length === 0 ? [] : [`Options:\n${optionsText(command.flags)}`]),
    `Usage:\n  ${usageOf(path, command)}\n`,
    ...(subcommands.length === 0 ? [] : [`Use "${path} <command> --help" for more information about a given command.`]),
    globalHint(program),
  ].join('\n');
}

/** The usage line of a command. */
function usageOf(path: string, { usage, flags }: Command): string {
  const options = Object.keys(flags).length === 0 ? '' : ' [flags]';
  return `${[path, usage].filter((part) => part !== '').join(' ')}${options} [options]`;
}

function exampleText(program: string, { title, lines }: Command['examples'][number]): string {
  return [`  # ${title}`, ...lines.map((line) => `  ${line.replace(/^ctl\b/, program)}`)].join('\n');
}

/** The names and summaries of commands, one a line. */
function commandList(commands: readonly Command[]): string {
  const width = commands.reduce((longest, { name }) => Math.max(longest, name.length), 11);
  return commands.map(({ name, summary }) => `  ${name.padEnd(width)}   ${summary}\n`).join('');
}

/** The flags of a table in the order of their names. */
function optionsText(table: FlagTable): string {
  return Object.entries(table)
    .map(([key, flag]) => ({ name: nameOfKey(key), flag }))
    .filter(({ name }) => name !== 'help')
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, flag }) => {
      const short = flag.short === undefined || flag.short === name ? '' : `-${flag.short}, `;
      return `    ${short}--${name}=${flag.type.format(flag.default)}:\n\t${flag.help}\n\n`;
    })
    .join('');
}

/** The output of `options`. */
export const globalOptions = (): string =>
  `The following options can be passed to any command:\n\n${optionsText(globalFlags)}`;

/** The output of the program without a command. */
export function overview(program: string, groups: readonly CommandGroup[]): string {
  return [
    `${program} controls a cluster: its objects, their owners and their history.\n`,
    ...groups.map(({ title, commands }) => `${title}:\n${commandList(commands)}`),
    `Usage:\n  ${program} [flags] [options]\n`,
    `Use "${program} <command> --help" for more information about a given command.`,
    globalHint(program),
  ].join('\n');
}

/** Commands under one title in the overview. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
}
