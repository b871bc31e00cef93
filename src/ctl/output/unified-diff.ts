import type { ColouredOutput } from './output.ts';
import { type Colour, paint } from './terminal.ts';

/** The lines around a change. */
const contextLines = 3;
/** Texts that differ in more lines than this are shown as replaced (the search takes the square of it). */
const maxEdits = 4_000;

type Edit = { readonly kind: ' ' | '-' | '+'; readonly line: string };

/** The unified diff of two texts, without the lines that name them; empty when they are equal. */
export function unifiedDiff(before: string, after: string): string {
  if (before === after) return '';
  const edits = editsOf(linesOf(before), linesOf(after));
  return hunksOf(edits).join('');
}

const colours: { readonly [mark: string]: Colour } = { '-': 'red', '+': 'green', '@': 'cyan' };

/** Writes a diff, with colours where the output has them. */
export function writeDiff(output: ColouredOutput, diff: string): void {
  output.write(diff.replaceAll(/^[-+@].*$/gm, (line) => paint(output, colours[line.charAt(0)], line)));
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** The shortest edit script (Myers 1986), after the common beginning and before the common end. */
function editsOf(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const rest = Math.min(before.length, after.length) - start;
  while (end < rest && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const same = (lines: readonly string[]): Edit[] => lines.map((line) => ({ kind: ' ', line }));
  return [
    ...same(before.slice(0, start)),
    ...shortest(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

function shortest(a: readonly string[], b: readonly string[]): Edit[] {
  const traces: Map<number, number>[] = [];
  const reached = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= Math.min(a.length + b.length, maxEdits); d++) {
    traces.push(new Map(reached));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reached.get(k - 1) ?? 0) < (reached.get(k + 1) ?? 0));
      let x = down ? (reached.get(k + 1) ?? 0) : (reached.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reached.set(k, x);
      if (x >= a.length && x - k >= b.length) return backtrack(a, b, traces);
    }
  }
  return [...a.map((line): Edit => ({ kind: '-', line })), ...b.map((line): Edit => ({ kind: '+', line }))];
}

function backtrack(a: readonly string[], b: readonly string[], traces: readonly Map<number, number>[]): Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [a.length, b.length];
  for (const [d, reached] of [...traces.entries()].toReversed()) {
    const k = x - y;
    const down = k === -d || (k !== d && (reached.get(k - 1) ?? 0) < (reached.get(k + 1) ?? 0));
    const fromX = reached.get(down ? k + 1 : k - 1) ?? 0;
    const fromY = fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      edits.push({ kind: ' ', line: a[--x] ?? '' });
      y--;
    }
    if (d === 0) break;
    if (down) edits.push({ kind: '+', line: b[--y] ?? '' });
    else edits.push({ kind: '-', line: a[--x] ?? '' });
  }
  return edits.toReversed();
}

/** Groups changes with the lines around them. */
function hunksOf(edits: readonly Edit[]): string[] {
  const changes = edits.flatMap(({ kind }, i) => (kind === ' ' ? [] : [i]));
  const ranges: [number, number][] = [];
  for (const at of changes) {
    const [first, last] = [Math.max(0, at - contextLines), Math.min(edits.length - 1, at + contextLines)];
    const before = ranges.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = last;
    else ranges.push([first, last]);
  }
  return ranges.map(([first, last]) => {
    const count = (kinds: string, upTo: readonly Edit[]) => upTo.filter(({ kind }) => kinds.includes(kind)).length;
    const [head, body] = [edits.slice(0, first), edits.slice(first, last + 1)];
    const range = (kinds: string) => {
      const length = count(kinds, body);
      const start = count(kinds, head) + (length === 0 ? 0 : 1);
      return length === 1 ? `${start}` : `${start},${length}`;
    };
    const lines = body.map(({ kind, line }) => `${kind}${line}\n`).join('');
    return `@@ -${range(' -')} +${range(' +')} @@\n${lines}`;
  });
}
