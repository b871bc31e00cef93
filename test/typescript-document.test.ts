import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { generateTable } from '../src/server/settings/generate-flags.ts';

// The commands and programs of docs/typescript.md run, in a project that has the built package.

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'docs/typescript.md'), 'utf8');
const snippets = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) => text);

const project = mkdtempSync(join(tmpdir(), 'orch-typescript-'));
afterAll(() => rmSync(project, { recursive: true, force: true }));

const run = (...args: readonly string[]) => spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });

it('shows commands and programs that run against the built package', () => {
  for (const folder of ['node_modules', 'crds']) mkdirSync(join(project, folder));
  symlinkSync(root, join(project, 'node_modules/orch'), 'junction');
  symlinkSync(join(root, 'node_modules/zod'), join(project, 'node_modules/zod'), 'junction');
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  writeFileSync(join(project, 'crds/backups.yaml'), snippets('yaml')[0] ?? '');
  const commands = snippets('sh').map((text) => text.trim().split(' '));
  expect(commands).toHaveLength(3);
  for (const [npx, orch, ...args] of commands) {
    expect([npx, orch]).toEqual(['npx', 'orch']);
    expect(run(join(root, 'dist/server/main.js'), ...args)).toMatchObject({ status: 0, stderr: '' });
  }
  const programs = snippets('ts').map((text, i) => {
    writeFileSync(join(project, `program${i}.ts`), text);
    return `program${i}`;
  });
  const options = ['--strict', '--target', 'es2023', '--lib', 'es2023,dom', '--types', '', '--module', 'nodenext'];
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '--ignoreConfig', ...options];
  expect(run(...tsc, ...programs.map((name) => `${name}.ts`)).stdout).toBe('');
  expect(programs.map((name) => run(`${name}.js`).stdout)).toEqual([
    "[ 'web:1' ]\n",
    '7\n',
    "{ keep: 7, source: 'data' }\nfalse\n",
  ]);
  expect(JSON.parse(readFileSync(join(project, 'schema.json'), 'utf8'))).toMatchObject({ $ref: '#/$defs/V1Backup' });
});

it('lists every flag of the command', () => {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  for (const { name, type, default: byDefault, help } of generateTable.list) {
    const value = type.format(byDefault);
    const cells = [`\`--${name}\``, cell(type.placeholder), value === '' ? '' : `\`${value}\``, cell(help)];
    expect(page).toContain(`\n| ${cells.join(' | ')} |\n`);
  }
});
