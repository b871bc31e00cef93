import { stringifyYaml } from '../../codec/index.ts';
import type { Json } from '../../meta/index.ts';

/** The width beyond which a scalar breaks at its next space. */
const width = 80;

/** YAML as kubectl prints it: like that of the server, with long texts folded. Ends with a line feed. */
export function foldedYaml(value: Json): string {
  const lines: string[] = [];
  // Lines of a block scalar are deeper than the line that begins it.
  let blockIndent = -1;
  for (const line of stringifyYaml(value).split('\n')) {
    const indent = line.search(/[^ ]/);
    if (blockIndent >= 0 && (indent > blockIndent || line === '')) lines.push(line);
    else {
      blockIndent = /(?:: |- )[|>][0-9+-]*$/.test(line) ? Math.max(indent, 0) : -1;
      for (const part of line.length > width ? folded(line) : [line]) lines.push(part);
    }
  }
  return lines.join('\n');
}

const scalarLine = /^( *(?:- )*)((?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^'"\s][^:]*(?::(?! )[^:]*)*): )?([\s\S]*)$/;

function folded(line: string): string[] {
  const [, lead = '', key = '', scalar = ''] = scalarLine.exec(line) ?? [];
  const indent = ' '.repeat(lead.length + (key === '' ? 0 : 2));
  const parts: string[] = [];
  let current = lead + key;
  for (let i = 0; i < scalar.length; i++) {
    const character = scalar.charAt(i);
    const breaks =
      character === ' ' &&
      current.length > width &&
      i > 0 &&
      i < scalar.length - 1 &&
      scalar.charAt(i - 1) !== ' ' &&
      scalar.charAt(i + 1) !== ' ';
    if (breaks) {
      parts.push(current);
      current = indent;
    } else current += character;
  }
  return [...parts, current];
}
