import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { loadScript } from './script.ts';

/** A script as the build writes it. */
function wrap(body: string): string {
  const code = `(function (exports, require, __filename) { 'use strict'; ${body}\n})`;
  return `${code}\n//${createHash('md5').update(code).digest('hex')}\n`;
}

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
  await load().storeCode();
  const code = join(folder, 'code', caches()[1] ?? '');
  writeFileSync(code, 'damaged');
  // Another script of the same hash: V8 does not look at the code of one that this process has compiled before.
  const script = join(folder, 'part.script.cjs');
  writeFileSync(script, readFileSync(script, 'latin1').replace('a + b', 'b + a'));
  const { exports, storeCode } = load();
  expect(exports.sum(1, 2)).toBe(3);
  await storeCode();
  expect(readFileSync(code).length).toBeGreaterThan(100);
});

it('does not take the code of a script that has changed since, even to one of the same size and time', async () => {
  const script = join(folder, 'part.script.cjs');
  utimesSync(script, 1, 1);
  await load().storeCode();
  // V8 compares the size of the source alone.
  writeFileSync(script, wrap('exports.sum = (a, b) => a * b;'));
  utimesSync(script, 1, 1);
  expect(load().exports.sum(3, 5)).toBe(15);
});

it('stores no code of a script without a hash', async () => {
  for (const file of ['entry.script.cjs', 'part.script.cjs']) {
    const path = join(folder, file);
    writeFileSync(path, readFileSync(path, 'latin1').replace(/\/\/.*\n$/, ''));
  }
  const { exports, storeCode } = load();
  await storeCode();
  expect(exports.sum(1, 2)).toBe(3);
  expect(readdirSync(folder)).not.toContain('code');
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
