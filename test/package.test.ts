import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';

// The built package as programs that depend on it see it: its types alone, without those of Node.
const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = join(root, 'node_modules/typescript/bin/tsc');

const body = `
  const server = await createServer({
    apiDomain: 'k8s.io',
    securePort: 0,
    shutdownGracePeriod: '1m30s',
    shutdownDelayDuration: 500,
    serviceClusterIpRange: ['10.0.0.0/24', 'fd00::/112'],
    serviceNodePortRange: '31000-31099',
    featureGates: { APIResponseCompression: false },
    runtimeConfig: { 'api/all': true, 'batch/v1': false },
    disableAdmissionPlugins: ['LimitRanger'],
    store: 'memory',
    dataDir: undefined,
  });
  const place: Place = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
  await server.client.create(place, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    data: { colour: 'green' },
  });
  for await (const { type, object } of await server.client.watch(place)) {
    const found: [string, string | undefined] = [type, object.metadata.name];
    if (found[0] === 'ADDED') break;
  }
  const error: Error = new StatusError(404, 'NotFound', 'gone');
  const nobody: Client = createClient({ transport: inProcessTransport(server.handler) });
  const port: number = (await server.listen()).port;
  await server.close();
  return [error, nobody, port, version.length];
`;
const wrong = `
  // @ts-expect-error no such setting
  await createServer({ securePrt: 0 });
  // @ts-expect-error a port is no switch
  await createServer({ securePort: true });
  // @ts-expect-error an unknown store
  await createServer({ store: 'lmbd' });
  // @ts-expect-error a block is a text
  await createServer({ serviceClusterIpRange: [{ address: '10.0.0.0', prefix: 24 }] });
  // @ts-expect-error gates are true or false
  await createServer({ featureGates: { APIResponseCompression: 'off' } });
  // @ts-expect-error the server has no such property
  (await createServer()).start();
  // @ts-expect-error a name is a text
  await (await createServer()).client.create({ apiVersion: 'v1', resource: 'pods' }, { metadata: { name: 1 } });
`;
const names = 'createServer, createClient, inProcessTransport, StatusError, version';
const types = 'Client, Place';
const run = `export async function run() {${body}}\nexport async function wrong() {${wrong}}\n`;
const esm = `import { ${names}, type ${types.replace(', ', ', type ')} } from 'orch';\n${run}`;
const commonJs = `import orch = require('orch');
const { ${names} } = orch;
type Client = orch.Client;
type Place = orch.Place;
${run}`;

const clientBody = `
interface Website { metadata: { name: string; namespace: string }; spec: { image: string } }
export async function run() {
  const transport = httpsTransport({ server: 'https://127.0.0.1:6443', token: 't' });
  const client: Client = createClient({ transport });
  const websites = client.kind<Website>('example.com/v1', 'Website');
  const clock = new VirtualClock();
  const controller = startController({
    ...{ client, clock, kind: websites, owns: [client.kind('v1', 'Secret')] },
    watches: [{ kind: websites, map: ({ spec }) => [{ namespace: 'default', name: spec.image }] }],
    async reconcile({ namespace, name }, { object }) {
      if (object === undefined) return;
      const { spec } = await websites.get({ namespace, name });
      return spec.image === object.spec.image ? undefined : { requeueAfterMs: 1_000 };
    },
  });
  for await (const { spec } of websites.items({ labelSelector: 'a=b' })) await websites.apply({ spec }, { fieldManager: 'me' });
  const { stdout } = await (await client.exec({ namespace: 'default', name: 'web' }, { command: ['ls'] })).output();
  await controller.stop();
  // @ts-expect-error no such field
  await websites.create({ metadata: { name: 'a', namespace: 'default' }, spec: { imag: 'b' } });
  // @ts-expect-error no such format
  await websites.patch({ name: 'a' }, 'yaml', {});
  return [stdout, new StatusError(404, 'NotFound', 'gone')];
}
`;
const clientNames = 'createClient, httpsTransport, startController, StatusError, VirtualClock';
const clientEsm = `import { ${clientNames}, type Client } from 'orch/client';\n${clientBody}`;
const clientCommonJs = `import client = require('orch/client');
const { ${clientNames} } = client;
type Client = client.Client;
${clientBody}`;

const compilerOptions = {
  target: 'es2023',
  lib: ['es2023'],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUnusedLocals: true,
  skipLibCheck: false,
  noEmit: true,
};

let project = '';
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'orch-package-'));
  const installed = join(project, 'node_modules/orch');
  mkdirSync(join(installed, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(installed, 'package.json'));
  cpSync(join(root, 'dist/server'), join(installed, 'dist/server'), { recursive: true });
});

function check(name: string, source: string, options: object): string {
  writeFileSync(join(project, name), source);
  const config = join(project, `${name}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions: { ...compilerOptions, ...options }, files: [name] }));
  return spawnSync(process.execPath, [tsc, '-p', config], { cwd: project, encoding: 'utf8' }).stdout;
}

describe('the types of the package', () => {
  it.each([
    ['an ES module', 'nodenext.mts', esm, { module: 'nodenext' }],
    ['an ES module, resolved as Node 16 does', 'node16.mts', esm, { module: 'node16' }],
    ['a CommonJS module', 'node16.cts', commonJs, { module: 'node16' }],
    ['a CommonJS module, resolved as the newest Node does', 'nodenext.cts', commonJs, { module: 'nodenext' }],
    ['a bundled program', 'bundled.ts', esm, { module: 'esnext', moduleResolution: 'bundler' }],
    ['a program with the types of browsers', 'dom.mts', esm, { module: 'nodenext', lib: ['es2023', 'dom'] }],
  ])('tell right from wrong in %s', (_, name, source, options) => {
    expect(check(name, source, options)).toBe('');
  });

  it('compile the programs of the README', () => {
    const programs = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```ts\n(.*?)```/gs)].map(
      ([, code]) => code,
    );
    expect(programs.length).toBe(2);
    const [whole = '', part = ''] = programs;
    const console = 'declare const console: { log(...values: unknown[]): void };\n';
    expect(check('readme.mts', console + whole, { module: 'nodenext' })).toBe('');
    const source = `import { createServer } from 'orch';\n${part}await server.close();`;
    expect(check('options.mts', source, { module: 'nodenext' })).toBe('');
  });

  it('tell right from wrong in controllers', () => {
    expect(check('controller.mts', clientEsm, { module: 'nodenext' })).toBe('');
    expect(
      check('disposing.mts', clientEsm.replace('const controller', 'await using controller'), {
        ...{ module: 'nodenext', lib: ['es2023', 'esnext.disposable'] },
      }),
    ).toBe('');
    expect(check('controller.cts', clientCommonJs, { module: 'node16' })).toBe('');
  });

  it('are one file for each entry, which imports from the main one alone', () => {
    const declarations = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.d\.[cm]?ts$/.test(path),
    );
    const files = ['client', 'index'].flatMap((name) => [`server/${name}.d.cts`, `server/${name}.d.ts`]);
    expect(declarations.sort()).toEqual(files);
    const [client, text] = ['client', 'index'].map((name) =>
      readFileSync(join(root, `dist/server/${name}.d.ts`), 'utf8'),
    );
    expect(client?.match(/^import .*$/gm)).toEqual([expect.stringMatching(/^import \{ [\w, ]+ \} from 'orch';$/)]);
    expect(text).not.toMatch(/\bimport\b|\bBuffer\b|NodeJS\./);
    expect(text).toContain('A whole number of seconds from');
  });
});

describe('the package', () => {
  const linked = () => {
    const folder = mkdtempSync(join(tmpdir(), 'orch-linked-'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules/orch'), 'junction');
    return folder;
  };
  const runProgram = (name: string, source: string) => {
    const cwd = linked();
    writeFileSync(join(cwd, name), source);
    return execFileSync(process.execPath, [name], { cwd, timeout: 20_000, encoding: 'utf8', stdio: 'pipe' });
  };

  it('can be loaded with require', () => {
    const source = `const { createServer, version } = require('orch');
      createServer().then(async (server) => { console.log(typeof version); await server.close(); });`;
    expect(runProgram('program.cjs', source)).toBe('string\n');
  });

  it('has the client apart from the server, with the same classes', () => {
    const loads = (entry: string) =>
      runProgram(
        'entry.mjs',
        `const { createRequire } = await import('node:module');
         const client = await import('orch/client');
         console.log(typeof client.startController, createRequire(import.meta.url)('orch/client').StatusError === client.StatusError);
         console.log(${entry});`,
      );
    expect(loads(`Object.keys(client).filter((name) => name === 'createServer').length`)).toBe('function true\n0\n');
    const both = `(await import('orch')).StatusError === client.StatusError`;
    expect(loads(both)).toBe('function true\ntrue\n');
    const bundle = readFileSync(join(root, 'dist/server/client.js'), 'utf8');
    const parts = [...bundle.matchAll(/from "\.\/([\w-]+\.js)"/g)].map(([, name = '']) => name);
    expect(parts.length).toBeGreaterThan(0);
    // What the client loads is a small part of the server.
    const size = (name: string) => readFileSync(join(root, 'dist/server', name), 'utf8').length;
    expect(parts.reduce((sum, name) => sum + size(name), 0)).toBeLessThan(300_000);
  });

  it('keeps the process alive only while a watch is iterated', () => {
    const source = `import { createServer } from 'orch';
      const server = await createServer();
      const configMaps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
      const watch = await server.client.watch(configMaps, { timeoutSeconds: 1 });
      for await (const { type } of watch) console.log(type);
      console.log('ended');
      const left = await server.client.watch(configMaps);
      for await (const { type } of left) { console.log(type); break; }`;
    const withObject = source.replace(
      'const left',
      `await server.client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });\nconst left`,
    );
    expect(runProgram('program.mjs', withObject)).toBe('ended\nADDED\n');
  });
});

it('the lock file has every optional dependency at the required version, so that `npm ci` passes on every platform', () => {
  interface Locked {
    readonly version: string;
    readonly integrity?: string;
    readonly optionalDependencies?: { readonly [name: string]: string };
  }
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: { readonly [path: string]: Locked };
  };
  /** The package that a package below `path` loads by this name: its own copy, or that of a folder above. */
  const resolve = (path: string, name: string): Locked | undefined => {
    const found = packages[path === '' ? `node_modules/${name}` : `${path}/node_modules/${name}`];
    if (found !== undefined || path === '') return found;
    return resolve(path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/'))), name);
  };
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name, required]) => {
        const { version, integrity } = resolve(path, name) ?? {};
        return integrity === undefined || (/^\d/.test(required) && version !== required);
      })
      .map(([name, required]) => `${path}: ${name}@${required}`),
  );
  expect(missing).toEqual([]);
  expect(Object.values(packages).filter((locked) => 'resolved' in locked)).toEqual([]);
});
