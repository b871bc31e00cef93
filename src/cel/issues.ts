/** Formats the issues of an expression for clients. */
import type { Issue } from './ast.ts';

const maxIssues = 100;
/** Maximum length of a quoted source line (bytes of UTF-8). */
const maxLine = 16_384;

/** Formats issues in the order of their positions, each with its source line and a mark below the position. */
export function formatIssues(source: string, issues: readonly Issue[]): string {
  const sorted = [...issues].sort((one, other) => one.offset - other.offset).slice(0, maxIssues);
  const parts: string[] = [];
  let line = 1;
  let lineStart = 0;
  let offset = 0;
  let column = 0;
  let position = 0;
  for (const issue of sorted) {
    while (offset < issue.offset && position < source.length) {
      const code = source.codePointAt(position)!;
      position += code > 0xffff ? 2 : 1;
      offset++;
      column++;
      if (code !== 10) continue;
      line++;
      lineStart = position;
      column = 0;
    }
    if (issue.offset < 0) {
      parts.push(`ERROR: <input>:-1:0: ${issue.message}`);
      continue;
    }
    // An empty expression has no columns and no line to show.
    if (source === '') parts.push(`ERROR: <input>:1:0: ${issue.message}`);
    else parts.push(`ERROR: <input>:${line}:${column + 1}: ${issue.message}${snippet(source, lineStart, column)}`);
  }
  if (issues.length > maxIssues) parts.push(`${issues.length - maxIssues} more errors were truncated`);
  return parts.join('\n');
}

/** Returns a source line with a mark below a column. Marks below characters beyond ASCII are wide. */
function snippet(source: string, start: number, column: number): string {
  const end = source.indexOf('\n', start);
  const line = source.slice(start, end === -1 ? source.length : end).replaceAll('\t', ' ');
  if (line.length > maxLine || Buffer.byteLength(line) > maxLine) return '';
  let marks = '';
  let count = 0;
  for (const character of line) {
    const wide = character.charCodeAt(0) > 127;
    if (count === column) return `\n | ${line}\n | ${marks}${wide ? '＾' : '^'}`;
    marks += wide ? '．' : '.';
    count++;
  }
  return `\n | ${line}\n | ${marks}^`;
}
