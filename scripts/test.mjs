// npm test [-- --nodes=20,22,24] [--durations] [FILTER…]: what npm run check -- --all checks, then every test: on this Node, or
// on the newest release of each that is named. Tests that use Node run on each, and those that only compute on the newest; long
// ones that use Node, or start servers, run on one, most of them on the newest (vitest.config.ts). Filters go to the test
// runner; what they select runs on each Node. The checks and the tests on the older versions run side by side.
// --durations writes how long the test files took to test/durations.json.
// A few files that failed run again, alone: a test that passes then depends on what runs next to it. The end of the output
// lists it as unstable, and npm test passes.
import { join } from 'node:path';
import { etcdProgram } from './etcd.mjs';
import { build, major, root, run } from './setup.mjs';
import { takeFailures } from './test-failures.mjs';

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
const reporters = ['default', './scripts/test-progress.mjs', './scripts/test-failures.mjs'];
if (args.includes('--durations')) reporters.push('./scripts/test-durations.mjs');
// The checks have tried the rules of the house.
const selection = filters.length > 0 ? filters : ['--exclude=test/house.test.ts'];
const runner = ['run', ...reporters.map((reporter) => `--reporter=${reporter}`), ...selection];
const versions = nodes.length > 0 ? nodes.map(Number).sort((a, b) => a - b) : [major];
/** How many test files run at a time on the older versions of Node, which run side by side. */
const workers = Math.max(1, Math.floor(4 / Math.max(1, versions.length - 1)));
/** More files than these do not fail by chance. */
const maxUnstableFiles = 5;
const failuresOf = (/** @type {number} */ node) => join(root, `dist/test-failures-${node}.json`);
const tests = versions.map((node, turn) => ({
  name: `tests on Node ${node}`,
  script: 'node_modules/vitest/vitest.mjs',
  args: node === versions.at(-1) ? runner : [...runner, `--maxWorkers=${workers}`],
  node,
  environment: {
    TEST_TURN: filters.length > 0 ? '0/1' : `${turn}/${versions.length}`,
    TEST_FAILURES: failuresOf(node),
  },
}));
const checks = { name: 'checks', script: 'scripts/check.mjs', args: ['--all'] };
const steps = [[checks, ...tests.slice(0, -1)], tests.slice(-1)];

// Those of a run that was stopped.
for (const node of versions) takeFailures(failuresOf(node));
/** @type {Set<string>} */
const failed = new Set();
for (const step of steps) {
  await Promise.all(
    step.map(async (tool, i) => {
      if ((await run({ ...tool, late: i < step.length - 1 })) !== 0) failed.add(tool.name);
    }),
  );
}
/** @type {string[]} */
const report = [];
for (const tool of tests) {
  const failures = takeFailures(failuresOf(tool.node));
  if (!failed.has(tool.name)) continue;
  const unstable = await passAlone(tool, [...new Set(failures.map(({ file }) => file))]);
  if (unstable) failed.delete(tool.name);
  report.push(unstable ? `\nunstable ${tool.name}: they failed, and passed alone` : `\nfailed ${tool.name}`);
  report.push(...failures.map(({ file, test, message }) => `${file} > ${test}\n${message}`));
}
if (report.length > 0) console.error(report.join('\n'));
if (failed.size > 0) {
  console.error(`\nfailed: ${[...failed].join(', ')}`);
  process.exit(1);
}

/** Whether the files that failed pass when nothing runs next to them. @param {typeof tests[0]} tool @param {string[]} files */
async function passAlone({ environment: { TEST_TURN }, ...tool }, files) {
  if (filters.length > 0 || files.length === 0 || files.length > maxUnstableFiles || files.includes('')) return false;
  const args = ['run', '--maxWorkers=1', ...files];
  return (await run({ ...tool, name: `${tool.name}, failed files again`, args, environment: { TEST_TURN } })) === 0;
}
