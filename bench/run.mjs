// npm run bench: the budgets of DESIGN, each as a ratio against a bare program doing the same bytes in the same run.
//   npm run bench [-- --only get,list --seconds 3 --rounds 3]
// Prints a table, writes results.json beside this file, and exits 1 when a budget is missed.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'start,idle,get,list,fanout,create,memory' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    objects: { type: 'string', default: '100000' },
  },
});
const only = new Set(options.only.split(','));
const seconds = Number(options.seconds);
const rounds = Number(options.rounds);
const folder = mkdtempSync(join(tmpdir(), 'orch-bench-'));
const token = 'bench-token-of-an-administrator';
const configMaps = '/api/v1/namespaces/bench/configmaps';
writeFileSync(join(folder, 'tokens.csv'), `${token},bench,bench,"system:masters"\n`, { mode: 0o600 });

/** @type {Map<string, { figure: string, value: number, budget: string, met: boolean, detail: string }>} */
const results = new Map();
/** @type {import('node:child_process').ChildProcess[]} */
const children = [];
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Starts a program and waits for a line of its output.
 * @param {string[]} args
 * @param {RegExp} ready
 */
async function start(args, ready) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const began = process.hrtime.bigint();
  const match = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (piece) => {
      text += piece;
      const found = ready.exec(text);
      if (found) resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`${args[0]} ended with ${code}: ${text}`)));
  });
  return { child, pid: child.pid ?? 0, ms: Number(process.hrtime.bigint() - began) / 1e6, port: Number(match[1]) };
}

const orch = (/** @type {string} */ name, /** @type {string} */ store) =>
  start(
    [
      join(here, '../dist/server/main.js'),
      'serve',
      '--secure-port=0',
      `--store=${store}`,
      `--data-dir=${join(folder, name)}`,
      `--token-auth-file=${join(folder, 'tokens.csv')}`,
      '--max-requests-inflight=3000',
      '--max-mutating-requests-inflight=3000',
    ],
    /https:\/\/127\.0\.0\.1:(\d+)/,
  );
const ca = (/** @type {string} */ name) => join(folder, name, 'ca.crt');

/** @param {number} port @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<Buffer>} */
function call(port, method, path, body) {
  return new Promise((resolve, reject) => {
    const request = https.request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        rejectUnauthorized: false,
        agent,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      },
      (response) => {
        /** @type {Buffer[]} */
        const pieces = [];
        response.on('data', (piece) => pieces.push(piece));
        response.on('end', () => {
          const answer = Buffer.concat(pieces);
          if ((response.statusCode ?? 500) < 300) resolve(answer);
          else reject(new Error(answer.toString()));
        });
      },
    );
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
const agent = new https.Agent({ keepAlive: true, maxSockets: 64 });

/** @param {object} job @returns {Promise<{ rate: number, failed?: number, bytesEach?: number, median?: number }>} */
async function load(job) {
  const { stdout } = await promisify(execFile)(process.execPath, [join(here, 'load.mjs'), JSON.stringify(job)]);
  const result = JSON.parse(stdout);
  if (result.failed > 0) throw new Error(`${result.failed} requests failed: ${JSON.stringify(job).slice(0, 300)}`);
  return result;
}

const configMap = (/** @type {string} */ name, /** @type {number} */ size) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { app: 'bench', shard: `s${name.length % 7}` } },
  data: { a: 'x'.repeat(size / 2 - 200), b: 'y'.repeat(size / 2 - 200) },
});

/** @param {number} port @param {number} count @param {number} size */
async function fill(port, count, size) {
  let next = 0;
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (next < count)
        await call(port, 'POST', configMaps, configMap(`obj-${String(next++).padStart(7, '0')}`, size));
    }),
  );
}

/**
 * Runs the same job against both servers in turn and keeps the median of the ratios.
 * @param {string} figure
 * @param {number} budget
 * @param {object} job
 * @param {{ port: number }} ours
 * @param {{ port: number }} bare
 */
async function compare(figure, budget, job, ours, bare) {
  const ratios = [];
  let text = '';
  for (let round = 0; round < rounds; round++) {
    const theirs = await load({ ...job, token, ca: ca('data'), port: bare.port });
    const our = await load({ ...job, token, ca: ca('data'), port: ours.port });
    ratios.push(our.rate / theirs.rate);
    text = `${Math.round(our.rate)}/s against ${Math.round(theirs.rate)}/s`;
  }
  ratios.sort((a, b) => a - b);
  const ratio = ratios[ratios.length >> 1] ?? 0;
  report(figure, ratio, `≥ ${budget}`, ratio >= budget, text);
}

/** @param {string} figure @param {number} value @param {string} budget @param {boolean} met @param {string} detail */
function report(figure, value, budget, met, detail) {
  results.set(figure, { figure, value: Math.round(value * 1000) / 1000, budget, met, detail });
  console.error(`${figure}: ${value.toFixed(2)} (${detail})`);
}

/** A value of /proc/PID/status in MB; NaN where there is none. @param {number} pid @param {string} key */
function memory(pid, key) {
  try {
    return Number(new RegExp(`${key}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

const bare = (/** @type {string} */ kind) =>
  start(
    [join(here, 'bare.mjs'), kind, join(folder, 'data', 'server.crt'), join(folder, 'data', 'server.key'), folder],
    /^(\d+)/,
  );
const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

(await orch('data', 'lmdb')).child.kill();
await sleep(300);
const server = await orch('data', 'lmdb');
if (only.has('start')) report('start to ready', server.ms, '< 500 ms', server.ms < 500, 'second start, embedded store');
await sleep(1500);
if (only.has('idle')) {
  const rss = memory(server.pid, 'VmRSS');
  report('idle memory', rss, '< 120 MB', !(rss >= 120), 'resident');
}
await call(server.port, 'POST', '/api/v1/namespaces', {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'bench' },
});

if (only.has('get')) {
  await call(server.port, 'POST', configMaps, configMap('one', 2500));
  writeFileSync(join(folder, 'body'), await call(server.port, 'GET', `${configMaps}/one`));
  const other = await bare('get');
  await compare(
    'GET 2.5 KB',
    0.6,
    { kind: 'requests', connections: 32, seconds, method: 'GET', path: `${configMaps}/one` },
    server,
    other,
  );
  other.child.kill();
}
if (only.has('fanout')) {
  await call(server.port, 'POST', configMaps, configMap('fan', 2500));
  const list = JSON.parse((await call(server.port, 'GET', `${configMaps}?limit=1`)).toString());
  const object = JSON.parse((await call(server.port, 'GET', `${configMaps}/fan`)).toString());
  writeFileSync(join(folder, 'body'), `${JSON.stringify({ type: 'MODIFIED', object })}\n`);
  const other = await bare('fanout');
  await compare(
    'one change to 1,000 watchers',
    0.6,
    {
      kind: 'fanout',
      watchers: 1000,
      changes: 20,
      watchPath: `${configMaps}?watch=1&resourceVersion=${list.metadata.resourceVersion}&fieldSelector=metadata.name%3Dfan`,
      method: 'PATCH',
      path: `${configMaps}/fan`,
      body: '{"metadata":{"annotations":{"i":"$I"}}}',
      contentType: 'application/merge-patch+json',
    },
    server,
    other,
  );
  other.child.kill();
}
if (only.has('create')) {
  const other = await bare('create');
  const body = JSON.stringify(configMap('$NAME', 2500));
  await compare(
    'CREATE 2.5 KB, durable, 64 clients',
    0.35,
    { kind: 'requests', connections: 64, seconds, method: 'POST', path: configMaps, body },
    server,
    other,
  );
  other.child.kill();
}
server.child.kill();

if (only.has('list')) {
  const many = await orch('list', 'lmdb');
  await call(many.port, 'POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'bench' },
  });
  await fill(many.port, 10_000, 2000);
  writeFileSync(join(folder, 'body'), await call(many.port, 'GET', configMaps));
  const other = await bare('list');
  const ratios = { kind: 'requests', connections: 2, seconds, method: 'GET', path: configMaps };
  const caOf = ca('list');
  writeFileSync(ca('data'), readFileSync(ca('data'), 'utf8') + readFileSync(caOf, 'utf8'));
  await compare('LIST 10,000 objects of 2 KB', 0.6, ratios, many, other);
  other.child.kill();
  many.child.kill();
}
if (only.has('memory')) {
  const big = await orch('big', 'lmdb');
  await call(big.port, 'POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'bench' },
  });
  await fill(big.port, Number(options.objects), 2000);
  await sleep(2000);
  const anon = memory(big.pid, 'RssAnon');
  report(`memory of ${options.objects} objects of 2 KB`, anon, '< 500 MB', !(anon >= 500), 'RssAnon');
  big.child.kill();
}

console.log(`\n| figure | value | budget | met | detail |\n|---|---|---|---|---|`);
for (const r of results.values())
  console.log(`| ${r.figure} | ${r.value} | ${r.budget} | ${r.met ? 'yes' : 'NO'} | ${r.detail} |`);
writeFileSync(join(here, 'results.json'), `${JSON.stringify([...results.values()], null, 2)}\n`);
process.exit([...results.values()].every((r) => r.met) ? 0 : 1);
