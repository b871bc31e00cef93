import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { hasKubectl, hasProgram } from './support/requirements.ts';
import { type RunningServer, startServer } from './support/server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = (name: string) => readFileSync(join(root, name), 'utf8');

/** Runs files in a folder where the built package is installed. */
function inProject<T>(files: { readonly [name: string]: string }, run: (cwd: string) => T): T {
  const project = mkdtempSync(join(tmpdir(), 'orch-readme-'));
  try {
    mkdirSync(join(project, 'node_modules'));
    symlinkSync(root, join(project, 'node_modules', 'orch'), 'junction');
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
    return run(project);
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

/** A shell in a new folder, in which a server is where the page has it. */
function shellAt(server: RunningServer) {
  const folder = mkdtempSync(join(tmpdir(), 'orch-readme-'));
  mkdirSync(join(folder, 'orch-data'));
  symlinkSync(server.folder, join(folder, 'orch-data/k8s.io'), 'junction');
  const orch = `"${process.execPath}" "${join(root, 'dist/server/main.js')}"`;
  const here = (commands: string) =>
    commands.replaceAll('https://127.0.0.1:6443', server.url).replaceAll('npx orch', orch);
  const run = (commands: string) =>
    execFileSync('bash', ['-e', '-o', 'pipefail', '-c', here(commands)], {
      cwd: folder,
      env: { ...process.env, HOME: folder, KUBECONFIG: server.kubeconfig },
      timeout: 100_000,
      stdio: ['ignore', 'pipe', 'pipe'],
    }).toString();
  return { folder, run };
}

describe('README', () => {
  it('shows tests that pass', () => {
    const readme = page('README.md');
    const files = [...readme.matchAll(/```js\n\/\/ (\S+)\n(.*?)```/gs)].map(([, name = '', text = '']) => [name, text]);
    expect(files.map(([name]) => name)).toEqual(['settings.test.mjs', 'colours.test.mjs']);
    const run = (cwd: string) =>
      execFileSync(process.execPath, ['--test', '--test-reporter=tap'], { cwd, timeout: 100_000 });
    expect(inProject(Object.fromEntries(files), run).toString()).toMatch(/^# pass 2$(?:\n.*)*^# fail 0$/m);
  });
});

describe('docs/getting-started.md', () => {
  const text = page('docs/getting-started.md');

  it('shows a program that runs against the built package', () => {
    const [, program = ''] = /```ts\n(.*?)```/s.exec(text) ?? [];
    expect(program).toContain("from 'orch'");
    const run = (cwd: string) => execFileSync(process.execPath, ['program.mjs'], { cwd, timeout: 100_000 }).toString();
    expect(inProject({ 'program.mjs': program }, run)).toBe("ADDED settings { colour: 'green' }\n1 config map\n");
  });

  const tools = () => hasKubectl() && hasProgram('openssl', 'version') && hasProgram('curl', '--version');
  it.skipIf(!tools())('shows first commands for kubectl and curl that work as they stand', async () => {
    const [, kubectl = ''] = /^## With kubectl$.*?```sh\n(export .*?)```/ms.exec(text) ?? [];
    const [, curl = ''] = /^## With curl$.*?```sh\n(.*?)```/ms.exec(text) ?? [];
    // A watch does not end.
    const ends = (commands: string) => commands.replace(/^.*watch.*$/gm, '');
    const server = await startServer(['--api-domain=k8s.io']);
    try {
      const { run } = shellAt(server);
      expect(run(ends(kubectl))).toMatch(/colour: green(?:.*\n)*.*\ndeployments +deploy +apps\/v1/);
      run('kubectl delete configmap settings');
      const answers = run(ends(curl));
      expect(answers.lastIndexOf('"colour": "blue"')).toBeGreaterThan(answers.lastIndexOf('"colour": "green"'));
    } finally {
      await server.stop();
    }
  });

  it.skipIf(!tools())('shows commands for users and rights that work as they stand', async () => {
    const [, section = ''] = /^## Users and rights$(.*?)^## /ms.exec(text) ?? [];
    const [user = '', rights = '', tokens = ''] = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text);
    const server = await startServer(['--api-domain=k8s.io', '--controllers=clusterrole-aggregation-controller']);
    const { folder, run } = shellAt(server);
    try {
      // A controller adds the rules of this role once the server is ready.
      const view = '/apis/rbac.authorization.k8s.io/v1/clusterroles/view';
      await expect.poll(async () => (await server.request('GET', view)).body.rules ?? []).not.toEqual([]);
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
