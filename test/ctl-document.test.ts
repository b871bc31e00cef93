import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { connectionOf, parseKubeconfig } from '../src/client/index.ts';
import { ctl, wordsOf } from './support/ctl.ts';
import { type RunningServer, startServer } from './support/server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const text = readFileSync(join(root, 'docs/ctl.md'), 'utf8');
const blocks = (language: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code = '']) => code);

let server: RunningServer;
let folder = '';
beforeAll(async () => {
  server = await startServer(['--api-domain=k8s.io']);
  folder = mkdtempSync(join(tmpdir(), 'orch-ctl-'));
  // The server is found by its data below the current folder, as the page says.
  mkdirSync(join(folder, 'orch-data'));
  symlinkSync(server.folder, join(folder, 'orch-data/k8s.io'), 'junction');
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('docs/ctl.md', () => {
  it('shows command lines that work, without a kubeconfig of their own', async () => {
    const printed: string[] = [];
    for (const [line, command] of commandLines()) {
      if (command === undefined) continue;
      const { code, out, err } = await ctl(wordsOf(command), { folder });
      expect({ line, code, err }).toEqual({ line, code: line.endsWith('|| true') ? 1 : 0, err: '' });
      printed.push(out);
    }
    expect(printed.join('')).toContain('green\n');
    expect(printed.length).toBeGreaterThan(15);
  });

  it('shows a user with an exec plugin, whose settings are valid', async () => {
    const { users } = parse(blocks('yaml')[0] ?? '') as { users: object[] };
    const config = {
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443' } }],
      users,
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'jane' } }],
      'current-context': 'x',
    };
    const { credentials } = await connectionOf(parseKubeconfig(JSON.stringify(config), 'config'));
    expect(credentials).toBeDefined();
  });

  it('shows a program that runs against the built package', () => {
    const project = mkdtempSync(join(tmpdir(), 'orch-ctl-program-'));
    mkdirSync(join(project, 'node_modules'));
    symlinkSync(root, join(project, 'node_modules', 'orch'), 'junction');
    const admin = readFileSync(server.kubeconfig, 'utf8').replaceAll(
      /(name|cluster|current-context): kubernetes$/gm,
      '$1: production',
    );
    writeFileSync(join(project, 'config'), admin);
    writeFileSync(join(project, 'program.mjs'), blocks('ts')[0] ?? '');
    const env = { ...process.env, KUBECONFIG: join(project, 'config') };
    const out = execFileSync(process.execPath, ['program.mjs'], { cwd: project, env, timeout: 60_000 });
    rmSync(project, { recursive: true, force: true });
    expect(out.toString()).toContain('kube-system');
  });
});

/** The lines of the shell blocks, with the arguments of `orch ctl`; files of here-documents are written first. */
function commandLines(): [string, string | undefined][] {
  return blocks('sh').flatMap((block) => {
    const rest = block.replace(/^cat > (\S+) <<'END'\n(.*?)^END\n/gms, (_, name: string, content: string) => {
      writeFileSync(join(folder, name), content);
      return '';
    });
    return rest
      .trim()
      .split('\n')
      .map((line): [string, string | undefined] => [line, /^orch ctl (.*?)(?: \|\| true)?$/.exec(line)?.[1]]);
  });
}
