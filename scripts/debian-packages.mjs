// Unpacks packages of Debian next to the project's packages, which changes nothing in the system.
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

/** The folder into which packages are unpacked under a name. */
export const unpackedFolder = (/** @type {string} */ name) => join(cache, name);

/**
 * Downloads packages and unpacks them into the folder of a name, which it replaces. @throws Error that says why it cannot
 * @param {string} name
 * @param {{ packages: string[], release?: string, withDependencies?: boolean }} options the release of Debian is that of the
 *   system by default; dependencies are those that the system does not have
 */
export function unpackPackages(name, { packages, release, withDependencies = false }) {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, `${name}-`));
  try {
    const options = aptOptions(folder, release);
    run('apt-get', [...options, 'update'], folder);
    if (withDependencies) {
      mkdirSync(join(folder, 'cache/archives/partial'), { recursive: true });
      const download = ['install', '--download-only', '--no-install-recommends', '--yes'];
      run('apt-get', [...options, ...download, ...packages], folder);
    } else run('apt-get', [...options, 'download', ...packages], folder);
    const from = withDependencies ? join(folder, 'cache/archives') : folder;
    const files = readdirSync(from).filter((file) => file.endsWith('.deb'));
    for (const file of files) run('dpkg-deb', ['--extract', join(from, file), join(folder, 'root')], folder);
    rmSync(unpackedFolder(name), { recursive: true, force: true });
    renameSync(join(folder, 'root'), unpackedFolder(name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Options of apt that keep everything in a folder, with the package sources of the system.
 * @param {string} folder
 * @param {string | undefined} release that of the system by default
 */
function aptOptions(folder, release) {
  const system = readFileSync('/etc/os-release', 'utf8');
  const own = /^VERSION_CODENAME=(\S+)$/m.exec(system)?.[1];
  if (!/^ID=debian$/m.test(system) || own === undefined) throw new Error('this is not Debian');
  const sources = join(folder, 'sources.list.d');
  mkdirSync(sources);
  mkdirSync(join(folder, 'lists/partial'), { recursive: true });
  const lists = ['/etc/apt/sources.list', ...filesIn('/etc/apt/sources.list.d')].filter((file) => existsSync(file));
  for (const file of lists) {
    const text = readFileSync(file, 'utf8').replaceAll(new RegExp(`\\b${own}\\b`, 'g'), release ?? own);
    writeFileSync(join(sources, basename(file)), text);
  }
  const settings = {
    'Dir::Etc::sourcelist': '-',
    'Dir::Etc::sourceparts': sources,
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    // The folder is the user's own, and nobody else uses it.
    'APT::Sandbox::User': '',
    'Debug::NoLocking': '1',
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

/** The message of what was thrown. */
export const messageOf = (/** @type {unknown} */ error) => (error instanceof Error ? error.message : String(error));
