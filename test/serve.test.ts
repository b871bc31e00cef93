import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { hasProgram } from './support/requirements.ts';
import { type RunningServer, startServer } from './support/server.ts';

// The built command, as a person starts and ends it.
const main = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist/server/main.js');
const started: RunningServer[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop('SIGKILL');
});

async function start(flags: readonly string[] = [], folder?: string): Promise<RunningServer> {
  const server = await startServer(flags, folder);
  started.push(server);
  return server;
}

/** Sends a signal and waits for the end; the data directory stays. */
function end({ process: child }: RunningServer, ...signals: NodeJS.Signals[]): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code));
    for (const signal of signals) child.kill(signal);
  });
}

const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

/** An open watch: what came so far, and how it ended. */
function watch(server: RunningServer) {
  let text = '';
  let opened = () => {};
  const open = new Promise<void>((resolve) => {
    opened = resolve;
  });
  const ended = new Promise<string>((resolve) => {
    const options = {
      ca: readFileSync(join(server.folder, 'ca.crt')),
      headers: { authorization: `Bearer ${server.token}` },
      agent: new https.Agent(),
    };
    const request = https.get(`${server.url}${configMaps}?watch=true`, options, (response) => {
      opened();
      response.on('data', (piece: Buffer) => {
        text += piece.toString();
      });
      response.on('end', () => resolve('end'));
      response.on('error', () => resolve('error'));
    });
    request.on('error', () => resolve('error'));
  });
  return { open, ended, text: () => text };
}

describe('orch serve', () => {
  it('prints its address, and writes a kubeconfig that works', async () => {
    const server = await start();
    const path = join(server.folder, 'admin.kubeconfig');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const config = parse(readFileSync(path, 'utf8')) as {
      clusters: [{ cluster: { [key: string]: string } }];
      users: [{ user: { [key: string]: string } }];
    };
    const { cluster } = config.clusters[0];
    const { user } = config.users[0];
    const pem = (data: string | undefined) => Buffer.from(data ?? '', 'base64');
    const names = await new Promise<string[]>((resolve, reject) => {
      https
        .get(
          `${cluster['server']}/api/v1/namespaces`,
          {
            ca: pem(cluster['certificate-authority-data']),
            cert: pem(user['client-certificate-data']),
            key: pem(user['client-key-data']),
          },
          (response) => {
            let text = '';
            response.on('data', (piece: Buffer) => {
              text += piece.toString();
            });
            response.on('end', () =>
              resolve(
                (JSON.parse(text) as { items: { metadata: { name: string } }[] }).items.map((i) => i.metadata.name),
              ),
            );
          },
        )
        .on('error', reject);
    });
    expect(names).toEqual(['default', 'kube-system', 'orch-node-lease', 'orch-public']);
  });

  it.skipIf(!hasProgram('curl', '--version'))('prints a next step that works, and how to serve kubectl', async () => {
    const server = await start();
    expect(server.output()).toContain(
      'with the names of orch.io (kubectl uses those of k8s.io: --api-domain=k8s.io)\n',
    );
    const [, command = ''] = /^or: {2}(curl .*)$/m.exec(server.output()) ?? [];
    expect(command).toContain(`${server.url}/api/v1/namespaces`);
    const { stdout } = spawnSync('sh', ['-c', `${command} --silent --fail`], { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'NamespaceList' });
  });

  it('prints a step with kubectl where kubectl works', async () => {
    const server = await start(['--api-domain=k8s.io']);
    const path = join(server.folder, 'admin.kubeconfig');
    expect(server.output()).toMatch(new RegExp(`^try: export KUBECONFIG=${path} && kubectl get namespaces$`, 'm'));
    expect(server.output()).not.toContain('curl');
  });

  it('shuts down on a signal while a watch is open, and has its data after a restart', async () => {
    const first = await start();
    expect((await first.request('POST', configMaps, configMap('kept'))).status).toBe(201);
    const watching = watch(first);
    await watching.open;
    expect(await end(first, 'SIGTERM')).toBe(0);
    expect(await watching.ended).toBe('end');
    expect(watching.text()).toContain('"name":"kept"');
    const authority = readFileSync(join(first.folder, 'ca.crt'), 'utf8');

    const second = await start([], first.folder);
    const kept = await second.request('GET', `${configMaps}/kept`);
    expect([kept.status, kept.body.metadata.name]).toEqual([200, 'kept']);
    expect(readFileSync(join(second.folder, 'ca.crt'), 'utf8')).toBe(authority);
    expect(readFileSync(second.kubeconfig, 'utf8')).toContain(`server: ${second.url}\n`);
  });

  it('serves requests during the shutdown delay, and exits immediately on a second signal', async () => {
    const server = await start(['--shutdown-delay-duration=1h', '--store=memory']);
    await expect.poll(async () => (await server.request('GET', '/readyz')).status).toBe(200);
    server.process.kill('SIGTERM');
    await expect.poll(async () => (await server.request('GET', '/readyz')).status).toBe(500);
    expect((await server.request('GET', '/livez')).status).toBe(200);
    expect((await server.request('POST', configMaps, configMap('late'))).status).toBe(201);
    expect(await end(server, 'SIGTERM')).toBe(143);
  });

  it('has every answered create after a kill during 64 concurrent creators', async () => {
    const server = await start();
    const answered: string[] = [];
    let running = true;
    const creators = Array.from({ length: 64 }, async (_, creator) => {
      for (let i = 0; running; i++) {
        const name = `c-${creator}-${i}`;
        const answer = await server.request('POST', configMaps, configMap(name)).catch(() => undefined);
        if (answer === undefined) return;
        if (answer.status === 201) answered.push(name);
      }
    });
    await expect.poll(() => answered.length).toBeGreaterThan(300);
    await end(server, 'SIGKILL');
    running = false;
    await Promise.all(creators);

    const again = await start([], server.folder);
    const { body } = await again.request('GET', configMaps);
    const there = new Set((body.items as { metadata: { name: string } }[]).map((item) => item.metadata.name));
    expect(answered.filter((name) => !there.has(name))).toEqual([]);
    expect(answered.length).toBeGreaterThan(300);
  });

  it('reports an invalid setting in a sentence, and does not start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orch-test-'));
    const run = (...flags: string[]) => {
      const { status, stderr, stdout } = spawnSync(
        process.execPath,
        [main, 'serve', '--secure-port=0', `--data-dir=${join(folder, 'data')}`, ...flags],
        { encoding: 'utf8', timeout: 100_000 },
      );
      return { status, stdout, said: stderr.split('\n').find((line) => !line.startsWith('{')) };
    };
    expect(run('--secure-prot=1')).toEqual({
      status: 1,
      stdout: '',
      said: 'orch: unknown flag "--secure-prot"; did you mean "secure-port"?',
    });
    expect(run('--token-auth-file=/none')).toMatchObject({
      status: 1,
      said: 'orch: --token-auth-file="/none" cannot be read: there is no such file',
    });
    const tokens = join(folder, 'tokens.csv');
    writeFileSync(tokens, 'secret,ada,1\nsecret,bob,2\n', { mode: 0o600 });
    const refused = run(`--token-auth-file=${tokens}`);
    expect(refused).toMatchObject({ status: 1, said: expect.stringMatching(/line 2 repeats the token of line 1$/) });
    expect(JSON.stringify(refused)).not.toContain('secret');
    expect(run('--runtime-config=batch/v9=false')).toMatchObject({
      status: 1,
      said: expect.stringContaining('names "batch/v9", which this server does not have; did you mean "batch/v1"?'),
    });
    expect(run(`--client-ca-file=${tokens}`)).toMatchObject({
      status: 1,
      said: expect.stringMatching(/holds no certificate in PEM$/),
    });

    const server = await start();
    const { port } = new URL(server.url);
    expect(run(`--secure-port=${port}`)).toMatchObject({
      status: 1,
      said: `orch: cannot listen on 127.0.0.1 port ${port}: another process uses it already`,
    });
    expect(run(`--data-dir=${server.folder}`)).toMatchObject({ status: 1, stdout: '' });
    rmSync(folder, { recursive: true });
  });

  it('prints version and help', () => {
    const run = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
    expect(run('--version').stdout).toMatch(/^orch \d+\.\d+\.\d+\n$/);
    expect(run('--help').stdout).toContain('orch serve [flags]');
    expect(run('serve', '--help').stdout).toContain('--service-cluster-ip-range=<block,…> (default 10.0.0.0/24)');
    expect(run('sevre')).toMatchObject({ status: 2, stderr: expect.stringContaining('did you mean "serve"?') });
  });
});
