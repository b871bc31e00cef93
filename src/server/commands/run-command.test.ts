import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { flagList } from '../settings/flags.ts';
import { version } from '../version.ts';
import { commands } from './commands.ts';
import { completionScript } from './completion.ts';
import { runCommand, unknownVariables } from './run-command.ts';

afterEach(() => {
  process.exitCode = undefined;
});

/** The output of the command. */
async function printed(...args: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await runCommand(args);
  return write.mock.calls.map(([text]) => String(text)).join('');
}

describe('orch', () => {
  it.each(['version', '--version', '-v'])('%s prints the version', async (arg) => {
    expect(await printed(arg)).toBe(`orch ${version}\n`);
  });

  it.each([[[]], [['help']], [['--help']], [['-h']]])('%j lists the commands', async (args: string[]) => {
    const text = await printed(...args);
    for (const { call, summary } of commands) expect(text).toMatch(new RegExp(`orch ${escaped(call)} +${summary}`));
  });

  it.each(commands.map(({ name }) => name))('help %s, --help %s and %s --help print the same', async (name) => {
    const help = await printed('help', name);
    expect(help).toMatch(new RegExp(`^orch ${name} `));
    vi.restoreAllMocks();
    expect(await printed('--help', name)).toBe(help);
    vi.restoreAllMocks();
    expect(await printed(name, '--help')).toBe(help);
  });

  it('refuses an unknown command', async () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    await runCommand(['help', 'serv']);
    expect(String(write.mock.calls[0]?.[0])).toContain('unknown command "serv"; did you mean "serve"?');
    expect(process.exitCode).toBe(2);
  });
});

const escaped = (text: string) => text.replaceAll(/[[\]]/g, '\\$&');

describe('completion', () => {
  it('completes commands and flags in bash', async () => {
    const script = (await completionScript('bash')) ?? '';
    const complete = (...words: string[]) => {
      const quoted = words.map((word) => `'${word}'`).join(' ');
      const ask = `COMP_WORDS=(orch ${quoted}) COMP_CWORD=${words.length}; _orch; echo "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' });
      expect(stderr).toBe('');
      return stdout.trim().split(' ');
    };
    expect(complete('ser')).toEqual(['serve']);
    expect(complete('')).toEqual([...commands.map(({ name }) => name), 'completion', 'version', 'help']);
    expect(complete('serve', '--secure-p')).toEqual(['--secure-port=']);
    expect(complete('serve', '--')).toHaveLength(flagList.length);
    expect(complete('backup', '--data')).toEqual(['--data-dir=']);
  });

  it('names every flag for zsh and fish, and no other shell', async () => {
    for (const shell of ['zsh', 'fish']) {
      const script = (await completionScript(shell)) ?? '';
      for (const { name } of flagList) expect(script).toContain(name);
    }
    expect(await completionScript('csh')).toBeUndefined();
  });
});

describe('environment variables', () => {
  const serve = { load: async () => ({ help: () => '', flags: flagList }) };

  it.each([
    ['ORCH_SECURE_PROT', 'unknown environment variable ORCH_SECURE_PROT; did you mean "ORCH_SECURE_PORT"?'],
    ['ORCH_ZZZZZZZZZZ', 'unknown environment variable ORCH_ZZZZZZZZZZ'],
  ])('%s is refused', async (name, problem) => {
    expect(await unknownVariables(serve, { [name]: '1' })).toEqual([problem]);
  });

  // The last ones are set in the pods of a cluster with a service named orch.
  it.each([
    'ORCH_SECURE_PORT',
    'ORCH_LEADER_ELECT',
    'PATH',
    'ORCH_SERVICE_HOST',
    'ORCH_PORT_6443_TCP_ADDR',
    'ORCH_PORT',
  ])('%s is not', async (name) => {
    expect(await unknownVariables(serve, { [name]: '1' })).toEqual([]);
  });
});
