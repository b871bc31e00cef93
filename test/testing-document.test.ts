import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

describe('docs/testing.md', () => {
  it('shows a program that runs against the built package', { timeout: 60_000 }, () => {
    const text = readFileSync(join(root, 'docs/testing.md'), 'utf8');
    const [, program = ''] = /```ts\n(.*?)```/s.exec(text) ?? [];
    const project = mkdtempSync(join(tmpdir(), 'orch-testing-'));
    try {
      mkdirSync(join(project, 'node_modules'));
      symlinkSync(root, join(project, 'node_modules', 'orch'), 'junction');
      writeFileSync(join(project, 'program.mjs'), program);
      const out = execFileSync(process.execPath, ['program.mjs'], { cwd: project, timeout: 50_000 }).toString();
      expect(out).toBe('0 of 2 are ready\n2 of 2 are ready\n');
    } finally {
      rmSync(project, { recursive: true, force: true });
    }
  });
});
