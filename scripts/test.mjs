// npm test [-- --nodes=20,22,24] [--durations] [FILTER…]: what npm run check -- --all checks, then every test: on this Node, or
// on the newest release of each that is named. Tests that use Node run on each, and those that only compute on the newest; long
// ones that use Node, or start servers, run on one, most of them on the newest (vitest.config.ts). Filters go to the test
// runner; what they select runs on each Node. The checks and the tests on the older versions run side by side.
// --durations writes how long the test files took to test/durations.json.
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
const reporters = ['default', './scripts/test-progress.mjs'];
if (args.includes('--durations')) reporters.push('./scripts/test-durations.mjs');
// The checks have tried the rules of the house.
const selection = filters.length > 0 ? filters : ['--exclude=test/house.test.ts'];
const runner = ['run', ...reporters.map((reporter) => `--reporter=${reporter}`), ...selection];
const versions = nodes.length > 0 ? nodes.map(Number).sort((a, b) => a - b) : [major];
/** How many test files run at a time on the older versions of Node, which run side by side. */
const workers = Math.max(1, Math.floor(4 / Math.max(1, versions.length - 1)));
const tests = versions.map((node, turn) => ({
  name: `tests on Node ${node}`,
  script: 'node_modules/vitest/vitest.mjs',
  args: node === versions.at(-1) ? runner : [...runner, `--maxWorkers=${workers}`],
  node,
  environment: { TEST_TURN: filters.length > 0 ? '0/1' : `${turn}/${versions.length}` },
}));
const checks = { name: 'checks', script: 'scripts/check.mjs', args: ['--all'] };
const steps = [[checks, ...tests.slice(0, -1)], tests.slice(-1)];

/** @type {string[]} */
const failed = [];
for (const step of steps) {
  await Promise.all(
    step.map(async (tool, i) => {
      if ((await run({ ...tool, late: i < step.length - 1 })) !== 0) failed.push(tool.name);
    }),
  );
}
if (failed.length > 0) {
  console.error(`\nfailed: ${failed.join(', ')}`);
  process.exit(1);
}
