/** The lines of context around a change. */
const context = 3;
/** The longest table of common lines, in cells: beyond it the changed part is shown as one replacement. */
const maxCells = 4_000_000;

interface Line {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** The unified diff of two texts, as `diff -u` prints it; empty when they are equal. */
export function unifiedDiff(
  before: string,
  after: string,
  names: { readonly from: string; readonly to: string },
): string {
  const lines = compareLines(linesOf(before), linesOf(after));
  if (lines.every(({ mark }) => mark === ' ')) return '';
  const out = [`--- ${names.from}`, `+++ ${names.to}`];
  let [oldLine, newLine] = [1, 1];
  for (let start = 0; start < lines.length; ) {
    const end = hunkEnd(lines, start);
    if (end === undefined) break;
    const first = Math.max(start, end.first - context);
    for (const { mark } of lines.slice(start, first)) {
      if (mark !== '+') oldLine++;
      if (mark !== '-') newLine++;
    }
    const hunk = lines.slice(first, end.last);
    const olds = hunk.filter(({ mark }) => mark !== '+').length;
    const news = hunk.filter(({ mark }) => mark !== '-').length;
    out.push(`@@ -${rangeOf(oldLine, olds)} +${rangeOf(newLine, news)} @@`);
    for (const { mark, text } of hunk) out.push(mark + text);
    oldLine += olds;
    newLine += news;
    start = end.last;
  }
  return `${out.join('\n')}\n`;
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

const rangeOf = (line: number, count: number): string => {
  if (count === 1) return String(line);
  return `${count === 0 ? line - 1 : line},${count}`;
};

/** The first change from `start` on, and the end of its hunk with its context; undefined when nothing changes. */
function hunkEnd(lines: readonly Line[], start: number): { readonly first: number; readonly last: number } | undefined {
  const first = lines.findIndex(({ mark }, i) => i >= start && mark !== ' ');
  if (first < 0) return undefined;
  let last = first;
  for (let i = first; i < lines.length && i <= last + 2 * context; i++) if (lines[i]?.mark !== ' ') last = i;
  return { first, last: Math.min(lines.length, last + 1 + context) };
}

/** A shortest edit of the lines between the common beginning and end. */
function compareLines(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++;
  const same = (text: string): Line => ({ mark: ' ', text });
  return [
    ...before.slice(0, head).map(same),
    ...edit(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ];
}

function edit(before: readonly string[], after: readonly string[]): Line[] {
  const removed = (text: string): Line => ({ mark: '-', text });
  const added = (text: string): Line => ({ mark: '+', text });
  if (before.length * after.length > maxCells) return [...before.map(removed), ...after.map(added)];
  // common[i][j]: the most lines that before[i…] and after[j…] share in order.
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const cell = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i * width + j] =
        before[i] === after[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ mark: ' ', text: before[i++] ?? '' });
      j++;
    } else if (i < before.length && (j === after.length || cell(i + 1, j) >= cell(i, j + 1))) {
      lines.push(removed(before[i++] ?? ''));
    } else lines.push(added(after[j++] ?? ''));
  }
  return lines;
}
