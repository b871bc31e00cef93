// npm run check: types, lint, dead code and the rules of the house, side by side. Each prints its findings when it ends.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build, root } from './setup.mjs';

// The benchmarks are checked against the declarations of the package.
build();
/** @type {[name: string, script: string, ...args: string[]][]} Longest first. `.oxlintrc.json` says which linter does what. */
const checks = [
  ['types, promises and sizes', 'node_modules/oxlint/bin/oxlint', '--type-aware', '--type-check', '.'],
  ['dead code', 'node_modules/knip/bin/knip.js'],
  ['house rules', 'node_modules/vitest/vitest.mjs', 'run', 'test/house.test.ts'],
  ['format and lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'],
];

/** @type {(name: string, script: string, ...args: string[]) => Promise<boolean>} Whether the check passes. */
const passes = (name, script, ...args) =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, script), ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    /** @type {Buffer[]} */
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
    child.on('close', (status) => {
      console.log(`\n— ${name}: ${status === 0 ? 'passed' : 'failed'}`);
      process.stdout.write(Buffer.concat(output));
      resolve(status === 0);
    });
  });

const results = await Promise.all(checks.map((check) => passes(...check)));
process.exitCode = results.every((passed) => passed) ? 0 : 1;
