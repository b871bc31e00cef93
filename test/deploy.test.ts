import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseYaml } from '../src/codec/index.ts';
import { type ApiObject, createServer, type OrchServer, VirtualClock } from '../src/server/index.ts';
import { serverTable } from '../src/server/settings/flags.ts';
import { readSettings } from '../src/server/settings/settings.ts';
import { platformHas } from './support/requirements.ts';

// The files that docs/containers.md, docs/systemd.md and docs/kubernetes.md are about.

const root = fileURLToPath(new URL('..', import.meta.url));
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-deploy-'));
  folders.push(folder);
  return folder;
}

/** The problems of arguments of `orch serve`. */
async function problemsOf(argv: readonly string[], env: { readonly [name: string]: string } = {}) {
  const result = await readSettings(serverTable, { argv, env, readConfig: () => Promise.resolve({}) });
  return 'problems' in result ? result.problems : [];
}

interface Instruction {
  readonly name: string;
  readonly words: readonly string[];
}

/** The stages of the Dockerfile, each from its FROM on. */
function stages(): Instruction[][] {
  const found: Instruction[][] = [];
  for (const line of textOf('Dockerfile').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [name = '', ...words] = line.split(/\s+/);
    if (name === 'FROM') found.push([]);
    found.at(-1)?.push({ name, words: words[0]?.startsWith('[') === true ? JSON.parse(words.join(' ')) : words });
  }
  return found;
}

const all = (stage: readonly Instruction[] | undefined, name: string) =>
  (stage ?? []).filter((instruction) => instruction.name === name).map(({ words }) => words);

describe('Dockerfile', { timeout: 600_000 }, () => {
  const [build, final] = stages();

  it('has two stages, of which the second one runs as nobody and has no instruction to run', () => {
    expect(stages()).toHaveLength(2);
    expect(all(final, 'USER')).toEqual([['65534:65534']]);
    expect(all(final, 'RUN')).toEqual([]);
    expect(all(build, 'FROM')[0]?.slice(1)).toEqual(['AS', 'build']);
    for (const [image = ''] of [...all(build, 'FROM'), ...all(final, 'FROM')]) {
      const [, major = ''] = /^node:(\d+)-/.exec(image) ?? [];
      expect(['20', '22', '24']).toContain(major);
    }
  });

  it('copies what is in the context, which has nothing else', () => {
    const sources = all(build, 'COPY').flatMap((words) => words.slice(0, -1));
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
    const [first = '', ...ignored] = textOf('.dockerignore').trim().split('\n');
    expect(first).toBe('*');
    expect(ignored.map((line) => line.replace(/^!/, '')).sort()).toEqual(sources.toSorted());
  });

  it('starts a server with flags that exist', async () => {
    const [entry = []] = all(final, 'ENTRYPOINT');
    expect(entry).toEqual(['node', '/orch/dist/server/main.js']);
    const [[command, ...flags] = []] = all(final, 'CMD');
    expect(command).toBe('serve');
    expect(await problemsOf(flags)).toEqual([]);
  });

  /**
   * Runs a command as nobody, with a new file system for `/data` below the folder, and all else read-only. Nobody may not
   * reach what is mounted elsewhere, such as in a home: `mounts` makes it appear in the folder.
   */
  const sandbox = (folder: string, command: string, mounts: readonly (readonly [from: string, to: string])[] = []) => [
    ...['--mount', '--', 'sh', '-e', '-c'],
    `mount --make-rprivate /
     ${mounts.map(([from, to]) => `mount --bind '${from}' ${to}`).join('\n')}
     mount -t tmpfs -o mode=755 none ${folder}/empty && mkdir ${folder}/empty/data
     mount -t tmpfs -o uid=65534,gid=65534,mode=700 none ${folder}/empty/data
     mount -o remount,bind,ro /
     mount -o remount,ro ${folder}/empty
     exec setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --no-new-privs sh -c '${command}'`,
  ];
  const canSandbox = () =>
    platformHas(
      process.getuid?.() === 0 &&
        spawnSync('unshare', sandbox(sandboxFolder(), '! touch /orch-probe')).status === 0 &&
        !existsSync('/orch-probe'),
      'the image is tried in a sandbox only as root, with unshare and setpriv',
    );
  function sandboxFolder(): string {
    const folder = newFolder();
    mkdirSync(join(folder, 'empty'));
    // Others may pass through.
    spawnSync('chmod', ['755', folder]);
    return folder;
  }

  it.skipIf(!canSandbox())('builds in a clean folder, and serves as nobody on a read-only root', async () => {
    const context = newFolder();
    for (const words of all(build, 'COPY')) {
      for (const source of words.slice(0, -1)) cpSync(join(root, source), join(context, source), { recursive: true });
    }
    // The packages are those of the tree; everything else that the build needs must have been copied.
    symlinkSync(join(root, 'node_modules'), join(context, 'node_modules'));
    const [first] = all(build, 'RUN');
    expect(first).toEqual(['node', 'scripts/build.mjs']);
    const built = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: context, encoding: 'utf8' });
    expect({ status: built.status, stderr: built.stderr }).toMatchObject({ status: 0 });

    const folder = sandboxFolder();
    const image = join(folder, 'orch');
    mkdirSync(image);
    for (const words of all(final, 'COPY')) {
      const [source = '', target = ''] = words.slice(-2);
      // The volume is a file system of the sandbox.
      if (target === '/data') continue;
      const name = source.replace('/orch/', '');
      expect(['./', name]).toContain(target);
      if (name === 'node_modules') mkdirSync(join(image, name));
      else cpSync(join(context, name), join(image, name), { recursive: true });
    }
    const [[, program = ''] = []] = all(final, 'ENTRYPOINT');
    const [flags = []] = all(final, 'CMD');
    const place = (word: string) => word.replace('/data', `${folder}/empty/data`);
    const node = join(folder, 'node');
    writeFileSync(node, '');
    const mounts = [
      [process.execPath, node],
      [realpathSync(join(root, 'node_modules')), join(image, 'node_modules')],
    ] as const;
    const command = [node, program.replace('/orch', image), ...flags.map(place), '--secure-port=0'].join(' ');
    const child = spawn('unshare', sandbox(folder, `exec ${command}`, mounts), { stdio: ['ignore', 'pipe', 'pipe'] });
    try {
      let printed = '';
      const port = await new Promise<string>((resolve, reject) => {
        const read = (piece: Buffer) => {
          printed += piece.toString();
          const [, found] = /is ready at https:\/\/\S+:(\d+)/.exec(printed) ?? [];
          if (found !== undefined) resolve(found);
        };
        child.stdout.on('data', read);
        child.stderr.on('data', read);
        child.once('exit', (code) => reject(new Error(`ended with ${code}: ${printed}`)));
      });
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false };
        https.get(options, (response) => resolve(response.resume().statusCode)).on('error', reject);
      });
      expect(status).toBe(200);
      expect(statSync(`/proc/${child.pid}`).uid).toBe(65534);
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

describe('deploy/orch.service', () => {
  const unit = textOf('deploy/orch.service');

  it('has the directives that confine it', () => {
    for (const directive of [
      'DynamicUser=yes',
      'ProtectSystem=strict',
      'NoNewPrivileges=yes',
      'CapabilityBoundingSet=',
    ]) {
      expect(unit.split('\n')).toContain(directive);
    }
  });

  it('starts the built command with settings that exist', async () => {
    const [, line = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    const [node, program = '', command, ...flags] = line.split(' ');
    expect([node, command]).toEqual(['/usr/bin/node', 'serve']);
    expect(program).toMatch(/\/node_modules\/orch\/dist\/server\/main\.js$/);
    const [, variables = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
    const env = Object.fromEntries(variables.split(' ').map((pair) => pair.split('=') as [string, string]));
    expect(env).toHaveProperty('ORCH_DATA_DIR');
    expect(await problemsOf(flags, env)).toEqual([]);
    const [, , example = ''] = /```(yaml)\n(.*?)```/s.exec(textOf('docs/systemd.md')) ?? [];
    const config = parseYaml(Buffer.from(example)).value;
    const result = await readSettings(serverTable, { argv: flags, env: {}, readConfig: async () => config });
    expect(result).toHaveProperty('settings.bindAddress', '0.0.0.0');
  });

  const analyze = () =>
    platformHas(
      spawnSync('systemd-analyze', ['--version']).status === 0,
      'systemd-analyze verifies the unit where it is',
    );
  it.skipIf(!analyze())('is a valid unit with little exposure', () => {
    const copy = join(newFolder(), 'orch.service');
    cpSync(join(root, 'deploy/orch.service'), copy);
    const verified = spawnSync('systemd-analyze', ['verify', copy], { encoding: 'utf8' });
    const told = verified.stderr.split('\n').filter((line) => line.includes('orch.service'));
    // The program need not be installed here.
    expect(told.filter((line) => !line.includes('is not executable'))).toEqual([]);
    const exposure = spawnSync('systemd-analyze', ['security', '--offline=yes', '--threshold=20', '--no-pager', copy]);
    expect(exposure.status).toBe(0);
  });
});

interface Container {
  readonly args: string[];
  readonly volumeMounts: { readonly name: string; readonly mountPath: string }[];
}
interface PodTemplate {
  readonly spec: {
    readonly containers: [Container];
    readonly terminationGracePeriodSeconds: number;
    readonly volumes?: { readonly name: string; readonly secret?: { readonly secretName: string } }[];
  };
}

const documentsOf = (path: string): ApiObject[] =>
  textOf(path)
    .split(/^---$/m)
    .map((document) => parseYaml(Buffer.from(document)).value as unknown as ApiObject);

describe('deploy/kubernetes', () => {
  let clock: VirtualClock;
  let server: OrchServer;
  beforeAll(async () => {
    clock = new VirtualClock();
    server = await createServer({ apiDomain: 'k8s.io', fakeNodes: 2 }, { clock });
  });
  afterAll(() => server.close());

  const plurals = new Map([['NetworkPolicy', 'networkpolicies']]);
  const placeOf = ({ apiVersion, kind, metadata: { name = '', namespace } }: ApiObject) => ({
    apiVersion,
    resource: plurals.get(kind) ?? `${kind.toLowerCase()}s`,
    name,
    ...(namespace === undefined ? {} : { namespace }),
  });

  it.each([
    ['single.yaml', 'StatefulSet'],
    ['over-etcd.yaml', 'Deployment'],
  ])('%s is accepted with strict validation, and its pods in a restricted namespace', async (file, kind) => {
    const objects = documentsOf(`deploy/kubernetes/${file}`);
    for (const object of objects) {
      const applied = server.client.apply(placeOf(object), object, { fieldManager: 'test', fieldValidation: 'Strict' });
      await expect(applied).resolves.toMatchObject({ kind: object.kind });
    }
    await server.settled();
    const workload = objects.find((object) => object.kind === kind) as ApiObject;
    const { template } = workload['spec'] as unknown as { template: PodTemplate };
    const pods = async () =>
      (await server.client.list({ apiVersion: 'v1', resource: 'pods', namespace: 'orch' })).items;
    const wanted = kind === 'Deployment' ? 2 : 1;
    if (kind === 'Deployment') {
      expect((await pods()).map(({ status }) => (status as { phase: string }).phase)).toEqual(
        Array(wanted).fill('Running'),
      );
    } else {
      // Its volume is nobody's to make here.
      expect(await pods()).toHaveLength(wanted);
    }

    const { containers, terminationGracePeriodSeconds, volumes = [] } = template.spec;
    const [
      {
        args: [command, ...flags],
        volumeMounts,
      },
    ] = containers;
    expect(command).toBe('serve');
    expect(await problemsOf(flags.map((flag) => flag.replace('$(POD_IP)', '192.0.2.1')))).toEqual([]);
    const mounted = (path: string) => volumeMounts.some(({ mountPath }) => path.startsWith(`${mountPath}/`));
    const files = flags.map((flag) => flag.split('=')[1] ?? '').filter((value) => value.startsWith('/'));
    expect(files.filter((path) => !mounted(path))).toEqual([]);
    const delay = /--shutdown-delay-duration=(\d+)s/.exec(flags.join(' '))?.[1] ?? '0';
    expect(terminationGracePeriodSeconds).toBeGreaterThan(Number(delay) + 20);

    const page = textOf('docs/kubernetes.md');
    for (const { secret } of volumes) {
      if (secret === undefined) continue;
      const [created = ''] = page.split('\n').filter((line) => line.includes(`secret generic ${secret.secretName} `));
      const keys = [...created.matchAll(/--from-file=([\w.-]+)=/g)].map(([, key = '']) => key);
      const folder = `/etc/orch/${secret.secretName.replace('orch-', '')}/`;
      const used = files.filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length));
      expect(keys.toSorted()).toEqual(used.toSorted());
    }
    await server.client.delete({ ...placeOf(workload) }, { propagationPolicy: 'Foreground' });
    await server.settled();
  });

  it('names in its page the files that there are', () => {
    const page = textOf('docs/kubernetes.md');
    const named = [...page.matchAll(/--filename=(\S+)/g)].map(([, path = '']) => path);
    expect(named.toSorted()).toEqual(['deploy/kubernetes/over-etcd.yaml', 'deploy/kubernetes/single.yaml']);
    expect(named.every((path) => existsSync(join(root, path)))).toBe(true);
  });
});
