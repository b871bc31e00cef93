import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificates } from '../src/http/testing/fixture.ts';
import { type NodeAgent, startNodeAgent } from './support/node-agent.ts';
import { externalAddress, hasKubectl } from './support/requirements.ts';
import { type RunningServer, startServer } from './support/server.ts';

// The real command before an agent of a node, which knows the server by its certificate and is known by its own.

// A proxy leads to no loopback address: what is proxied to must stand elsewhere on this machine.
const address = externalAddress();

let server: RunningServer;
let web: Server;
let agent: NodeAgent;
const pods = '/api/v1/namespaces/default/pods';

beforeAll(async () => {
  web = createServer(({ method, url, headers }, response) => {
    const from = String(headers['x-forwarded-uri']).split(':')[0];
    response.end(`${method} ${url} from ${from}`);
  });
  await new Promise<void>((done) => web.listen(0, done));
  const { ca, cert, key, clientCert, clientKey } = makeCertificates();
  agent = await startNodeAgent({ cert, key, ca }, (request, response) => {
    response.write('first line\n');
    // A log that goes on for ever.
    if (request.url?.includes('limitBytes') === true) return;
    if (request.url?.includes('follow=true') === true) setTimeout(() => response.end('last line\n'), 50);
    else response.end();
  });
  const folder = mkdtempSync(join(tmpdir(), 'orch-relay-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  server = await startServer(
    [
      '--api-domain=k8s.io',
      `--kubelet-certificate-authority=${file('agents.crt', ca)}`,
      `--kubelet-client-certificate=${file('shown.crt', clientCert)}`,
      `--kubelet-client-key=${file('shown.key', clientKey)}`,
    ],
    folder,
  );
  const make = async (path: string, object: object) => {
    const { status, text } = await server.request('POST', path, object);
    expect(status, text).toBe(201);
  };
  await make('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  await make('/api/v1/nodes', {
    metadata: { name: 'here' },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: agent.port } },
    },
  });
  await make(pods, {
    metadata: { name: 'web' },
    spec: { nodeName: 'here', containers: [{ name: 'main', image: 'i' }] },
  });
  await server.request(
    'PATCH',
    `${pods}/web/status`,
    {
      status: {
        podIPs: [{ ip: address ?? '192.0.2.1' }],
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    },
    { 'content-type': 'application/merge-patch+json' },
  );
});
afterAll(async () => {
  await server.stop();
  await agent.close();
  web.closeAllConnections();
  await new Promise((done) => web.close(done));
});

describe.skipIf(!hasKubectl())('kubectl', () => {
  const env = () => ({
    ...process.env,
    HOME: server.folder,
    KUBECONFIG: server.kubeconfig,
    // Versions before 1.31 have to be told.
    KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'true',
    KUBECTL_PORT_FORWARD_WEBSOCKETS: 'true',
  });
  const kubectl = async (...args: string[]) =>
    (await promisify(execFile)('kubectl', args, { env: env(), timeout: 100_000 })).stdout;
  const fails = async (...args: string[]) => {
    const error: unknown = await kubectl(...args).then(
      (out) => new Error(`unexpected success: ${out}`),
      (e: unknown) => e,
    );
    return error as { stderr?: string; code?: number };
  };

  it('reads logs', async () => {
    expect(await kubectl('logs', 'web', '--tail=5', '--timestamps')).toBe('first line\n');
    expect(agent.seen.at(-1)).toBe('GET /containerLogs/default/web/main?tailLines=5&timestamps=true');
    expect(await kubectl('logs', '-f', 'web')).toBe('first line\nlast line\n');
  });

  it('runs a command', async () => {
    expect(await kubectl('exec', 'web', '--', 'say', 'a b&c')).toBe('a b&c\n');
    expect(agent.seen.at(-1)).toBe('GET /exec/default/web/main?command=say&command=a+b%26c&error=1&output=1');
    const { stderr, code } = await fails('exec', 'web', '--', 'fail');
    expect(stderr).toContain('no luck');
    expect(code).toBe(3);
  });

  it('streams any amount of stdin and stdout of a command', async () => {
    const sent = randomBytes(5 * 1024 * 1024);
    const child = spawn('kubectl', ['exec', '-i', 'web', '--', 'cat'], { env: env(), timeout: 100_000 });
    const pieces: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
    child.stdin.end(sent);
    const code = await new Promise((done) => child.once('close', done));
    expect(code).toBe(0);
    expect(Buffer.concat(pieces).equals(sent)).toBe(true);
  });

  it('attaches to a container', async () => {
    expect(await kubectl('attach', 'web')).toBe('');
    expect(agent.seen.at(-1)).toBe('GET /attach/default/web/main?error=1&output=1');
  });

  it('lets kubectl fall back to SPDY when the kubelet does not support its WebSocket protocol', async () => {
    const child = spawn('kubectl', ['port-forward', 'pod/web', ':80'], { env: env(), timeout: 100_000 });
    let told = '';
    child.stderr.on('data', (piece: Buffer) => {
      told += piece.toString();
    });
    await new Promise((done) => child.once('close', done));
    expect(told).toContain('unable to upgrade connection: unknown protocol');
    expect(agent.seen.slice(-2)).toEqual(['GET /portForward/default/web', 'POST /portForward/default/web']);
  });

  it.skipIf(address === undefined)('reaches what runs in a pod through proxies', async () => {
    const path = `${pods}/web:${(web.address() as AddressInfo).port}/proxy/a/b?c=d`;
    expect(await kubectl('get', '--raw', path)).toBe(`GET /a/b?c=d from ${pods}/web`);
    const child = spawn('kubectl', ['proxy', '--port=0'], { env: env(), timeout: 100_000 });
    const told = await new Promise<Buffer>((done) => child.stdout.once('data', done));
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(told.toString()) ?? [];
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: 'x' });
    expect(await answer.text()).toBe(`POST /a/b?c=d from ${pods}/web`);
    child.kill();
  });

  it('closes its connections when kubectl is killed', async () => {
    const child = spawn('kubectl', ['exec', '-i', 'web', '--', 'cat'], { env: env(), timeout: 100_000 });
    child.stdin.write('still here\n');
    await new Promise((done) => child.stdout.once('data', done));
    await expect.poll(() => agent.streams.size).toBe(1);
    child.kill('SIGKILL');
    await expect.poll(() => agent.streams.size).toBe(0);
  });

  it('ends when the server shuts down', async () => {
    const children = [
      spawn('kubectl', ['exec', '-i', 'web', '--', 'cat'], { env: env(), timeout: 100_000 }),
      spawn('kubectl', ['logs', '-f', 'web', '--limit-bytes=7'], { env: env(), timeout: 100_000 }),
    ];
    children[0]?.stdin.write('still here\n');
    await Promise.all(children.map(({ stdout }) => new Promise((done) => stdout.once('data', done))));
    const ended = children.map((child) => new Promise((done) => child.once('close', done)));
    // Far within the grace period, which is for requests that end by themselves; neither was over, and both say so.
    expect(await server.stop()).toBe(0);
    expect(await Promise.all(ended)).toEqual([1, 1]);
    await expect.poll(() => agent.streams.size).toBe(0);
  });
});
