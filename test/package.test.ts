import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtinGroups } from '../src/resources/index.ts';

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
  // @ts-expect-error a port is not a switch
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

const testEsm = `import { createClient, httpsTransport, VirtualClock } from 'orch';
import { eventually, testServer, type TestServer } from 'orch/testing';\n`;
const testCommonJs = `import orch = require('orch');
import testing = require('orch/testing');
const { createClient, httpsTransport, VirtualClock } = orch;
const { eventually, testServer } = testing;
type TestServer = testing.TestServer;\n`;
const using = (server: string, end: string) => `
async function use(server: TestServer) {
  await server.clock.advance('30s');
  const fault = server.faults.add({ verb: ['create', 'update'], times: 1, fault: { status: 409 } });
  server.faults.add({ resource: 'pods', fault: 'drop-after-write' });
  const hits: number = fault.hits;
  const { url } = await server.listen();
  const jane = server.as('jane', ['dev']);
  const remote = createClient({ transport: httpsTransport(jane.credentials()) });
  const ready: 2 = await eventually(() => (hits > 1 ? 2 : false), { clock: server.clock, timeout: '1m' });
  // @ts-expect-error no such verb
  server.faults.add({ verb: 'post', fault: 'refuse' });
  // @ts-expect-error no such fault
  server.faults.add({ fault: 'drop' });
  return [url, remote, ready, jane.kubeconfig(), new VirtualClock(server.clock.now())];
}
export async function run() {
  ${server} server = await testServer({
    clock: new VirtualClock(),
    controllers: ['deployment-controller'],
    definitions: ['./crds', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } }],
    featureGates: { APIResponseCompression: false },
  });
  await use(server);
  ${end}
  // @ts-expect-error no such option
  await testServer({ definitons: [] });
}
`;
const disposing = using('await using', '');
const closing = using('const', 'await server.close();');

const kinds = `
  export const deployment: V1Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'web:1', resources: { limits: { cpu: '500m' } } }] },
      },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: '25%' } },
    },
  };
  const spec: V1PodSpec | undefined = deployment.spec?.template.spec;
  const scaler: V2HorizontalPodAutoscaler['spec'] = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'web' } };
  export const claims: V1StatefulSetSpec['volumeClaimTemplates'] = [{ metadata: { name: 'data' }, spec: {} }];
  export const ingress: V1Ingress['apiVersion'][] = ['networking.k8s.io/v1', 'networking.orch.io/v1'];
  export const definition: V1JSONSchemaProps = { 'x-kubernetes-int-or-string': true, 'x-orch-list-type': 'set' };
  export const regarding: string | undefined = ({} as EventsV1Event).regarding?.name ?? ({} as CoreV1Event).involvedObject.name;
  type Plain = { readonly apiVersion: string; readonly kind: string; readonly metadata: { readonly name?: string } };
  const nameOf = <T extends Plain>(object: T): string => object.metadata.name ?? '';
  export const name: string = nameOf(deployment) + (spec?.containers[0]?.image ?? scaler.maxReplicas);
  // @ts-expect-error another kind
  export const other: V1Deployment = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: {} };
  // @ts-expect-error a service has no such type
  export const service: V1ServiceSpec = { type: 'Local' };
  // @ts-expect-error a container has a name
  export const container: V1Container = { image: 'web:1' };
`;
const kindNames = [...kinds.matchAll(/\b(?:CoreV1|EventsV1|V\d)[A-Z]\w+/g)].map(([name]) => name);
const kindsEsm = `import type { ${[...new Set(kindNames)].join(', ')} } from 'orch/types';\n${kinds}`;

const clientBody = `
interface Website { metadata: { name: string; namespace: string }; spec: { image: string } }
export async function run() {
  const transport = httpsTransport({ server: 'https://127.0.0.1:6443', token: 't' });
  const client: Client = createClient({ transport });
  const websites = client.kind<Website>('example.com/v1', 'Website');
  const clock = new VirtualClock();
  const controller = startController({
    client, clock, kind: websites, owns: [client.kind('v1', 'Secret')],
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
  for (const folder of ['dist/server', 'dist/types']) {
    cpSync(join(root, folder), join(installed, folder), { recursive: true });
  }
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

  it.each([
    ['an ES module', 'kinds.mts', { module: 'nodenext' }],
    ['a CommonJS module', 'kinds.cts', { module: 'nodenext' }],
    ['a CommonJS module, resolved as Node 16 does', 'kinds16.cts', { module: 'node16' }],
    ['a bundled program', 'kinds.ts', { module: 'esnext', moduleResolution: 'bundler' }],
    [
      'a program that leaves its imports as they are',
      'verbatim.mts',
      { module: 'nodenext', verbatimModuleSyntax: true },
    ],
  ])('of built-in kinds tell right from wrong in %s', (_, name, options) => {
    expect(check(name, kindsEsm, options)).toBe('');
  });

  it('of built-in kinds are there for every kind that a server has', () => {
    const text = readFileSync(join(root, 'dist/types/index.d.ts'), 'utf8');
    const lost = builtinGroups.flatMap(({ resources }) =>
      resources.flatMap(({ kind, versions }) =>
        versions
          .map(
            ({ version }) =>
              new RegExp(`^export interface \\w*${version[0]?.toUpperCase()}${version.slice(1)}${kind} \\{`, 'm'),
          )
          .filter((declaration) => !declaration.test(text)),
      ),
    );
    expect(lost).toEqual([]);
    const names = [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(600);
  });

  it('compile the programs of docs/getting-started.md', () => {
    const programs = [...readFileSync(join(root, 'docs/getting-started.md'), 'utf8').matchAll(/```ts\n(.*?)```/gs)].map(
      ([, code]) => code,
    );
    expect(programs.length).toBe(2);
    const [whole = '', part = ''] = programs;
    const console = 'declare const console: { log(...values: unknown[]): void };\n';
    expect(check('readme.mts', console + whole, { module: 'nodenext' })).toBe('');
    const source = `import { createServer } from 'orch';\n${part}await server.close();`;
    expect(check('options.mts', source, { module: 'nodenext' })).toBe('');
  });

  it('tell right from wrong in tests, with `await using` or without', () => {
    expect(check('test.mts', testEsm + disposing, { module: 'nodenext', lib: ['es2023', 'esnext.disposable'] })).toBe(
      '',
    );
    expect(check('closing.mts', testEsm + closing, { module: 'nodenext' })).toBe('');
    expect(check('test.cts', testCommonJs + closing, { module: 'node16' })).toBe('');
  });

  it('tell right from wrong in controllers', () => {
    expect(check('controller.mts', clientEsm, { module: 'nodenext' })).toBe('');
    expect(
      check('disposing.mts', clientEsm.replace('const controller', 'await using controller'), {
        module: 'nodenext',
        lib: ['es2023', 'esnext.disposable'],
      }),
    ).toBe('');
    expect(check('controller.cts', clientCommonJs, { module: 'node16' })).toBe('');
  });

  it('are one file for each entry; those of the client stand alone, and the others import from them', () => {
    const declarations = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.d\.[cm]?ts$/.test(path),
    );
    const files = ['server/client', 'server/index', 'server/testing', 'types/index'].flatMap((name) => [
      `${name}.d.cts`,
      `${name}.d.ts`,
    ]);
    expect(declarations.sort()).toEqual(files);
    const text = (name: string) => readFileSync(join(root, `dist/server/${name}.d.ts`), 'utf8');
    const sources = (name: string) =>
      [...text(name).matchAll(/\bimport\b.*$/gm)].map(
        ([line]) => /^import \{ [\w, ]+ \} from '(.*)';$/.exec(line)?.[1],
      );
    expect(sources('client')).toEqual([]);
    expect(sources('index')).toEqual(['orch/client']);
    expect(sources('testing')).toEqual(['orch/client', 'orch']);
    for (const name of ['client', 'index', 'testing']) expect(text(name)).not.toMatch(/\bBuffer\b|NodeJS\./);
    expect(text('index')).toContain('A whole number of seconds from');
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
    return execFileSync(process.execPath, [name], { cwd, timeout: 100_000, encoding: 'utf8', stdio: 'pipe' });
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
    // The client's scripts are a small part of the server's.
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

describe('the packed package without its optional dependencies', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'orch-packed-'));
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
    const packed = execFileSync('npm', pack, { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' });
    const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
    execFileSync('tar', ['-xzf', join(folder, filename), '-C', folder]);
    mkdirSync(join(folder, 'node_modules'));
    renameSync(join(folder, 'package'), join(folder, 'node_modules/orch'));
    // As `npm install --omit=optional` leaves it: with what the lock file does not call optional.
    for (const path of requiredPackages()) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      symlinkSync(join(root, path), join(folder, path), 'junction');
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const runThere = (name: string, source: string) => {
    writeFileSync(join(folder, name), source);
    // Packages that are linked load others from this folder too.
    const flags = ['--preserve-symlinks', '--preserve-symlinks-main'];
    return execFileSync(process.execPath, [...flags, name], { cwd: folder, timeout: 100_000, encoding: 'utf8' });
  };
  const use = `
    testServer().then(async (server) => {
      const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
      const place = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
      const { metadata } = await server.client.create(place, configMap);
      console.log(metadata.namespace);
      await server.listen();
      await server.close();
    });`;

  it('runs a test server', () => {
    expect(runThere('test.mjs', `import { testServer } from 'orch/testing';${use}`)).toBe('default\n');
    expect(runThere('test.cjs', `const { testServer } = require('orch/testing');${use}`)).toBe('default\n');
  });

  it('names the packages that another store needs', () => {
    const source = `import { createServer } from 'orch';
      const settings = [{ store: 'lmdb', dataDir: 'data' }, { store: 'etcd', etcdServers: ['http://127.0.0.1:9'] }];
      for (const one of settings) await createServer(one).catch(({ name, message }) => console.log(name + ': ' + message));`;
    expect(runThere('stores.mjs', source)).toBe(
      [
        'StartError: the store "lmdb" needs packages that are not installed: npm install lmdb',
        'StartError: the store "etcd" needs packages that are not installed: npm install @grpc/grpc-js @grpc/proto-loader',
        '',
      ].join('\n'),
    );
  });

  it('has no source maps', () => {
    const files = readdirSync(join(folder, 'node_modules/orch'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => file.endsWith('.map'))).toEqual([]);
  });
});

/** The folders of the packages that an installation without optional dependencies has, by the lock file. */
function requiredPackages(): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: { readonly [path: string]: { readonly [flag in 'dev' | 'optional' | 'devOptional']?: boolean } };
  };
  return Object.entries(packages)
    .filter(([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional)
    .map(([path]) => path)
    .filter((path, _, paths) => !paths.some((other) => path.startsWith(`${other}/`)));
}

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
