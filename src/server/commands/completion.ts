import { commands } from './commands.ts';

/** The supported shells. */
export const shells = ['bash', 'zsh', 'fish'] as const;

interface Words {
  readonly name: string;
  readonly summary: string;
  /** `--name` of each flag, and the placeholder of its value. */
  readonly flags: readonly (readonly [flag: string, placeholder: string])[];
}

/** Returns the completion script of a shell; undefined when the shell is not supported. */
export async function completionScript(shell: string): Promise<string | undefined> {
  if (!(shells as readonly string[]).includes(shell)) return undefined;
  const words = await Promise.all(
    commands.map(async ({ name, summary, load }): Promise<Words> => {
      const { flags } = await load();
      return { name, summary, flags: flags.map((flag) => [`--${flag.name}`, flag.type.placeholder]) };
    }),
  );
  const all: readonly Words[] = [
    ...words,
    { name: 'completion', summary: 'print completions', flags: [] },
    { name: 'version', summary: 'print the version', flags: [] },
    { name: 'help', summary: 'print help', flags: [] },
  ];
  return shell === 'fish' ? fish(all) : bash(all, shell === 'zsh');
}

/** For bash, and for zsh through its bash emulation. Completes a flag up to `=`, then file names. */
function bash(all: readonly Words[], zsh: boolean): string {
  const names = all.map(({ name }) => name).join(' ');
  const cases = all
    .filter(({ flags }) => flags.length > 0)
    .map(({ name, flags }) => `    ${name}) words="${flags.map(([flag]) => `${flag}=`).join(' ')}" ;;`);
  return `${zsh ? '#compdef orch\nautoload -U +X bashcompinit && bashcompinit\n' : ''}_orch() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names}" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  case "$current" in
    -*) compopt -o nospace 2>/dev/null; COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}
complete -F _orch orch
`;
}

function fish(all: readonly Words[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "\\'")}'`;
  const lines = ['complete -c orch -f'];
  for (const { name, summary, flags } of all) {
    lines.push(`complete -c orch -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`);
    for (const [flag, placeholder] of flags) {
      const condition = `__fish_seen_subcommand_from ${name}`;
      lines.push(`complete -c orch -n ${quoted(condition)} -l ${flag.slice(2)} -r -F -d ${quoted(placeholder)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}
