// Prepares every entry script: installs the packages of the lock file and builds when the sources have changed.
// Uses no packages, because it runs before they are installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/** Exits with a message when this Node version is too old. */
function requireNode() {
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`orch needs Node 20.19 or newer; this is ${process.version}.`);
  process.exit(1);
}

/** Installs the locked packages unless they were already installed from this lock file. */
export function install() {
  requireNode();
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const folder = join(root, 'node_modules');
  const stamp = join(folder, '.orch-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  // npm would empty the folder behind the link, which other trees use.
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    console.error('node_modules is a link to a folder that does not match package-lock.json: run npm ci there.');
    process.exit(1);
  }
  console.error('Installing packages…');
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (npm.status !== 0) process.exit(npm.status ?? 1);
  writeFileSync(stamp, lock);
}

/** Bundles `src` to `dist`, with declarations, unless the last successful build is newer than every source. */
export function build() {
  install();
  const stamp = join(root, 'dist', '.built');
  const sources = [
    'src',
    'scripts/bundle-types.mjs',
    'scripts/write-types.mjs',
    'scripts/page-files.mjs',
    'tsconfig.json',
    'tsconfig.build.json',
    'rolldown.config.mjs',
    'package.json',
  ];
  if (existsSync(stamp) && newest(sources.map((path) => join(root, path))) < statSync(stamp).mtimeMs) return;
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  for (const args of [
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--pretty'],
    ['node_modules/rolldown/bin/cli.mjs', '--config', 'rolldown.config.mjs', '--logLevel', 'warn'],
    ['scripts/bundle-types.mjs'],
    ['scripts/write-types.mjs'],
  ]) {
    const child = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 2], encoding: 'utf8' });
    if (child.status !== 0) process.stderr.write(child.stdout);
    if (child.status !== 0) process.exit(child.status ?? 1);
  }
  writeFileSync(stamp, '');
}

/**
 * @param {string[]} paths
 * @returns {number} the latest modification time below any of the paths, in milliseconds
 */
function newest(paths) {
  let latest = 0;
  for (const path of paths) {
    const stat = statSync(path);
    latest = Math.max(latest, stat.mtimeMs);
    if (stat.isDirectory()) latest = Math.max(latest, newest(readdirSync(path).map((name) => join(path, name))));
  }
  return latest;
}

/**
 * @typedef {object} Tool
 * @property {string} name printed before the output
 * @property {string} script the tool's JavaScript entry, relative to the project
 * @property {string[]} args
 * @property {number} [node] the major version of the Node that runs it; another one than this is fetched
 * @property {{ [name: string]: string }} [environment] added to the variables of this process
 * @property {boolean} [late] whether its output is printed when it has ended, because others print meanwhile
 */

/** Runs a tool of the project, and resolves with its exit status. @param {Tool} tool @returns {Promise<number>} */
export async function run({ name, script, args, node = major, environment = {}, late = false }) {
  const title = `\n— ${name}\n`;
  if (!late) process.stdout.write(title);
  const [command, ...before] = node === major ? [process.execPath] : ['npx', '--yes', `node@${node}`];
  const output = late ? 'pipe' : 'inherit';
  const child = spawn(command, [...before, join(root, script), ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', output, output],
    shell: node !== major && process.platform === 'win32',
  });
  /** @type {Buffer[]} */
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => printed.push(piece));
  const [status] = await once(child, 'close');
  if (late) process.stdout.write(Buffer.concat([Buffer.from(title), ...printed]));
  return status ?? 1;
}
