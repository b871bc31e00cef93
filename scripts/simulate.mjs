// npm run simulate [-- FLAGS]: runs the project's own simulated world from many seeds. With --defects it puts one known defect
// after the other into the sources, all or --defects=NAME,NAME, and fails unless each is found within 300 seeds.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { install, root, run } from './setup.mjs';

install();
const flags = process.argv.slice(2);
/** @type {{ readonly [name: string]: { readonly world?: string } }} */
const defects = JSON.parse(readFileSync(join(root, 'test/simulation/defects.json'), 'utf8'));

/** Bundles the world; `defect`: with a defect of this name. */
function bundle(/** @type {string | undefined} */ defect) {
  const rolldown = ['node_modules/rolldown/bin/cli.mjs', '--config', 'test/simulation/rolldown.config.mjs'];
  const env = { ...process.env, ...(defect === undefined ? {} : { DEFECT: defect }) };
  const { status } = spawnSync(process.execPath, [...rolldown, '--logLevel', 'warn'], {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 2],
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** Whether a world with the defect fails. Prints the seed. */
function isFound(/** @type {string} */ defect) {
  bundle(defect);
  const folder = join(root, `dist/simulation-${defect}`);
  const find = ['--find', '--seeds=300', `--world=${defects[defect]?.world ?? 'store'}`];
  const { status, stdout } = spawnSync(process.execPath, [join(folder, 'main.js'), ...find], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
  });
  console.log(`${defect}: ${stdout.trim()}`);
  rmSync(folder, { recursive: true });
  return status === 1;
}

const flag = flags.find((one) => one.startsWith('--defects'));
if (flag !== undefined) {
  const chosen = flag.includes('=') ? flag.slice('--defects='.length).split(',') : Object.keys(defects);
  const missed = chosen.filter((name) => !isFound(name));
  console.log(
    missed.length === 0 ? `found: ${chosen.length} of ${chosen.length} defects` : `not found: ${missed.join(', ')}`,
  );
  process.exit(missed.length === 0 ? 0 : 1);
}
bundle(undefined);
process.exit(await run({ name: 'simulation', script: 'dist/simulation/main.js', args: flags }));
