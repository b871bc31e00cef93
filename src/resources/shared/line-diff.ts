/** Lines of unchanged text around a change. */
const CONTEXT = 3;
/** Limit of the lines of a text that is compared. */
export const maxDiffLines = 4000;
/** Limit of the lines that are looked up and the places that are compared, at most 10 ms of work. */
const maxComparisons = 100_000;

interface Block {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

type Step = readonly [change: boolean, a1: number, a2: number, b1: number, b2: number];

/**
 * The unified diff of two texts without file headers, each line ended by a newline. Empty when they are equal or one
 * has more than 4000 lines. Lines that are still to be compared when the limit of comparisons is reached are shown as
 * changed.
 */
export function lineDiff(before: string, after: string): string {
  const a = before.split('\n');
  const b = after.split('\n');
  if (a.length > maxDiffLines || b.length > maxDiffLines) return '';
  let out = '';
  for (const hunk of hunksOf(stepsOf(matches(a, b), a.length, b.length))) {
    const [, a1, , b1] = hunk[0] as Step;
    const [, , a2, , b2] = hunk.at(-1) as Step;
    out += `@@ -${range(a1, a2)} +${range(b1, b2)} @@\n`;
    for (const [change, i1, i2, j1, j2] of hunk) {
      const write = (sign: string, lines: string[]) => {
        for (const line of lines) out += `${sign}${line}\n`;
      };
      if (change) {
        write('-', a.slice(i1, i2));
        write('+', b.slice(j1, j2));
      } else write(' ', a.slice(i1, i2));
    }
  }
  return out;
}

function range(from: number, to: number): string {
  const length = to - from;
  if (length === 1) return String(from + 1);
  return `${length === 0 ? from : from + 1},${length}`;
}

/** The positions of each line of a text; lines that occur very often in a long text are left out. */
function placesOf(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  lines.forEach((line, i) => {
    const positions = places.get(line);
    if (positions === undefined) places.set(line, [i]);
    else positions.push(i);
  });
  if (lines.length < 200) return places;
  const most = Math.floor(lines.length / 100) + 1;
  for (const [line, at] of places) if (at.length > most) places.delete(line);
  return places;
}

/** How many more comparisons may be made. */
interface Budget {
  remaining: number;
}

/** The longest common runs of lines in order; the last block is empty. */
function matches(a: readonly string[], b: readonly string[]): Block[] {
  const places = placesOf(b);
  const budget = { remaining: maxComparisons };
  const blocks: Block[] = [];
  const open: [number, number, number, number][] = [[0, a.length, 0, b.length]];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const [a1, a2, b1, b2] = part;
    const block = longest(a, b, places, part, budget);
    if (block.size === 0) continue;
    blocks.push(block);
    if (a1 < block.a && b1 < block.b) open.push([a1, block.a, b1, block.b]);
    if (block.a + block.size < a2 && block.b + block.size < b2)
      open.push([block.a + block.size, a2, block.b + block.size, b2]);
  }
  blocks.sort((x, y) => x.a - y.a);
  return [...blocks, { a: a.length, b: b.length, size: 0 }];
}

function longest(
  a: readonly string[],
  b: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  [a1, a2, b1, b2]: readonly [number, number, number, number],
  budget: Budget,
): Block {
  let best: Block = { a: a1, b: b1, size: 0 };
  let ending = new Map<number, number>();
  for (let i = a1; i < a2; i++) {
    if (--budget.remaining < 0) break;
    const next = new Map<number, number>();
    for (const j of places.get(a[i] as string) ?? []) {
      if (j < b1) continue;
      if (j >= b2 || --budget.remaining < 0) break;
      const size = (ending.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    ending = next;
  }
  let { a: i, b: j, size } = best;
  for (; i > a1 && j > b1 && a[i - 1] === b[j - 1]; i--, j--) size++;
  while (i + size < a2 && j + size < b2 && a[i + size] === b[j + size]) size++;
  return { a: i, b: j, size };
}

/** The edit script: equal and changed blocks in turn. */
function stepsOf(blocks: readonly Block[], aLength: number, bLength: number): Step[] {
  const steps: Step[] = [];
  let i = 0;
  let j = 0;
  for (const { a, b, size } of joined(blocks)) {
    if (i < a || j < b) steps.push([true, i, a, j, b]);
    if (size > 0) steps.push([false, a, a + size, b, b + size]);
    i = a + size;
    j = b + size;
  }
  if (i < aLength || j < bLength) steps.push([true, i, aLength, j, bLength]);
  return steps;
}

function joined(blocks: readonly Block[]): Block[] {
  const out: Block[] = [];
  for (const block of blocks) {
    const last = out.at(-1);
    if (last !== undefined && last.a + last.size === block.a && last.b + last.size === block.b) {
      out[out.length - 1] = { ...last, size: last.size + block.size };
    } else out.push(block);
  }
  return out;
}

/** Groups changes into hunks with context lines; hunks that are close together are joined. */
function hunksOf(steps: readonly Step[]): Step[][] {
  if (!steps.some(([change]) => change)) return [];
  const hunks: Step[][] = [];
  let hunk: Step[] = [];
  steps.forEach(([change, a1, a2, b1, b2], i) => {
    const size = a2 - a1;
    const first = i === 0;
    const last = i === steps.length - 1;
    if (change) hunk.push([true, a1, a2, b1, b2]);
    else if (first) {
      const retained = Math.min(size, CONTEXT);
      hunk.push([false, a2 - retained, a2, b2 - retained, b2]);
    } else if (last || size > 2 * CONTEXT) {
      const retained = Math.min(size, CONTEXT);
      hunk.push([false, a1, a1 + retained, b1, b1 + retained]);
      if (last) return;
      hunks.push(hunk);
      hunk = [[false, a2 - CONTEXT, a2, b2 - CONTEXT, b2]];
    } else hunk.push([false, a1, a2, b1, b2]);
  });
  return [...hunks, hunk];
}
