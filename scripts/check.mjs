// npm run check [-- --all]: types, lint, dead code and the rules of the house, side by side. Each prints its findings when it
// ends. Without --all the linters read only the files that differ from the main branch, the compiler only what a change may
// affect, and the benchmarks are checked against the last build.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build, install, root } from './setup.mjs';

const all = process.argv.includes('--all');
// The benchmarks are checked against the declarations of the package.
if (all || !existsSync(join(root, 'dist/.built'))) build();
else install();

/** @typedef {[name: string, script: string, ...args: string[]]} Check */
const oxlint = 'node_modules/oxlint/bin/oxlint';
const biome = 'node_modules/@biomejs/biome/bin/biome';
const tsc = 'node_modules/typescript/bin/tsc';
const state = 'node_modules/.cache/check.tsbuildinfo';

/** The types and the linters. `.oxlintrc.json` says which linter does what. @type {() => Check[]} */
function typesAndLint() {
  if (all) {
    return [
      ['types, promises and sizes', oxlint, '--type-aware', '--type-check', '.'],
      ['format and lint', biome, 'check', '--error-on-warnings', '.'],
    ];
  }
  const types = /** @type {Check} */ ([
    'types',
    tsc,
    '-p',
    'tsconfig.json',
    '--incremental',
    '--tsBuildInfoFile',
    state,
  ]);
  const page = /** @type {Check} */ (['types of the console', tsc, '-p', 'src/console/tsconfig.json']);
  const files = changedFiles();
  if (files.length === 0) return [types, page];
  return [
    types,
    page,
    ['promises and sizes of changed files', oxlint, '--type-aware', ...files],
    ['format and lint of changed files', biome, 'check', '--error-on-warnings', '--no-errors-on-unmatched', ...files],
  ];
}

/** The sources that differ from the main branch, or that it does not have. */
function changedFiles() {
  const base = git('merge-base', 'HEAD', 'main')[0] ?? 'HEAD';
  const files = [
    ...git('diff', '--name-only', '--diff-filter=d', base),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
  return files.filter((file) => /\.m?[jt]sx?$/.test(file));
}

/** @param {string[]} args @returns {string[]} the lines that git prints; none where it fails */
const git = (...args) =>
  spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.split('\n').filter(Boolean) ?? [];

/** @type {Check[]} */
const checks = [
  ...typesAndLint(),
  ['dead code', 'node_modules/knip/bin/knip.js'],
  ['house rules', 'node_modules/vitest/vitest.mjs', 'run', 'test/house.test.ts'],
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
