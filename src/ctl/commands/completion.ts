/** Completions of shells: a script that asks the program itself for the words that may follow. */
import { StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { type Command, command } from '../command.ts';
import { CommandError, usageError } from '../errors.ts';
import { nameOfKey } from '../flags/flag.ts';
import { globalFlags } from '../flags/global-flags.ts';
import { objectsOfTarget } from '../objects/pages.ts';

const scripts: { readonly [shell: string]: string } = {
  bash: `_orch_ctl() {
  local current="\${COMP_WORDS[COMP_CWORD]}"
  [ "\${COMP_WORDS[1]}" = ctl ] || return
  COMPREPLY=($(compgen -W "$(orch ctl __complete -- "\${COMP_WORDS[@]:2:COMP_CWORD-2}" 2>/dev/null)" -- "$current"))
}
complete -o default -F _orch_ctl orch
`,
  zsh: `#compdef orch
_orch_ctl() {
  [ "\${words[2]}" = ctl ] || return
  compadd -- \${(f)"$(orch ctl __complete -- \${words[3,CURRENT-1]} 2>/dev/null)"}
}
compdef _orch_ctl orch
`,
  fish: `function __orch_ctl
  set -l words (commandline -opc)
  orch ctl __complete -- $words[3..-1] 2>/dev/null
end
complete -c orch -n '__fish_seen_subcommand_from ctl' -f -a '(__orch_ctl)'
`,
};

export const completionCommand: Command = command({
  name: 'completion',
  summary: 'Output shell completion code for the specified shell (bash, zsh, fish)',
  usage: 'SHELL',
  examples: [{ title: 'Load completions into the current shell', lines: ['source <(orch ctl completion bash)'] }],
  flags: {},
  run: async ({ args, io, path }) => {
    const [shell, ...more] = args;
    if (shell === undefined) throw usageError('Shell not specified.', path);
    if (more.length > 0) throw usageError('Too many arguments. Expected only the shell type.', path);
    const script = scripts[shell];
    if (script === undefined) throw usageError(`Unsupported shell type ${JSON.stringify(shell)}.`, path);
    io.stdout.write(script);
    return 0;
  },
});

/** The command that the scripts run: prints the words that may follow the words before them. */
export const wordsCommand = (commands: () => readonly Command[]): Command =>
  command({
    name: '__complete',
    summary: 'Print the words that may follow',
    usage: '-- WORD...',
    examples: [],
    flags: {},
    run: async ({ args, io, cluster }) => {
      const words = await wordsAfter(args, commands(), cluster).catch((error: unknown) => {
        // A server that cannot be asked completes nothing.
        if (error instanceof StatusError || error instanceof CommandError) return [];
        throw error;
      });
      io.stdout.write(words.map((word) => `${word}\n`).join(''));
      return 0;
    },
  });

async function wordsAfter(
  before: readonly string[],
  commands: readonly Command[],
  cluster: () => Promise<Cluster>,
): Promise<string[]> {
  const words = before.filter((word) => !word.startsWith('-'));
  let found: Command | undefined;
  let candidates = commands;
  let depth = 0;
  for (const word of words) {
    const next = candidates.find(({ name, aliases = [] }) => name === word || aliases.includes(word));
    if (next === undefined) break;
    found = next;
    candidates = next.subcommands ?? [];
    depth++;
  }
  const names = candidates.filter(({ name }) => !name.startsWith('_')).map(({ name }) => name);
  if (found === undefined) return names;
  const flags = Object.keys({ ...globalFlags, ...found.flags }).map((key) => `--${nameOfKey(key)}`);
  const rest = words.slice(depth);
  if (!/TYPE|RESOURCE/.test(found.usage)) return [...names, ...flags];
  return [...names, ...(await objectWords(rest, cluster)), ...flags];
}

/** Types, or the names of the objects of the first type. */
async function objectWords([type]: readonly string[], cluster: () => Promise<Cluster>): Promise<string[]> {
  const opened = await cluster();
  const discovery = await opened.discovery();
  if (type === undefined) return discovery.preferred().map(({ name }) => name);
  const resource = await discovery.find(type);
  if (resource === undefined) return [];
  const namespace = resource.namespaced ? opened.namespace : undefined;
  const objects = await objectsOfTarget(opened, { resource, namespace, name: undefined });
  return objects.map(({ metadata }) => String((metadata as { name: string }).name));
}
