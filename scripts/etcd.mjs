// node scripts/etcd.mjs: prints the path of an etcd for tests and benchmarks. That of the PATH is used when it is new enough;
// else the one of Debian's packages is unpacked next to the project's packages, which changes nothing in the system.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, unpackedFolder, unpackPackages } from './debian-packages.mjs';

const unpacked = unpackedFolder('etcd');
/** The oldest etcd in which progress notifications of watches are right. */
const oldest = [3, 5, 8];
/** The first release of Debian with such an etcd. */
const release = 'trixie';

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
  try {
    unpackPackages('etcd', { release, packages: ['etcd-server', 'etcd-client'] });
    return true;
  } catch (error) {
    console.error(`There is no etcd ${oldest.join('.')} or newer on the PATH, nor from apt: ${messageOf(error)}`);
    return false;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = etcdProgram();
  if (path === undefined) process.exit(1);
  console.log(path);
}
