import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const text = readFileSync(join(root, 'docs/controller-library.md'), 'utf8');
const programs = new Map(
  [...text.matchAll(/```ts\n\/\/ (\S+)\n(.*?)```/gs)].map(([, name = '', code = '']) => [name, code]),
);
let project = '';

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'orch-controller-'));
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(root, join(project, 'node_modules', 'orch'), 'junction');
  symlinkSync(join(root, 'node_modules', '@types'), join(project, 'node_modules', '@types'), 'junction');
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  for (const [name, code] of programs) writeFileSync(join(project, name), code);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('docs/controller-library.md', () => {
  it('shows a controller and its test in fifty lines, which passes', async () => {
    const lines = ['websites.ts', 'websites.test.ts'].flatMap((name) => (programs.get(name) ?? '').trim().split('\n'));
    expect(lines.filter((line) => line !== '').length).toBeLessThanOrEqual(50);
    const bundle = await rolldown({
      input: join(project, 'websites.test.ts'),
      platform: 'node',
      external: [/^orch/, /^node:/],
    });
    await bundle.write({ file: join(project, 'websites.test.mjs') });
    await bundle.close();
    const out = execFileSync(process.execPath, ['--test', 'websites.test.mjs'], { cwd: project, timeout: 100_000 });
    expect(out.toString()).toContain('pass 1');
  });

  it('shows programs whose types are right', () => {
    expect([...programs.keys()]).toEqual(['websites.ts', 'websites.test.ts', 'definition.ts', 'connect.ts']);
    const compilerOptions = {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      types: ['node'],
      exactOptionalPropertyTypes: true,
      noPropertyAccessFromIndexSignature: true,
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [...programs.keys()] }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    expect(spawnSync(process.execPath, [tsc, '-p', '.'], { cwd: project, encoding: 'utf8' }).stdout).toBe('');
  });
});
