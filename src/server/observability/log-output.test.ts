import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { LogOutput } from './log-output.ts';

const folder = mkdtempSync(join(tmpdir(), 'orch-log-output-'));
const path = join(folder, 'pipe');
execFileSync('mkfifo', [path]);
// Opened for both directions: the pipe lives as long as this test.
const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);

afterEach(() => {
  while (read() !== '');
});

/** The content of the pipe. */
function read(): string {
  const buffer = Buffer.alloc(128 * 1024);
  try {
    return buffer.toString('latin1', 0, readSync(pipe, buffer));
  } catch {
    return '';
  }
}

const line = (i: number) => `${String(i).padStart(9, '0')} ${'x'.repeat(500)}\n`;

it('lines that nobody reads wait, and the count of those that are dropped is told once there is room', async () => {
  const told: number[] = [];
  const before = process.listenerCount('exit');
  const output = new LogOutput(pipe, (dropped) => told.push(dropped));
  const most = 10_000;
  for (let i = 0; i < most; i++) output.write(line(i));
  expect(told).toEqual([]);
  let got = '';
  const readOn = () => {
    got += read();
    return told.length;
  };
  await expect.poll(readOn, { interval: 5 }).toBe(1);
  got += read();
  const dropped = told[0] as number;
  expect(dropped).toBeGreaterThan(0);
  expect(got).toBe(Array.from({ length: most - dropped }, (_, i) => line(i)).join(''));
  output.write(line(0));
  expect(read()).toBe(line(0));
  expect(process.listenerCount('exit')).toBe(before);
});

it('the end of the process writes what waits, as long as somebody reads', async () => {
  const before = process.listenerCount('exit');
  const output = new LogOutput(pipe, () => {});
  for (let i = 0; i < 1_000; i++) output.write(line(i));
  expect(process.listenerCount('exit')).toBe(before + 1);
  output.flush();
  const copy = join(folder, 'copy');
  const size = String(1_000 * line(0).length);
  const reader = spawn('head', ['-c', size, path], { stdio: ['ignore', openSync(copy, 'w'), 'inherit'] });
  for (let i = 0; i < 20 && process.listenerCount('exit') > before; i++) output.flush();
  await once(reader, 'close');
  expect(readFileSync(copy, 'utf8')).toBe(Array.from({ length: 1_000 }, (_, i) => line(i)).join(''));
  closeSync(pipe);
  rmSync(folder, { recursive: true });
});

it('a reader that has gone is not a failure', () => {
  const output = new LogOutput(pipe, () => {});
  expect(() => output.write(line(0))).not.toThrow();
  expect(() => output.flush()).not.toThrow();
});
