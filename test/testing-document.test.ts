import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// Every test that docs/testing.md shows, as it stands, against the built package.
const root = fileURLToPath(new URL('..', import.meta.url));
const text = readFileSync(join(root, 'docs/testing.md'), 'utf8');
// Commands for a shell are not tests.
const blocks = [...text.matchAll(/^```(?!sh\n)(\w+)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => {
  const [, file = '', runner = ''] = /^(?:\/\/|#) (\S+)(?: \((.*)\))?\n/.exec(code) ?? [];
  return { language, code, file, runner };
});
const tests = blocks.filter(({ language }) => language !== 'yaml');

// Their own limit of five seconds is for an idle machine.
const patience = '--testTimeout=90000';
const commands: { readonly [runner: string]: (file: string) => readonly string[] } = {
  'node --test': (file) => ['--test', file],
  vitest: (file) => [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', '.', patience, file],
  jest: (file) => [
    join(root, 'node_modules/jest/bin/jest.js'),
    '--rootDir',
    '.',
    patience,
    '--testMatch',
    `**/${file}`,
  ],
};

let project = '';
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'orch-testing-'));
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(root, join(project, 'node_modules/orch'), 'junction');
  symlinkSync(join(root, 'node_modules/vitest'), join(project, 'node_modules/vitest'), 'junction');
  writeFileSync(join(project, 'package.json'), '{"private": true}');
  for (const { file, code } of blocks) {
    mkdirSync(join(project, dirname(file)), { recursive: true });
    writeFileSync(join(project, file), code);
  }
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('docs/testing.md', () => {
  it('names the file and the runner of every test', () => {
    expect(tests.length).toBeGreaterThan(6);
    expect(tests.filter(({ runner }) => commands[runner] === undefined)).toEqual([]);
    expect(new Set(blocks.map(({ file }) => file)).size).toBe(blocks.length);
  });

  it.each(tests.map(({ file, runner }) => [file, runner]))('shows %s, which passes under %s', (file, runner) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, commands[runner]?.(file) ?? [], {
      cwd: project,
      encoding: 'utf8',
      timeout: 100_000,
      env: { ...process.env, VITEST: undefined },
    });
    expect(status, stdout + stderr).toBe(0);
    expect(stdout + stderr).toMatch(/(# pass [12]|ℹ pass [12]|1 passed)\b/);
  });
});
