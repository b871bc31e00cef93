import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');

describe('README', () => {
  it('shows a program that runs against the built package', () => {
    const [, program] = /```ts\n(.*?)```/s.exec(readme) ?? [];
    expect(program).toContain("from 'orch'");
    const project = mkdtempSync(join(tmpdir(), 'orch-readme-'));
    mkdirSync(join(project, 'node_modules'));
    symlinkSync(root, join(project, 'node_modules', 'orch'), 'junction');
    writeFileSync(join(project, 'program.mjs'), program ?? '');
    const out = execFileSync(process.execPath, ['program.mjs'], { cwd: project, timeout: 20_000 }).toString();
    expect(out).toBe("ADDED settings { colour: 'green' }\n1 config map\n");
  });
});
