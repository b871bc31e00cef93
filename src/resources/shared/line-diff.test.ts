import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { lineDiff } from './line-diff.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`);

test('equal texts have an empty diff', () => {
  expect(lineDiff('a\nb', 'a\nb')).toBe('');
});

test('a hunk has three lines of context on each side', () => {
  const before = numbers(20);
  const after = before.with(9, 'changed');
  expect(lineDiff(before.join('\n'), after.join('\n'))).toBe(
    '@@ -7,7 +7,7 @@\n line 7\n line 8\n line 9\n-line 10\n+changed\n line 11\n line 12\n line 13\n',
  );
});

test('changes that are far apart get a hunk each', () => {
  const before = numbers(30);
  const after = ['new', ...before.slice(0, 29)];
  expect(lineDiff(before.join('\n'), after.join('\n'))).toBe(
    '@@ -1,3 +1,4 @@\n+new\n line 1\n line 2\n line 3\n@@ -27,4 +28,3 @@\n line 27\n line 28\n line 29\n-line 30\n',
  );
});

test('a text with too many lines has an empty diff', () => {
  expect(lineDiff('a\n'.repeat(4000), 'b')).toBe('');
});

const lines = (line: (i: number) => string) => Array.from({ length: 3_800 }, (_, i) => line(i)).join('\n');

test.each([
  [
    'lines of few kinds',
    lines((i) => (i % 2 ? `kept ${i % 51}` : `old ${i}`)),
    (line: string) => line.replace('old', 'new'),
  ],
  ['distinct lines', lines((i) => (i % 2 ? `kept ${i}` : `old ${i}`)), (line: string) => line.replace('old', 'new')],
])('many changes among %s are compared up to a limit, and are shown as one change from there', (_, before, change) => {
  const lookUp = vi.spyOn(Map.prototype, 'get');
  const after = before.split('\n').map(change).join('\n');
  const diff = lineDiff(before, after);
  const lookUps = lookUp.mock.calls.length;
  lookUp.mockRestore();
  expect(lookUps).toBeLessThan(250_000);
  expect(diff).toMatch(/^-old 0\n\+new 0\n kept 1\n/m);
  expect(diff).toMatch(/^-old 3798\n-kept \d+\n\+/m);
  expect(patch(before, diff)).toBe(after);
});

/** Applies a diff to a text. */
function patch(text: string, diff: string): string {
  const lines = text.split('\n');
  const out: string[] = [];
  let at = 0;
  for (const line of diff.split('\n').slice(0, -1)) {
    const [, from, length = '1'] = /^@@ -(\d+)(?:,(\d+))? /.exec(line) ?? [];
    if (from !== undefined) {
      const start = length === '0' ? Number(from) : Number(from) - 1;
      out.push(...lines.slice(at, start));
      at = start;
    } else if (line.startsWith('+')) out.push(line.slice(1));
    else {
      expect(lines[at]).toBe(line.slice(1));
      if (line.startsWith(' ')) out.push(line.slice(1));
      at++;
    }
  }
  return [...out, ...lines.slice(at)].join('\n');
}

test('applying the diff to one text gives the other', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(patch(a, lineDiff(a, b))).toBe(b);
    }),
  );
});
