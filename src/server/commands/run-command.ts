import { loadScript } from '../script.ts';
import { variableOf } from '../settings/flag.ts';
import { didYouMean } from '../settings/suggest.ts';
import { version } from '../version.ts';
import { type Command, commands } from './commands.ts';
import { completionScript, shells } from './completion.ts';
import type * as Client from './ctl.ts';

const callWidth = commands.reduce((width, { call }) => Math.max(width, call.length), 0);

const usage = `orch — a cluster API server

${commands.map(({ call, summary }) => `  orch ${call.padEnd(callWidth)}  ${summary}`).join('\n')}
  orch ${'ctl COMMAND'.padEnd(callWidth)}  use a cluster: get, apply, describe and more, as with kubectl
  orch ${'completion SHELL'.padEnd(callWidth)}  print completions for ${shells.join(', ')}
  orch ${'version'.padEnd(callWidth)}  print the version
  orch ${'help [COMMAND]'.padEnd(callWidth)}  print this help, or the help of a command
`;

const isHelp = (arg: string) => arg === '--help' || arg === '-h';

/** Runs the command. Sets the exit status of the process: 2 for an invalid command line. */
export async function runCommand(args: readonly string[]): Promise<void> {
  const [first = 'help', ...rest] = args;
  if (first === 'version' || first === '--version' || first === '-v') {
    process.stdout.write(`orch ${version}\n`);
  } else if (first === 'ctl') {
    await ctl(rest);
  } else if (first === 'completion') {
    await complete(rest);
  } else if (first === 'help' || isHelp(first)) {
    const [name] = rest;
    if (name === undefined) process.stdout.write(usage);
    else process.stdout.write((await find(name)?.load())?.help() ?? '');
  } else {
    const command = find(first);
    if (command === undefined) return;
    const problems = await unknownVariables(command, process.env);
    if (rest.some(isHelp)) process.stdout.write((await command.load()).help());
    else if (problems.length === 0) await command.run(rest);
    else {
      process.stderr.write(problems.map((problem) => `orch: ${problem}\n`).join(''));
      process.exitCode = 2;
    }
  }
}

/** Runs a command of the client, which is a script; the first command that succeeds stores its compiled code. */
async function ctl(args: readonly string[]): Promise<void> {
  const { exports, storeCode } = loadScript<typeof Client>('ctl');
  const convert = async (line: readonly string[]) => (await import('./convert.ts')).convertCommand.run(line);
  const status = await exports.ctl(args, { version, convert });
  if (status === 0) await storeCode();
  process.exit(status);
}

/** The command of a name; undefined, with exit status 2, when there is none. */
function find(name: string): Command | undefined {
  const command = commands.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  const names = [...commands.map((each) => each.name), 'ctl', 'completion', 'version', 'help'];
  process.stderr.write(`orch: unknown command ${JSON.stringify(name)}${didYouMean(name, names)}\n\n${usage}`);
  process.exitCode = 2;
  return undefined;
}

async function complete([shell = '']: readonly string[]): Promise<void> {
  const script = await completionScript(shell);
  if (script !== undefined) process.stdout.write(script);
  else {
    process.stderr.write(`orch: completion needs the name of a shell: ${shells.join(', ')}\n`);
    process.exitCode = 2;
  }
}

/** Variables that a cluster sets in pods for a service named `orch`, and variables of other programs of this package. */
const otherVariables = /^ORCH_(?:SERVICE_(?:HOST|PORT).*|PORT(?:_.*)?|EXEC_INFO|FUZZ_.*)$/;

/** A message for each environment variable that looks like a flag and belongs to no command. */
export async function unknownVariables(
  command: Pick<Command, 'load'>,
  env: { readonly [name: string]: string | undefined },
): Promise<string[]> {
  const knownVariables = new Set<string>();
  const isUnknown = (name: string) =>
    name.startsWith('ORCH_') && !knownVariables.has(name) && !otherVariables.test(name);
  for (const { load } of [command, ...commands]) {
    if (!Object.keys(env).some(isUnknown)) return [];
    for (const { name } of (await load()).flags) knownVariables.add(variableOf(name));
  }
  return Object.keys(env)
    .filter(isUnknown)
    .map((name) => `unknown environment variable ${name}${didYouMean(name, [...knownVariables])}`);
}
