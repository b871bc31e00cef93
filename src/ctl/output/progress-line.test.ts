import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ProgramIo } from '../io.ts';
import type { Output } from './output.ts';
import { ProgressLine } from './progress-line.ts';
import { ioOf, paint, warn } from './terminal.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const clock = { now: () => Date.now() };
const erased = '\r\u001b[K';

/** An output that remembers what was written. */
function recorder(rest: Partial<Output> = { isTTY: true }) {
  const texts: string[] = [];
  return { texts, output: { write: (text: string | Uint8Array) => texts.push(String(text)), ...rest } };
}

/** Work that ends when it is told to. */
function work() {
  let end: () => void = () => {};
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { run: () => done, end: () => end() };
}

it('shows work that takes longer than a second, and erases the line at its end', async () => {
  const { texts, output } = recorder();
  const waiting = work();
  const done = new ProgressLine(output, clock).during(() => 'Waiting', waiting.run);
  vi.advanceTimersByTime(900);
  expect(texts).toEqual([]);
  vi.advanceTimersByTime(600);
  expect(texts.at(-1)).toBe(`${erased}Waiting (1s)`);
  waiting.end();
  await done;
  expect(texts.at(-1)).toBe(erased);
  const count = texts.length;
  vi.advanceTimersByTime(5_000);
  expect(texts).toHaveLength(count);
});

it('shows the innermost work, cut at the width of the terminal', async () => {
  const { texts, output } = recorder({ isTTY: true, columns: 20 });
  const progress = new ProgressLine(output, clock);
  const [outer, inner] = [work(), work()];
  const all = progress.during(
    () => 'outer',
    async () => {
      await progress.during(() => 'an inner work of many words', inner.run);
      await outer.run();
    },
  );
  vi.advanceTimersByTime(2_000);
  expect(texts.at(-1)).toBe(`${erased}an inner work of m…`);
  inner.end();
  await vi.advanceTimersByTimeAsync(500);
  expect(texts.at(-1)).toBe(`${erased}outer (2s)`);
  outer.end();
  await all;
});

it('shows nothing where standard error is not a terminal', async () => {
  const { texts, output } = recorder({});
  const waiting = work();
  const done = new ProgressLine(output, clock).during(() => 'Waiting', waiting.run);
  vi.advanceTimersByTime(5_000);
  waiting.end();
  await done;
  expect(texts).toEqual([]);
});

const program = (env: ProgramIo['env'], rest: Partial<Output> = { isTTY: true }) => {
  const [out, err] = [recorder(rest), recorder(rest)];
  const io = ioOf({ stdout: out.output, stderr: err.output, env, clock } as unknown as ProgramIo);
  return { io, out: out.texts, err: err.texts };
};

it('erases the line before a command prints', async () => {
  const { io, out, err } = program({});
  const waiting = work();
  const done = io.progress.during(() => 'Waiting', waiting.run);
  vi.advanceTimersByTime(1_000);
  io.stdout.write('a\n');
  expect([err.at(-1), out]).toEqual([erased, ['a\n']]);
  waiting.end();
  await done;
});

it.each([
  ['a terminal has colours', {}, { isTTY: true }, true],
  ['a file has none', {}, {}, false],
  ['NO_COLOR turns them off', { NO_COLOR: '1' }, { isTTY: true }, false],
  ['an empty NO_COLOR does not', { NO_COLOR: '' }, { isTTY: true }, true],
  ['a dumb terminal has none', { TERM: 'dumb' }, { isTTY: true }, false],
])('%s', (_, env, output, hasColours) => {
  const { io, err } = program(env, output);
  expect(paint(io.stdout, 'green', 'Running')).toBe(hasColours ? '\u001b[32mRunning\u001b[0m' : 'Running');
  warn(io, 'old');
  expect(err).toEqual([hasColours ? '\u001b[33mWarning:\u001b[0m old\n' : 'Warning: old\n']);
});
