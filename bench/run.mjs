// npm run bench: measures the performance budgets, most of them as a ratio to a baseline program that serves the same
// bytes in the same run.
//   npm run bench [-- --only get,list --seconds 3 --rounds 3 --results FILE]
// Prints a table, writes it as JSON (to results.json in this folder), and exits 1 when a budget is missed.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rows } from './rows.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(rows).join(',') },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    objects: { type: 'string', default: '100000' },
    bindings: { type: 'string', default: '10000' },
    connections: { type: 'string', default: '10000' },
    results: { type: 'string', default: join(dirname(fileURLToPath(import.meta.url)), 'results.json') },
  },
});

/** @type {{ figure: string, value: number, budget: string, met: boolean, detail: string, series?: import('./rows.mjs').Series[] }[]} */
const results = [];
const bench = {
  seconds: Number(options.seconds),
  rounds: Number(options.rounds),
  objects: Number(options.objects),
  bindings: Number(options.bindings),
  connections: Number(options.connections),
  /** @param {string} figure @param {number} value @param {string} budget @param {boolean} met @param {string} detail @param {import('./rows.mjs').Series[]} [series] */
  report(figure, value, budget, met, detail, series) {
    const shown = Math.round(value * 1000) / 1000;
    results.push({ figure, value: shown, budget, met, detail, ...(series === undefined ? {} : { series }) });
    console.error(`${figure}: ${value.toFixed(2)} (${detail})`);
  },
};
const only = new Set(options.only.split(','));
for (const [name, row] of Object.entries(rows)) if (only.has(name)) await row(bench);

console.log('\n| figure | value | budget | met | detail |\n|---|---|---|---|---|');
for (const { figure, value, budget, met, detail } of results)
  console.log(`| ${figure} | ${value} | ${budget} | ${met ? 'yes' : 'NO'} | ${detail} |`);
writeFileSync(options.results, `${JSON.stringify(results, null, 2)}\n`);
process.exit(results.every(({ met }) => met) ? 0 : 1);
