import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { hasKubectl, hasProgram } from './support/requirements.ts';
import { startServer } from './support/server.ts';

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

  const tools = () => hasKubectl() && hasProgram('openssl', 'version') && hasProgram('curl', '--version');
  it.skipIf(!tools())('shows commands for users and rights that work as they stand', { timeout: 60_000 }, async () => {
    const [, section = ''] = /^## Users and rights$(.*?)^## /ms.exec(readme) ?? [];
    const [user = '', rights = '', tokens = ''] = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text);
    const server = await startServer(['--api-domain=k8s.io']);
    const folder = mkdtempSync(join(tmpdir(), 'orch-readme-'));
    symlinkSync(server.folder, join(folder, 'orch-data'), 'junction');
    const run = (commands: string) =>
      execFileSync('bash', ['-e', '-o', 'pipefail', '-c', commands.replaceAll('https://127.0.0.1:6443', server.url)], {
        cwd: folder,
        env: { ...process.env, HOME: folder, KUBECONFIG: server.kubeconfig },
        timeout: 40_000,
        stdio: ['ignore', 'pipe', 'pipe'],
      }).toString();
    try {
      const out = run(user + rights);
      expect(out).toMatch(/^Username +jane$/m);
      expect(out).toMatch(/^configmaps +\[\] +\[\] +\[get list watch create update patch delete\]$/m);
      expect(out).toContain('"kind": "ConfigMapList"');

      const [line = '', start = ''] = tokens.split('\n');
      run(line);
      const flags = start.replace(/.*? -- /, '').split(' ');
      const absolute = flags.map((flag) => flag.replace(/=([a-z]+\.\w+)$/, `=${join(folder, '$1')}`));
      const other = await startServer(absolute);
      try {
        const [token = ''] = readFileSync(join(folder, 'tokens.csv'), 'utf8').split(',');
        const place = '/api/v1/namespaces/default/configmaps';
        const { body } = await other.request('GET', place, undefined, { authorization: `Bearer ${token}` });
        expect((body as { message: string }).message).toContain('User "jim" cannot list resource "configmaps"');
      } finally {
        await other.stop();
      }
      const events = readFileSync(join(folder, 'audit.log'), 'utf8').split('\n');
      expect(events.filter((event) => event.includes('"username":"jim"'))).toHaveLength(1);
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
