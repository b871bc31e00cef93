// npm run bench [-- FLAGS]: builds, then measures the budgets.
// npm run bench -- --against=REV [--alternations=5] [FLAGS]: measures this tree and another revision in alternation and
// compares the medians. Exits with 1 when a row is more than 5 % worse than in that revision.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, root, run } from './setup.mjs';

const { values: options, tokens } = parseArgs({
  options: { against: { type: 'string' }, alternations: { type: 'string', default: '5' } },
  strict: false,
  tokens: true,
});
const own = new Set(['against', 'alternations']);
const flags = process.argv
  .slice(2)
  .filter((_, i) => !tokens.some((token) => 'name' in token && own.has(token.name) && covers(token, i)));

/**
 * Whether an argument belongs to an option: the option itself, or its separate value.
 * @param {{ kind: string, index: number, inlineValue?: boolean | undefined }} token @param {number} at
 */
function covers({ index, inlineValue }, at) {
  return at === index || (inlineValue === false && at === index + 1);
}

build();
if (typeof options.against === 'string') process.exit(compare(options.against, Number(options.alternations)));
process.exit(await run({ name: 'bench', script: 'bench/run.mjs', args: flags }));

/** @typedef {{ figure: string, value: number, budget: string }} Row */

/**
 * @param {string} tree
 * @returns {Row[]}
 */
function measure(tree) {
  rmSync(join(tree, 'bench/results.json'), { force: true });
  spawnSync(process.execPath, [join(tree, 'bench/run.mjs'), ...flags], {
    cwd: tree,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return JSON.parse(readFileSync(join(tree, 'bench/results.json'), 'utf8'));
}

/**
 * @param {string} revision @param {number} alternations
 * @returns {number} the exit status
 */
function compare(revision, alternations) {
  const other = mkdtempSync(join(tmpdir(), 'orch-bench-'));
  const git = (/** @type {string[]} */ ...args) =>
    spawnSync('git', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] }).status ?? 1;
  try {
    if (git('worktree', 'add', '--detach', '--force', other, revision) !== 0) return 1;
    const setup = `import(${JSON.stringify(`file://${other}/scripts/setup.mjs`)}).then(({ build }) => build())`;
    if (spawnSync(process.execPath, ['--eval', setup], { cwd: other, stdio: ['ignore', 2, 2] }).status !== 0) return 1;
    /** @type {Map<string, { budget: string, here: number[], there: number[] }>} */
    const rows = new Map();
    for (let i = 0; i < alternations; i++) {
      console.error(`\n— ${i + 1} of ${alternations}: ${revision}`);
      const there = measure(other);
      console.error('\n— this tree');
      for (const { figure, budget, value } of measure(root)) {
        const known = there.find((row) => row.figure === figure);
        if (known === undefined) continue;
        const row = rows.get(figure) ?? { budget, here: [], there: [] };
        rows.set(figure, row);
        row.here.push(value);
        row.there.push(known.value);
      }
    }
    return report(revision, rows);
  } finally {
    git('worktree', 'remove', '--force', other);
  }
}

/**
 * @param {string} revision @param {Map<string, { budget: string, here: number[], there: number[] }>} rows
 * @returns {number} the exit status
 */
function report(revision, rows) {
  console.log(`\n| figure (median) | ${revision} | this tree | change | not worse by 5 % |\n|---|---|---|---|---|`);
  let worse = 0;
  for (const [figure, { budget, here, there }] of rows) {
    const [now, before] = [median(here), median(there)];
    const change = now / before - 1;
    // Figures with an upper bound are times or memory: lower is better.
    const holds = (budget.startsWith('<') ? -change : change) >= -0.05;
    if (!holds) worse++;
    console.log(`| ${figure} | ${before} | ${now} | ${(change * 100).toFixed(1)} % | ${holds ? 'yes' : 'NO'} |`);
  }
  return worse === 0 ? 0 : 1;
}

/**
 * @param {number[]} values
 * @returns {number}
 */
function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
