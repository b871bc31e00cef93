import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultNames } from '../src/server/harness/simulation/plan.ts';

const root = dirname(import.meta.dirname);
const text = readFileSync(join(root, 'docs/simulation.md'), 'utf8');
const files = new Map(
  [...text.matchAll(/^```js\n\/\/ (\S+)[^\n]*\n(.*?)^```$/gms)].map(([, name = '', code = '']) => [name, code]),
);
let project = '';

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'orch-simulation-'));
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(root, join(project, 'node_modules/orch'), 'junction');
  for (const [name, code] of files) writeFileSync(join(project, name), code);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('docs/simulation.md', () => {
  it.each(['race.test.mjs', 'mended.test.mjs'])('shows %s, which passes', { timeout: 240_000 }, (file) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--test', file], {
      cwd: project,
      encoding: 'utf8',
      env: { ...process.env, VITEST: undefined },
    });
    expect(status, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/(# pass 1|ℹ pass 1)\b/);
  });

  it('describes every fault', () => {
    const described = [...text.matchAll(/^\| `([a-z ]+)` \|/gm)].map(([, name]) => name);
    expect(described.filter((name) => (faultNames as readonly string[]).includes(name ?? ''))).toEqual(faultNames);
  });
});
