// npm test [-- --nodes=20,22,24] [--durations] [FILTER…]: what npm run check -- --all checks, then every test: on this Node, or
// on the newest release of each that is named. Tests that use Node run on each, and those that only compute on the newest; long
// ones that use Node, or start servers, run on one, most of them on the newest (vitest.config.ts). Filters go to the test
// runner; what they select runs on each Node. --durations writes how long the test files took to test/durations.json.
import { etcdProgram } from './etcd.mjs';
import { build, major, run } from './setup.mjs';

build();
// Unpacked once, before tests that run side by side look for it.
etcdProgram();
const option = '--nodes=';
const args = process.argv.slice(2);
const filters = args.filter((arg) => !arg.startsWith(option) && arg !== '--durations');
const nodes = args.filter((arg) => arg.startsWith(option)).flatMap((arg) => arg.slice(option.length).split(','));
if (nodes.some((node) => !/^\d+$/.test(node))) {
  console.error('--nodes lists major versions of Node: --nodes=20,22,24');
  process.exit(2);
}
/** @type {[name: string, script: string, args: string[], node?: number, environment?: { [name: string]: string }][]} */
const steps = [['checks', 'scripts/check.mjs', ['--all']]];
const reporters = ['default', './scripts/test-progress.mjs'];
if (args.includes('--durations')) reporters.push('./scripts/test-durations.mjs');
// The checks have tried the rules of the house.
const selection = filters.length > 0 ? filters : ['--exclude=test/house.test.ts'];
const runner = ['run', ...reporters.map((reporter) => `--reporter=${reporter}`), ...selection];
const versions = nodes.length > 0 ? nodes.map(Number).sort((a, b) => a - b) : [major];
for (const [turn, node] of versions.entries()) {
  const turns = { TEST_TURN: filters.length > 0 ? '0/1' : `${turn}/${versions.length}` };
  steps.push([`tests on Node ${node}`, 'node_modules/vitest/vitest.mjs', runner, node, turns]);
}
const failed = steps
  .filter(([name, ...step], i) => run(`${i + 1} of ${steps.length}: ${name}`, ...step) !== 0)
  .map(([name]) => name);
if (failed.length > 0) {
  console.error(`\nfailed: ${failed.join(', ')}`);
  process.exit(1);
}
