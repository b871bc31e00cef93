// npm run torture [-- --seeds=20 --seed=N --seconds=15 --cluster=etcd|lmdb|memory --plant=NAME --keep]: disturbs a cluster and
// checks what its clients have seen. Exits with status 1 when something is wrong; history and logs are then kept.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { etcdProgram } from '../../scripts/etcd.mjs';
import type { Cluster } from './cluster.ts';
import { startEtcdCluster } from './etcd-cluster.ts';
import { startLmdbCluster } from './lmdb-cluster.ts';
import { startMemoryCluster } from './memory-cluster.ts';
import { plants } from './plants.ts';
import { runTrial, type Trial } from './trial.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    seed: { type: 'string' },
    seconds: { type: 'string', default: '15' },
    cluster: { type: 'string', default: 'etcd' },
    plant: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
if (values.plant !== undefined && (values.cluster !== 'memory' || plants[values.plant] === undefined)) {
  console.error(`--plant needs --cluster=memory, and is one of ${Object.keys(plants).join(', ')}`);
  process.exit(2);
}
const seeds =
  values.seed === undefined ? Array.from({ length: Number(values.seeds) }, (_, i) => i + 1) : [Number(values.seed)];
const folder = mkdtempSync(join(tmpdir(), 'orch-torture-'));
const program = values.cluster === 'etcd' ? etcdProgram() : undefined;
if (values.cluster === 'etcd' && program === undefined) process.exit(1);
let bad = 0;

for (const seed of seeds) {
  const own = join(folder, `seed-${seed}`);
  mkdirSync(own);
  try {
    if (!(await holds(seed, own))) bad++;
  } catch (error) {
    bad++;
    console.log(`seed ${seed}: not carried out, logs are kept in ${own}: ${String(error)}`);
  }
}
if (bad === 0 && !values.keep) rmSync(folder, { recursive: true });
process.exit(bad === 0 ? 0 : 1);

/** Carries out a trial, and tells whether nothing was wrong. */
async function holds(seed: number, own: string): Promise<boolean> {
  const begin = performance.now();
  const cluster = await start(seed, own);
  const trial = await runTrial(cluster, seed, Number(values.seconds) * 1_000);
  console.log(summaryOf(trial, performance.now() - begin));
  const isRight = trial.violations.length === 0;
  if (!isRight || values.keep) keep(own, trial);
  else rmSync(own, { recursive: true });
  return isRight;
}

function start(seed: number, own: string): Promise<Cluster> {
  if (program !== undefined) return startEtcdCluster(own, program);
  if (values.cluster === 'lmdb') return startLmdbCluster(own, seed);
  return startMemoryCluster(own, seed, plants[values.plant ?? '']);
}

function summaryOf({ seed, history, violations, deeds, recovery }: Trial, time: number): string {
  const { operations, watches, compactions } = history;
  const unknown = operations.filter(({ outcome }) => outcome.type === 'unknown').length;
  const events = watches.reduce((sum, watch) => sum + watch.events.length, 0);
  return [
    `seed ${seed}: ${operations.length} operations, ${unknown} of them ambiguous`,
    `${events} events in ${watches.length} watches`,
    `${deeds.length} faults, compacted to ${compactions.at(-1)?.revision}`,
    `ready again in ${Math.round(recovery)} ms`,
    `${violations.length === 0 ? 'nothing wrong' : `${violations.length} VIOLATIONS`} (${(time / 1_000).toFixed(1)} s)`,
  ].join('; ');
}

/** Writes down what there is to study, and prints the first violations. */
function keep(own: string, { history, violations, deeds }: Trial): void {
  const write = (name: string, what: unknown) =>
    writeFileSync(join(own, name), `${JSON.stringify(what, undefined, 1)}\n`);
  write('history.json', history);
  write('violations.json', violations);
  write('faults.json', deeds);
  for (const { rule, message } of violations.slice(0, 10)) console.log(`  ${rule}: ${message}`);
  console.log(`  kept in ${own}`);
}
