import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { loadScript } from './script.ts';

const wrap = (body: string) => `(function (exports, require, __filename) { 'use strict'; ${body}\n})`;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-script-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'entry.script.cjs'), wrap(`exports.sum = require('./part.script.cjs').sum;`));
  writeFileSync(join(folder, 'part.script.cjs'), wrap('exports.sum = (a, b) => a + b;'));
});

const load = () => loadScript<{ sum: (a: number, b: number) => number }>('entry', folder);
const caches = () => readdirSync(join(folder, 'code')).sort();

it('runs a script and those that it requires, each of them one time', async () => {
  writeFileSync(
    join(folder, 'entry.script.cjs'),
    wrap(`exports.part = require('./part.script.cjs');
      exports.name = require('node:path').basename(__filename);
      exports.later = () => require('./part.script.cjs');`),
  );
  const { exports, storeCode } = loadScript<{ part: object; name: string; later: () => object }>('entry', folder);
  expect(exports.name).toBe('entry.script.cjs');
  await storeCode();
  expect(exports.later()).toBe(exports.part);
});

it('stores the code of all loaded scripts, which the next load takes and does not store again', async () => {
  const first = load();
  expect(first.exports.sum(1, 2)).toBe(3);
  await first.storeCode();
  expect(caches()).toEqual([
    expect.stringMatching(/^entry-entry\.script\.cjs-[0-9a-f]{16}$/),
    expect.stringMatching(/^entry-part\.script\.cjs-[0-9a-f]{16}$/),
  ]);
  const second = load();
  expect(second.exports.sum(1, 2)).toBe(3);
  rmSync(join(folder, 'code'), { recursive: true });
  await second.storeCode();
  expect(readdirSync(folder)).not.toContain('code');
});

it('ignores damaged code, and replaces it', async () => {
  const script = join(folder, 'part.script.cjs');
  utimesSync(script, 1, 1);
  await load().storeCode();
  const code = join(folder, 'code', caches()[1] ?? '');
  writeFileSync(code, 'damaged');
  // Another script of the same size and time: V8 does not look at the code of one that this process has compiled before.
  writeFileSync(script, wrap('exports.sum = (b, a) => b + a;'));
  utimesSync(script, 1, 1);
  const { exports, storeCode } = load();
  expect(exports.sum(1, 2)).toBe(3);
  await storeCode();
  expect(readFileSync(code).length).toBeGreaterThan(100);
});

it('does not take the code of a script that has changed since', async () => {
  await load().storeCode();
  // The same size: V8 alone would not notice.
  writeFileSync(join(folder, 'part.script.cjs'), wrap('exports.sum = (a, b) => a * b;'));
  utimesSync(join(folder, 'part.script.cjs'), 1, 1);
  expect(load().exports.sum(3, 5)).toBe(15);
});

it('removes all codes of a script but the four latest ones', async () => {
  for (let i = 0; i < 6; i++) {
    writeFileSync(join(folder, 'entry.script.cjs'), wrap(`exports.a = ${'1'.repeat(i)}1;`));
    await load().storeCode();
  }
  expect(caches()).toHaveLength(4);
});

it('works in a folder without permission to write, where every load compiles the script', async () => {
  writeFileSync(join(folder, 'code'), '');
  for (const _ of [1, 2]) {
    const { exports, storeCode } = load();
    await storeCode();
    expect(exports.sum(1, 2)).toBe(3);
  }
});

it('lets nobody but the owner write the code', async () => {
  await load().storeCode();
  const modes = caches().map((name) => statSync(join(folder, 'code', name)).mode & 0o777);
  expect(modes).toEqual([0o644, 0o644]);
});
