import { expect, test } from 'vitest';
import { Progress } from './progress.ts';

function shown(isTTY: boolean) {
  const [written, time]: [string[], { now: number }] = [[], { now: 0 }];
  const out = { isTTY, write: (text: string) => written.push(text) };
  return { written, time, progress: new Progress(out, { monotonic: () => time.now }) };
}

test('lines without control characters where there is no terminal: one for each tenth of a step', () => {
  const { written, progress } = shown(false);
  for (let done = 0; done <= 5000; done++) progress.show('copy', done, 5000);
  progress.show('verify', 0, 0);
  progress.end();
  expect(written).toHaveLength(12);
  expect(written.slice(0, 2)).toEqual(['copy: 0 %  0 objects\n', 'copy: 10 %  500 objects\n']);
  expect(written.slice(-2)).toEqual(['copy: 100 %  5,000 objects\n', 'verify: 100 %  0 objects\n']);
});

test('a bar on a terminal, drawn ten times a second at most, and at the end of a step', () => {
  const { written, time, progress } = shown(true);
  for (let done = 0; done <= 200; done++, time.now += 10) progress.show('copy', done, 200);
  expect(written).toHaveLength(21);
  expect(written[10]).toBe(`\rcopy   [${'#'.repeat(15)}${' '.repeat(15)}] 50 %  100 objects\u001b[K`);
  expect(written.at(-1)).toBe(`\rcopy   [${'#'.repeat(30)}]100 %  200 objects\u001b[K`);
  progress.show('verify', 0, 200);
  expect(written.slice(21)).toEqual(['\n', `\rverify [${' '.repeat(30)}]  0 %  0 objects\u001b[K`]);
  progress.say('a line');
  progress.end();
  expect(written.slice(23)).toEqual(['\n', 'a line\n']);
});
