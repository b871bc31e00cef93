import { featureGates, inertGates, wrap } from '../../meta/index.ts';
import { gateUsage } from './feature-gates.ts';
import { type ListedFlag, variableOf } from './flag.ts';
import { flagList, programSettings } from './flags.ts';
import { managerTable } from './manager-flags.ts';

const sections = [...new Set(flagList.map(({ section }) => section))];

/** The help of flags, by section. */
function flagLines(flags: readonly ListedFlag[]): string[] {
  const lines: string[] = [];
  for (const section of new Set(flags.map((flag) => flag.section))) {
    lines.push('', `${section}:`);
    for (const flag of flags.filter((f) => f.section === section)) {
      const letters = (flag.aliases ?? []).filter((alias) => alias.length === 1).map((letter) => `-${letter}, `);
      const head = `${letters.join('')}--${flag.name}=<${flag.type.placeholder}>${defaultNote(flag)}`;
      lines.push(`  ${wrap(head, 98).join('\n    ')}`);
      for (const line of wrap(flag.help.replaceAll('`', ''), 92)) lines.push(`      ${line}`);
    }
  }
  return lines;
}

/** The help of a command: usage, description and flags. */
export const commandHelp = (call: string, text: readonly string[], flags: readonly ListedFlag[]): string =>
  [call, '', ...text, ...flagLines(flags), ''].join('\n');

/** The output of `orch controllers --help`. */
export const managerHelp = (): string =>
  commandHelp(
    'orch controllers --kubeconfig=<file> [flags]',
    [
      'Runs the controllers for a server. Every flag may also be set by an environment variable',
      `(${variableOf('leader-elect')} for --leader-elect) or in the file that --config names.`,
    ],
    managerTable.list,
  );

/** The output of `orch serve --help`. */
export function helpText(): string {
  const lines = [
    'orch serve [flags]',
    '',
    'Serves the cluster API. Every flag may also be set by an environment variable',
    `(${variableOf('secure-port')} for --secure-port) or in the file that --config names.`,
    ...flagLines(flagList),
  ];
  lines.push('', 'Features:');
  for (const [name, gate] of Object.entries(featureGates)) {
    // Stable and deprecated features are not listed.
    if (gate.stage !== 'alpha' && gate.stage !== 'beta') continue;
    lines.push(`  ${gateUsage(name, gate)}`);
    for (const line of wrap(gate.help.replaceAll('`', ''), 92)) lines.push(`      ${line}`);
  }
  lines.push('  Every other gate of release 1.33 is accepted and has no effect.', '');
  return lines.join('\n');
}

/** The reference of all flags in Markdown. */
export function flagReference(): string {
  const lines = [
    '# Flags of `orch serve`',
    '',
    'Generated from `src/server/settings/flags.ts` by `npx vitest run src/server/settings -u`.',
    '',
    'A flag is written `--name=value` or `--name value`; a switch without a value (`--anonymous-auth`) means `true`. The same',
    `setting may come from an environment variable (\`${variableOf('secure-port')}\` for \`--secure-port\`) or from the YAML file of`,
    '`--config` (`secure-port: 6443`; lists and maps are those of YAML). The command line takes precedence over the environment,',
    'the environment over the file.',
  ];
  for (const section of sections) {
    lines.push('', `## ${section}`, '', '| flag | value | default | meaning |', '|---|---|---|---|');
    for (const flag of flagList.filter((f) => f.section === section)) {
      const { name, aliases = [], type, help } = flag;
      const value = type.format(flag.default);
      const names = [name, ...aliases].map((each) => `\`--${each}\``);
      const cells = [names.join(', '), cell(type.placeholder), value === '' ? '' : `\`${value}\``, cell(help)];
      lines.push(`| ${cells.join(' | ')} |`);
    }
  }
  lines.push('', '## Features', '');
  for (const line of featureIntroduction) lines.push(line);
  lines.push('', '| feature | stage | default | meaning |', '|---|---|---|---|');
  for (const [name, { stage, default: on, locked, help }] of Object.entries(featureGates)) {
    lines.push(`| \`${name}\` | ${stage} | ${on}${locked ? ', locked' : ''} | ${cell(help)} |`);
  }
  lines.push('', inertIntroduction, '', '| stage | default | features |', '|---|---|---|');
  const rows = new Map<string, string[]>();
  for (const [name, { stage, default: on, locked }] of Object.entries(inertGates)) {
    const row = `${stage} | ${on}${locked ? ', locked' : ''}`;
    rows.set(row, [...(rows.get(row) ?? []), `\`${name}\``]);
  }
  for (const [row, names] of rows) lines.push(`| ${row} | ${names.join(', ')} |`);
  lines.push('');
  return lines.join('\n');
}

/** The source of `server-options.ts`: the options of `createServer`, one for each flag. */
export function optionTypes(): string {
  const lines = [
    '// Generated from `flags.ts` by `npx vitest run src/server/settings -u`.',
    '',
    '/** The settings of an embedded server: the flags of `orch serve`, with names in camel case. */',
    'export interface ServerOptions {',
  ];
  for (const { key, name, type, help } of flagList) {
    const text = programSettings[key] === undefined ? '' : type.format(programSettings[key]);
    const byDefault = text === '' ? 'No default.' : `Default: \`${text}\`.`;
    const meaning = help.replaceAll(/`--([a-z-]+)`/g, (_, flag: string) => `\`${keyOf(flag)}\``);
    lines.push('  /**');
    for (const line of wrap(meaning, 115)) lines.push(`   * ${line}`);
    lines.push('   *');
    for (const line of wrap(`${type.form} ${byDefault} Flag: \`--${name}\`.`, 115)) lines.push(`   * ${line}`);
    lines.push('   */', `  readonly ${key}?: ${type.optionType} | undefined;`);
  }
  lines.push('}', '');
  return lines.join('\n');
}

const keyOf = (name: string) => flagList.find((flag) => flag.name === name)?.key ?? name;

const featureIntroduction = [
  'Set with `--feature-gates`, such as `--feature-gates=WatchList=true,AllAlpha=true`. Alpha features are off and beta features',
  'on unless the table says otherwise. Setting a stable or deprecated feature logs a warning; setting a locked or unknown',
  'feature is an error. "Kept in objects" means that without the feature the fields are dropped from what is written,',
  'unless the object already had them.',
];

const inertIntroduction =
  'The other gates of release 1.33 are accepted and have no effect in this server. A value other than the default logs a warning.';

function defaultNote({ type, default: value }: ListedFlag): string {
  const text = type.format(value);
  return text === '' ? '' : ` (default ${text})`;
}

const cell = (markdown: string) => markdown.replaceAll('|', '\\|');
