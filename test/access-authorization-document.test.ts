import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hasProgram } from './support/requirements.ts';
import { type RunningServer, startServer } from './support/server.ts';

// The webhook of docs/access-authorization.md does what the page says, with the files that the page shows.

const page = readFileSync(new URL('../docs/access-authorization.md', import.meta.url), 'utf8');
const snippets = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) => text);
const [program = ''] = snippets('js');
const [certificate = ''] = snippets('sh');
const [kubeconfig = '', configuration = ''] = snippets('yaml');

const folder = mkdtempSync(join(tmpdir(), 'orch-authorization-'));
const started: ChildProcess[] = [];
afterAll(() => {
  for (const child of started) child.kill();
  rmSync(folder, { recursive: true, force: true });
});

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });

/** Starts the webhook of the page and writes its files; the result is the path of the configuration. */
async function startWebhook(): Promise<string> {
  execFileSync('bash', ['-c', certificate], { cwd: folder, stdio: 'pipe' });
  const port = await freePort();
  writeFileSync(join(folder, 'webhook.mjs'), program);
  started.push(spawn(process.execPath, ['webhook.mjs'], { cwd: folder, env: { ...process.env, PORT: String(port) } }));
  writeFileSync(join(folder, 'webhook.kubeconfig'), kubeconfig.replace('8443', String(port)));
  const path = join(folder, 'authorization.yaml');
  writeFileSync(path, configuration.replace('/etc/orch/webhook.kubeconfig', join(folder, 'webhook.kubeconfig')));
  return path;
}

async function answerTo(server: RunningServer, method: string, path: string, group = 'night-shift') {
  const { status, body } = await server.request(method, path, undefined, {
    'impersonate-user': 'jane',
    'impersonate-group': group,
  });
  return [status, typeof body?.message === 'string' ? body.message : ''];
}

describe.skipIf(!hasProgram('openssl', 'version'))('docs/access-authorization.md', () => {
  it('has a webhook of thirty lines at the most, which decides as the page says', async () => {
    expect(program.trim().split('\n').length).toBeLessThanOrEqual(30);
    const server = await startServer([`--authorization-config=${await startWebhook()}`]);
    try {
      await expect.poll(() => answerTo(server, 'GET', '/api/v1/pods')).toEqual([200, '']);
      expect(await answerTo(server, 'GET', '/api/v1/pods', 'day-shift')).toEqual([403, expect.any(String)]);
      expect(await answerTo(server, 'DELETE', '/api/v1/namespaces/default')).toEqual([
        403,
        expect.stringMatching(/: namespaces are deleted by a ticket$/),
      ]);
      // A condition excludes it: the roles decide.
      expect(await answerTo(server, 'GET', '/version')).toEqual([200, '']);
      expect(await answerTo(server, 'GET', '/api/v1/secrets')).toEqual([403, expect.any(String)]);
    } finally {
      await server.stop();
    }
  });
});
