import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
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

  it('promises proxies with https, whose certificates are verified with NODE_EXTRA_CA_CERTS', async () => {
    const pem = (name: string) => readFileSync(join(server.folder, name));
    const proxy = createServer({ cert: pem('server.crt'), key: pem('server.key') });
    const targets: string[] = [];
    proxy.on('connect', ({ url = '' }, socket) => {
      targets.push(url);
      const target = connect(Number(new URL(server.url).port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
      });
      socket.on('error', () => target.destroy()).pipe(target);
      target.on('error', () => socket.destroy()).pipe(socket);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const url = `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const config = readFileSync(server.kubeconfig, 'utf8').replace(/^( *)server: .*$/m, `$&\n$1proxy-url: ${url}`);
    writeFileSync(join(folder, 'proxied'), config);
    const get = (env: { readonly [name: string]: string }) =>
      promisify(execFile)(
        process.execPath,
        [join(root, 'dist/server/main.js'), 'ctl', 'get', 'ns', 'default', '-o', 'name', '--kubeconfig=proxied'],
        { cwd: folder, env: { ...env, HOME: folder }, timeout: 60_000 },
      );
    try {
      await expect(get({})).rejects.toThrow(`the proxy ${url} does not connect to ${new URL(server.url).host}: `);
      expect(targets).toEqual([]);
      const { stdout } = await get({ NODE_EXTRA_CA_CERTS: join(server.folder, 'ca.crt') });
      expect(stdout).toBe('namespace/default\n');
      expect(targets).not.toEqual([]);
    } finally {
      proxy.close();
    }
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
