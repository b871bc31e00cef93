// npm run fuzz [-- FLAGS]: builds the server, then fuzzes it.
import { spawnSync } from 'node:child_process';
import { build, root, run } from './setup.mjs';

build();
const rolldown = ['node_modules/rolldown/bin/cli.mjs', '--config', 'fuzz/rolldown.config.mjs', '--logLevel', 'warn'];
const { status } = spawnSync(process.execPath, rolldown, { cwd: root, stdio: ['ignore', 'ignore', 2] });
if (status !== 0) process.exit(status ?? 1);
process.exit(await run({ name: 'fuzz', script: 'dist/fuzz/main.js', args: process.argv.slice(2) }));
