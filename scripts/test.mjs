// npm test [-- FILTER…]: types, style, promises, layers, dead code, then every test. Filters go to the test runner.
import { build, run } from './setup.mjs';

build();
const filters = process.argv.slice(2);
const checks = [
  ['types', 'node_modules/typescript/bin/tsc', ['-p', 'tsconfig.json']],
  ['style', 'node_modules/@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']],
  ['promises and sizes', 'node_modules/oxlint/bin/oxlint', ['--type-aware', '--deny-warnings', '.']],
  ['dead code', 'node_modules/knip/bin/knip.js', []],
  ['tests', 'node_modules/vitest/vitest.mjs', ['run', ...filters]],
];
const failed = checks
  .filter(([name, script, args]) => run(String(name), String(script), /** @type {string[]} */ (args)) !== 0)
  .map(([name]) => name);
if (failed.length > 0) {
  console.error(`\nfailed: ${failed.join(', ')}`);
  process.exit(1);
}
