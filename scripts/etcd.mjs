// node scripts/etcd.mjs: prints the path of an etcd for tests and benchmarks. That of the PATH is used when it is new enough;
// else the one of Debian's packages is unpacked next to the project's packages, which changes nothing in the system.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules/.cache');
const unpacked = join(cache, 'etcd');
/** The oldest etcd in which progress notifications of watches are right. */
const oldest = [3, 5, 8];
/** The first release of Debian with such an etcd. */
const release = 'trixie';
const packages = ['etcd-server', 'etcd-client'];

/**
 * The path of a program of etcd: `etcd` or `etcdctl`. Undefined where there is none that is new enough; why is written to
 * standard error.
 * @param {'etcd' | 'etcdctl'} [program]
 * @returns {string | undefined}
 */
export function etcdProgram(program = 'etcd') {
  if (isNewEnough(program)) return program;
  const path = join(unpacked, 'usr/bin', program);
  if (existsSync(path) || unpack()) return path;
  return undefined;
}

/** @param {'etcd' | 'etcdctl'} program */
function isNewEnough(program) {
  const { stdout } = spawnSync(program, program === 'etcd' ? ['--version'] : ['version'], {
    encoding: 'utf8',
    env: { ...process.env, ETCDCTL_API: '3' },
  });
  const found = /version: (\d+)\.(\d+)\.(\d+)/i
    .exec(stdout ?? '')
    ?.slice(1)
    .map(Number);
  if (found === undefined) return false;
  const at = oldest.findIndex((part, i) => found[i] !== part);
  return at < 0 || (found[at] ?? 0) > (oldest[at] ?? 0);
}

/** Whether the packages have been unpacked. */
function unpack() {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'etcd-'));
  try {
    const options = aptOptions(folder);
    run('apt-get', [...options, 'update'], folder);
    run('apt-get', [...options, 'download', ...packages], folder);
    const files = readdirSync(folder).filter((file) => file.endsWith('.deb'));
    for (const file of files) run('dpkg-deb', ['--extract', file, 'root'], folder);
    rmSync(unpacked, { recursive: true, force: true });
    renameSync(join(folder, 'root'), unpacked);
    return true;
  } catch (error) {
    console.error(`There is no etcd ${oldest.join('.')} or newer on the PATH, nor from apt: ${messageOf(error)}`);
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Options of apt that keep everything in a folder, with the package sources of the system for a release that has etcd. */
function aptOptions(/** @type {string} */ folder) {
  const system = readFileSync('/etc/os-release', 'utf8');
  const own = /^VERSION_CODENAME=(\S+)$/m.exec(system)?.[1];
  if (!/^ID=debian$/m.test(system) || own === undefined) throw new Error('this is not Debian');
  const sources = join(folder, 'sources.list.d');
  mkdirSync(sources);
  mkdirSync(join(folder, 'lists/partial'), { recursive: true });
  const lists = ['/etc/apt/sources.list', ...filesIn('/etc/apt/sources.list.d')].filter((file) => existsSync(file));
  for (const file of lists) {
    const text = readFileSync(file, 'utf8').replaceAll(new RegExp(`\\b${own}\\b`, 'g'), release);
    writeFileSync(join(sources, basename(file)), text);
  }
  const settings = {
    'Dir::Etc::sourcelist': '-',
    'Dir::Etc::sourceparts': sources,
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    // The folder is the user's own.
    'APT::Sandbox::User': '',
  };
  return ['--quiet=2', ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])];
}

const filesIn = (/** @type {string} */ folder) =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => /\.(?:list|sources)$/.test(file))
        .map((file) => join(folder, file))
    : [];

/** @param {string} command @param {string[]} args @param {string} cwd */
function run(command, args, cwd) {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 120_000 });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ends with ${status}: ${stderr.trim().slice(0, 300)}`);
}

const messageOf = (/** @type {unknown} */ error) => (error instanceof Error ? error.message : String(error));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = etcdProgram();
  if (path === undefined) process.exit(1);
  console.log(path);
}
