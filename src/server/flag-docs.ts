import { type FeatureGate, featureGates } from './feature-gates.ts';
import { flagList, variableOf } from './flags.ts';

type Listed = (typeof flagList)[number];

const sections = [...new Set(flagList.map(({ section }) => section))];
const gates: readonly (readonly [string, FeatureGate])[] = Object.entries(featureGates);

/** What `orch serve --help` prints. */
export function helpText(): string {
  const lines = [
    'orch serve [flags]',
    '',
    'Serves the cluster API. Every flag may also be given as an environment variable',
  ];
  lines.push(`(${variableOf('secure-port')} for --secure-port) or in the file that --config names.`);
  for (const section of sections) {
    lines.push('', `${section}:`);
    for (const flag of flagList.filter((f) => f.section === section)) {
      const head = `--${flag.name}=<${flag.type.placeholder}>${defaultNote(flag)}`;
      lines.push(wrap(head, 98).map(indent).join('\n    '));
      lines.push(...wrap(flag.help.replaceAll('`', ''), 92).map((line) => `      ${line}`));
    }
  }
  lines.push('', 'Features:', ...gates.flatMap(([name, gate]) => wrap(gateLine(name, gate), 96).map(indent)), '');
  return lines.join('\n');
}

/** The reference of all flags in Markdown. */
export function flagReference(): string {
  const lines = [
    '# Flags of `orch serve`',
    '',
    'Made from `src/server/flags.ts`; a test keeps it so (`npx vitest run src/server -u` writes it anew).',
    '',
    'A flag is written `--name=value` or `--name value`; a switch alone (`--anonymous-auth`) means `true`. The same setting',
    `may come from an environment variable (\`${variableOf('secure-port')}\` for \`--secure-port\`) or from the YAML file that \`--config\``,
    'names (`secure-port: 6443`; lists and maps as YAML has them). The command line is stronger than the environment, the',
    'environment than the file.',
  ];
  for (const section of sections) {
    lines.push('', `## ${section}`, '', '| flag | value | default | meaning |', '|---|---|---|---|');
    for (const flag of flagList.filter((f) => f.section === section)) {
      const { name, type, help } = flag;
      const value = type.format(flag.default);
      const cells = [`\`--${name}\``, cell(type.placeholder), value === '' ? '' : `\`${value}\``, cell(help)];
      lines.push(`| ${cells.join(' | ')} |`);
    }
  }
  lines.push('', '## Features', '', 'For `--feature-gates`; `AllAlpha` and `AllBeta` switch a whole stage.', '');
  lines.push(...gates.map(([name, gate]) => `- ${gateLine(`\`${name}\``, gate)}`), '');
  return lines.join('\n');
}

function gateLine(name: string, { stage, help, locked, default: on }: FeatureGate): string {
  return `${name} (${stage}, ${locked ? 'locked to ' : 'default '}${on}): ${help}`;
}

function defaultNote({ type, default: value }: Listed): string {
  const text = type.format(value);
  return text === '' ? '' : ` (default ${text})`;
}

const indent = (line: string) => `  ${line}`;
const cell = (markdown: string) => markdown.replaceAll('|', '\\|');

/** Breaks a text at spaces into lines of at most `width` characters. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
