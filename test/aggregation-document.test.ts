import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { frontProxyFlags, registration, servingCertificate } from './support/front-proxy.ts';
import { type Kubectl, startKubectl } from './support/kubectl.ts';
import { hasKubectl } from './support/requirements.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const text = readFileSync(join(root, 'docs/aggregation.md'), 'utf8');
const program = /```ts\n\/\/ metrics\.ts\n(.*?)```/s.exec(text)?.[1] ?? '';

let project: string;
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'orch-metrics-'));
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(root, join(project, 'node_modules', 'orch'), 'junction');
  symlinkSync(join(root, 'node_modules', '@types'), join(project, 'node_modules', '@types'), 'junction');
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(project, 'metrics.ts'), program);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('docs/aggregation.md', () => {
  it('shows an extension server in thirty lines, whose types are right', () => {
    expect(
      program
        .trim()
        .split('\n')
        .filter((line) => line !== '').length,
    ).toBeLessThanOrEqual(30);
    const compilerOptions = { target: 'es2023', module: 'nodenext', strict: true, noEmit: true, types: ['node'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['metrics.ts'] }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    expect(spawnSync(process.execPath, [tsc, '-p', '.'], { cwd: project, encoding: 'utf8' }).stdout).toBe('');
  });
});

describe.skipIf(!hasKubectl())('the extension server of docs/aggregation.md', () => {
  let kubectl: Kubectl;
  let extension: ChildProcess;
  beforeAll(async () => {
    const bundle = await rolldown({ input: join(project, 'metrics.ts'), platform: 'node', external: [/^node:/] });
    await bundle.write({ file: join(project, 'metrics.mjs') });
    await bundle.close();
    kubectl = await startKubectl(frontProxyFlags(project));
    const { cert } = servingCertificate(project, 'metrics', 'metrics.default.svc');
    const port = await freePort();
    extension = spawn(process.execPath, ['metrics.mjs', String(port), project], { cwd: project, stdio: 'ignore' });
    const objects = registration('metrics.k8s.io', 'v1beta1', 'metrics', port, cert);
    kubectl.file('metrics.json', JSON.stringify({ kind: 'List', apiVersion: 'v1', items: objects }));
    await kubectl.run('apply', '-f', 'metrics.json');
    await kubectl.run('wait', '--for=condition=Available', 'apiservice/v1beta1.metrics.k8s.io', '--timeout=60s');
  });
  afterAll(async () => {
    extension.kill();
    await kubectl.server.stop();
  });

  it('serves kubectl top nodes', async () => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } };
    const status = { allocatable: { cpu: '1', memory: '1Gi' }, capacity: { cpu: '1', memory: '1Gi' } };
    await kubectl.server.request('POST', '/api/v1/nodes', { ...node, status });
    await expect
      .poll(async () => (await kubectl.ends(['top', 'nodes'])).out)
      .toMatch(/^node-1 +250m +25% +512Mi +50%/m);
  });

  it('is in discovery, and refuses those who come without the server in front', async () => {
    expect(await kubectl.run('api-resources', '--api-group=metrics.k8s.io')).toMatch(
      /^nodes +metrics\.k8s\.io\/v1beta1 +false +NodeMetrics$/m,
    );
    expect(await kubectl.run('get', 'apiservice', 'v1beta1.metrics.k8s.io')).toMatch(/default\/metrics +True/);
    const port = await kubectl.read('apiservice/v1beta1.metrics.k8s.io', '{.spec.service.port}');
    await expect(fetch(`https://localhost:${port}/apis`)).rejects.toThrow('fetch failed');
  });
});
