import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// `orch/testing` of the packed package in a folder with nothing else, under each test runner, in both module systems.
const root = fileURLToPath(new URL('..', import.meta.url));
let project = '';

/** Makes a package of `node_modules` visible in the project. */
function link(name: string): void {
  const there = join(project, 'node_modules', name);
  mkdirSync(dirname(there), { recursive: true });
  symlinkSync(join(root, 'node_modules', name), there, 'junction');
}

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'orch-runners-'));
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', project];
  const packed = execFileSync('npm', pack, { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' });
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  mkdirSync(join(project, 'node_modules'));
  execFileSync('tar', ['-xzf', join(project, filename), '-C', project]);
  renameSync(join(project, 'package'), join(project, 'node_modules/orch'));
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object };
  for (const name of [...Object.keys(dependencies), 'vitest']) link(name);
  mkdirSync(join(project, 'crds'));
  writeFileSync(join(project, 'crds/gadgets.yaml'), definition);
  writeFileSync(join(project, 'package.json'), '{"private": true}');
}, 120_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, kind: Gadget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}}}}
`;

/** A test that closes its servers by `end`. Two of them live side by side, one on the system clock and over sockets. */
const body = (begin: string, end: (server: string) => string) => `
  ${begin} server = await testServer({
    clock: new VirtualClock(),
    controllers: '*',
    fakeNodes: 1,
    definitions: ['./crds'],
    featureGates: { APIResponseCompression: false },
  });
  ${begin} other = await testServer();
  const { url } = await other.listen();
  const gadgets = { apiVersion: 'example.com/v1', resource: 'gadgets', namespace: 'default' };
  const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'a' } };
  server.faults.add({ verb: 'create', times: 1, fault: 'drop-after-write' });
  const lost = await server.client.create(gadgets, gadget).catch((error) => error);
  assert.ok(lost instanceof StatusError);
  assert.equal(lost.code, 503);
  await assert.rejects(server.client.create(gadgets, { ...gadget, spec: { size: 'x' } }), { code: 422, message: /spec.size/ });
  const seen = [];
  for await (const { object } of await server.client.watch(gadgets)) {
    seen.push(object.metadata.name);
    break;
  }
  assert.deepEqual(seen, ['a']);
  await server.clock.advance('30s');
  const account = { apiVersion: 'v1', resource: 'serviceaccounts', namespace: 'default', name: 'default' };
  await eventually(() => server.client.get(account), { clock: server.clock });
  await eventually(() => other.client.list({ ...account, name: undefined }));
  assert.match(other.as('jane').kubeconfig(), new RegExp(url));
  await assert.rejects(testServer({ definitions: './none' }), /definitions\\[0\\]: .\\/none cannot be read/);
  ${end('server')}
  ${end('other')}
`;
const plain = body('const', (server) => `await ${server}.close();`);
const disposing = body('await using', () => '');
const esm = `import { eventually, testServer, VirtualClock } from 'orch/testing';
import { StatusError } from 'orch';
import assert from 'node:assert/strict';\n`;
const commonJs = `const { eventually, testServer, VirtualClock } = require('orch/testing');
const { StatusError } = require('orch');
const assert = require('node:assert/strict');\n`;
const named = (code: string) => `test('a server', async () => {${code}}, 60_000);\n`;

function run(command: readonly string[], environment = {}): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: project,
    encoding: 'utf8',
    timeout: 150_000,
    env: { ...process.env, NODE_OPTIONS: '', VITEST: undefined, ...environment },
  });
  return { status, output: stdout + stderr };
}

describe('orch/testing', () => {
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  it.each<[string, string, string, (file: string) => readonly string[]]>([
    [
      'node --test, in an ES module',
      'node.test.mjs',
      `${esm}import { test } from 'node:test';\n${named(plain).replace(', 60_000', '')}`,
      (file) => ['--test', file],
    ],
    [
      'node --test, in CommonJS',
      'node.test.cjs',
      `${commonJs}const { test } = require('node:test');\n${named(plain).replace(', 60_000', '')}`,
      (file) => ['--test', file],
    ],
    [
      'vitest, in TypeScript with `await using`',
      'vitest.test.ts',
      `${esm}import { test } from 'vitest';\n${named(disposing)}`,
      (file) => [vitest, 'run', '--root', '.', file],
    ],
    ['jest, in CommonJS', 'jest.test.cjs', commonJs + named(plain), (file) => jestOf(jest, file)],
    [
      'jest, in an ES module',
      'jest.test.mjs',
      esm + named(plain),
      (file) => ['--experimental-vm-modules', ...jestOf(jest, file)],
    ],
  ])('works under %s', { timeout: 180_000 }, (_, file, source, command) => {
    writeFileSync(join(project, file), source);
    const { status, output } = run(command(file));
    expect(status, output).toBe(0);
    expect(output).toMatch(/(# pass 1|ℹ pass 1|1 passed)\b/);
    expect(output).not.toContain('did not exit');
  });

  it('is one copy with `orch` for import and require of one process', () => {
    const source = `import { createRequire } from 'node:module';
      import { VirtualClock } from 'orch';
      import * as testing from 'orch/testing';
      const required = createRequire(import.meta.url)('orch/testing');
      console.log(required.testServer === testing.testServer, required.VirtualClock === VirtualClock);`;
    writeFileSync(join(project, 'one.mjs'), source);
    expect(run(['one.mjs'])).toMatchObject({ status: 0, output: expect.stringContaining('true true') as unknown });
  });
});

const jestOf = (jest: string, file: string) => [jest, '--rootDir', '.', '--testMatch', `**/${file}`];
