// node scripts/chromium.mjs: prints the path of a Chromium for tests and pictures. That of the PATH is used where there is one;
// else the one of Debian's packages is unpacked next to the project's packages, with the libraries that the system lacks.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, unpackedFolder, unpackPackages } from './debian-packages.mjs';

/** The path of Chromium; undefined where there is none, and why is written to standard error. @returns {string | undefined} */
export function chromiumProgram() {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const { stdout, status } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
    if (status === 0) return stdout.trim();
  }
  const path = join(unpackedFolder('chromium'), 'start');
  if (existsSync(path) || unpack(path)) return path;
  return undefined;
}

/** Whether the packages have been unpacked, with a script at the path that starts Chromium. @param {string} path */
function unpack(path) {
  try {
    unpackPackages('chromium', { packages: ['chromium', 'fonts-dejavu-core'], withDependencies: true });
    const root = unpackedFolder('chromium');
    // Some libraries are in folders of their own, such as that of PulseAudio.
    const libraries = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.so(?:\.|$)/.test(file),
    );
    const search = [...new Set(libraries.map((file) => join(root, dirname(file))))].join(':');
    const program = join(root, 'usr/lib/chromium/chromium');
    writeFileSync(path, `#!/bin/sh\nLD_LIBRARY_PATH='${search}' exec '${program}' "$@"\n`);
    chmodSync(path, 0o755);
    return true;
  } catch (error) {
    console.error(`There is no Chromium on the PATH, nor from apt: ${messageOf(error)}`);
    return false;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = chromiumProgram();
  if (path === undefined) process.exit(1);
  console.log(path);
}
