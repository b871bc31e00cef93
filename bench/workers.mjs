// The gain of workers: node bench/workers.mjs [--objects=5000] [--seconds=2] [--only=TEXT]
// Measures the CPU time of an operation with one process and with two, and computes rates for more cores from that.
import { readdirSync, readFileSync } from 'node:fs';
import { computedBy } from './computed.mjs';
import { configMap, configMaps, fill, load, orch, sleep } from './servers.mjs';

const option = (/** @type {string} */ name, /** @type {number} */ value) =>
  Number(process.argv.find((argument) => argument.startsWith(`--${name}=`))?.split('=')[1] ?? value);
const objects = option('objects', 5_000);
const seconds = option('seconds', 2);
const only = process.argv.find((argument) => argument.startsWith('--only='))?.slice('--only='.length) ?? '';
const size = 2_300;

const object = `${configMaps}/obj-0000042`;
const body = JSON.stringify(configMap('w$ID-$I', size));
const patch = JSON.stringify({ data: { a: 'x'.repeat(900), changed: '$I' } });
const patched = { method: 'PATCH', path: object, body: patch, contentType: 'application/merge-patch+json' };
/** @type {{ [name: string]: object }} */
const jobs = {
  GET: { kind: 'requests', connections: 32, seconds, method: 'GET', path: object },
  'GET, any version': {
    kind: 'requests',
    connections: 32,
    seconds,
    method: 'GET',
    path: `${object}?resourceVersion=0`,
  },
  'LIST of all': { kind: 'requests', connections: 8, seconds, method: 'GET', path: configMaps },
  'LIST with limit=500': { kind: 'requests', connections: 16, seconds, method: 'GET', path: `${configMaps}?limit=500` },
  'event to 500 watchers': {
    kind: 'fanout',
    watchers: 500,
    changes: 25 * seconds,
    watchPath: `${configMaps}?watch=1&fieldSelector=metadata.name%3Dobj-0000042`,
    ...patched,
  },
  'CREATE, 64 connections': { kind: 'requests', connections: 64, seconds, method: 'POST', path: configMaps, body },
  'CREATE, one after another': { kind: 'requests', connections: 1, seconds, method: 'POST', path: configMaps, body },
};

/** The processes of a server, the owner first. @param {{ pid: number }} server */
const processesOf = ({ pid }) => [
  pid,
  ...readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((other) => parentOf(other) === pid),
];

/** @param {number} pid */
function parentOf(pid) {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}

/** @param {number} pid */
const anonymousMb = (pid) => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** A filled server. @param {number} workers */
async function start(workers) {
  const server = await orch(`workers-${workers}`, [], [`--workers=${workers}`]);
  await fill(server, objects, size);
  return { server, pids: processesOf(server) };
}

/** The rate, and the CPU time (µs) of each process for an operation. @param {object} job @param {Awaited<ReturnType<typeof start>>} measured */
async function measure(job, { server, pids }) {
  const before = pids.map(computedBy);
  const { rate, count, computedEach } = await load({ ...job, pids }, server);
  const cpu = pids.map((pid, i) => (computedEach?.[i] ?? (computedBy(pid) - (before[i] ?? 0)) / count) * 1e6);
  return { rate, cpu, all: cpu.reduce((sum, us) => sum + us, 0) };
}

const servers = [await start(1), await start(2)];
/** @type {{ [name: string]: Awaited<ReturnType<typeof measure>>[] }} */
const rows = {};
for (const [name, job] of Object.entries(jobs)) {
  if (!name.includes(only)) continue;
  // The first round is the warm-up. Of the others the cheapest counts: everything that disturbs makes it dearer.
  for (let round = 0; round < 3; round++) {
    for (const [i, measured] of servers.entries()) {
      const result = await measure(round === 0 ? { ...job, seconds: 0.5, changes: 10 } : job, measured);
      const best = rows[name]?.[i];
      rows[name] ??= [];
      if (round > 0 && (best === undefined || result.all < best.all)) rows[name][i] = result;
    }
  }
}
await sleep(5_000);
const memory = servers.map(({ pids }) => pids.map((pid) => Math.round(anonymousMb(pid))));
for (const { server } of servers) server.child.kill();

/**
 * Operations a second of so many workers with a core each. `alone`: the CPU time of an operation in one process, `owner` and
 * `worker`: those with two, of which each served half.
 * @param {number} workers @param {{ alone: number, owner: number, worker: number }} cost
 */
function rateOf(workers, { alone, owner, worker }) {
  // The owner's computing time for an operation that a worker serves.
  const helped = Math.max(0, (owner - alone / 2) * 2);
  const atOwner = alone / workers + helped * (1 - 1 / workers);
  const atWorker = (worker * 2) / workers;
  return 1e6 / Math.max(atOwner, atWorker);
}

const round = (/** @type {number} */ us) => (us < 1000 ? us.toFixed(0) : `${(us / 1000).toFixed(1)}k`);
console.log('| operation | CPU of one process (µs) | of two: owner + worker | times the rate of one: 2 | 4 | 8 | 16 |');
console.log('|---|---|---|---|---|---|---|');
for (const [name, [one, two]] of Object.entries(rows)) {
  const alone = one?.all ?? Number.NaN;
  const [owner = 0, worker = 0] = two?.cpu ?? [];
  const times = [2, 4, 8, 16].map((workers) => (rateOf(workers, { alone, owner, worker }) * alone) / 1e6);
  const cells = [name, round(alone), `${round(owner)} + ${round(worker)}`, ...times.map((t) => t.toFixed(1))];
  console.log(`| ${cells.join(' | ')} |`);
}
console.log(`memory of ${objects} objects (MB): one ${memory[0]?.join(' + ')}, two ${memory[1]?.join(' + ')}`);
