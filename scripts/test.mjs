// npm test [-- --nodes=20,22,24] [FILTER…]: types, style, promises, layers, dead code, then every test: on this Node,
// or on the newest release of each that is named. The longest test files, and those outside the rooms that use Node, take
// turns: each runs on one of the Nodes, all others on each. Filters go to the test runner; what they select runs on each Node.
import { etcdProgram } from './etcd.mjs';
import { build, major, run } from './setup.mjs';

build();
// Unpacked once, before tests that run side by side look for it.
etcdProgram();
const option = '--nodes=';
const args = process.argv.slice(2);
const filters = args.filter((arg) => !arg.startsWith(option));
const nodes = args.filter((arg) => arg.startsWith(option)).flatMap((arg) => arg.slice(option.length).split(','));
if (nodes.some((node) => !/^\d+$/.test(node))) {
  console.error('--nodes lists major versions of Node: --nodes=20,22,24');
  process.exit(2);
}
/** @type {[name: string, script: string, args: string[], node?: number, environment?: { [name: string]: string }][]} */
const checks = [
  ['types', 'node_modules/typescript/bin/tsc', ['-p', 'tsconfig.json']],
  ['style', 'node_modules/@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']],
  ['promises and sizes', 'node_modules/oxlint/bin/oxlint', ['--type-aware', '--deny-warnings', '.']],
  ['dead code', 'node_modules/knip/bin/knip.js', []],
];
const versions = nodes.length > 0 ? nodes.map(Number) : [major];
for (const [turn, node] of versions.entries()) {
  const turns = { TEST_TURN: filters.length > 0 ? '0/1' : `${turn}/${versions.length}` };
  const reporters = ['--reporter=default', '--reporter=./scripts/test-progress.mjs'];
  const runner = 'node_modules/vitest/vitest.mjs';
  checks.push([`tests on Node ${node}`, runner, ['run', ...reporters, ...filters], node, turns]);
}
const failed = checks
  .filter(([name, ...check], i) => run(`${i + 1} of ${checks.length}: ${name}`, ...check) !== 0)
  .map(([name]) => name);
if (failed.length > 0) {
  console.error(`\nfailed: ${failed.join(', ')}`);
  process.exit(1);
}
