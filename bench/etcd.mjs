// The rows of servers over etcd: against a bare client of the same etcd, against the embedded store, and several against
// one.
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { call, configMap, configMaps, etcd, fill, fillMore, load, orch } from './servers.mjs';

/**
 * @typedef {import('./rows.mjs').Bench} Bench
 * @typedef {import('./servers.mjs').Server} Server
 * @typedef {NonNullable<Awaited<ReturnType<typeof etcd>>>} Etcd
 */

const here = dirname(fileURLToPath(import.meta.url));
const run = promisify(execFile);

/** @typedef {{ rate: number, computed: number }} Measured `computed`: CPU time of each request (s) */

const median = (/** @type {number[]} */ values) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

/**
 * The median of the ratios of two measurements in alternation, and the last of both.
 * @param {number} rounds @param {() => Promise<Measured>} ours @param {() => Promise<Measured>} theirs
 */
async function ratioOf(rounds, ours, theirs) {
  const ratios = [];
  const computing = [];
  let text = '';
  for (let round = 0; round < rounds; round++) {
    const other = await theirs();
    const our = await ours();
    ratios.push(our.rate / other.rate);
    computing.push(other.computed / our.computed);
    text = `${Math.round(our.rate)}/s against ${Math.round(other.rate)}/s`;
  }
  return { ratio: median(ratios), text: `${text}; by computing time ${median(computing).toFixed(2)}` };
}

/** Objects created by 64 clients, against transactions of a bare client at the same etcd. @param {Bench} bench @param {Etcd} store @param {Server} server */
async function create({ rounds, seconds, report }, { url }, server) {
  const body = JSON.stringify(configMap('b-$ID-$I', 2500));
  const job = { kind: 'requests', seconds, connections: 64, method: 'POST', path: configMaps, body };
  const bare = async () => {
    const args = [join(here, 'etcd-client.mjs'), new URL(url).host, String(seconds), '64'];
    return /** @type {Measured} */ (JSON.parse((await run(process.execPath, args)).stdout));
  };
  // Both are measured warm.
  await load(job, server);
  const { ratio, text } = await ratioOf(rounds, () => load(job, server), bare);
  report('CREATE 2.5 KB over etcd, 64 clients, against a bare client of etcd', ratio, '≥ 0.6', ratio >= 0.6, text);
}

/** Reads over etcd against reads over the embedded store. @param {Bench} bench @param {Etcd} _ @param {Server} server */
async function reads({ rounds, seconds, report }, _, server) {
  const embedded = await orch('embedded');
  await fill(embedded, 0, 0);
  for (const each of [server, embedded]) await fillMore(each, 10_000, 2000);
  for (const [figure, connections, path] of /** @type {const} */ ([
    ['GET 2 KB', 32, `${configMaps}/obj-0000000`],
    ['LIST 10,000 objects of 2 KB', 2, configMaps],
  ])) {
    const job = { kind: 'requests', seconds, connections, method: 'GET', path };
    const { ratio, text } = await ratioOf(
      rounds,
      () => load(job, server),
      () => load(job, embedded),
    );
    report(`${figure} over etcd, against the embedded store`, ratio, '≥ 0.9', ratio >= 0.9, text);
  }
  embedded.child.kill();
}

/** The events of three replicas against those of one. @param {Bench} bench @param {Etcd} store @param {Server} one */
async function fanout({ rounds, report }, { flags }, one) {
  const others = [await orch('etcd-2', [], flags), await orch('etcd-3', [], flags)];
  await call(one, 'POST', configMaps, configMap('fan', 2500));
  const measure = async (/** @type {Server[]} */ servers) => {
    const { metadata } = JSON.parse((await call(one, 'GET', `${configMaps}/fan`)).toString());
    const job = {
      kind: 'fanout',
      others: servers.map(({ port, ca }) => ({ port, ca })),
      watchers: 900,
      changes: 20,
      watchPath: `${configMaps}?watch=1&resourceVersion=${metadata.resourceVersion}&fieldSelector=metadata.name%3Dfan`,
      method: 'PATCH',
      path: `${configMaps}/fan`,
      body: '{"metadata":{"annotations":{"i":"$I"}}}',
      contentType: 'application/merge-patch+json',
    };
    return load(job, one);
  };
  const { ratio, text } = await ratioOf(
    rounds,
    () => measure(others),
    () => measure([]),
  );
  const cores = availableParallelism();
  // Three replicas, etcd, and the clients.
  const enough = cores >= 5;
  const detail = `${text}; ${cores} cores${enough ? '' : ', of which five are needed'}`;
  const figure = 'one change to 900 watchers of three replicas, against one';
  report(figure, ratio, enough ? '≥ 2.2' : 'none', !enough || ratio >= 2.2, detail);
  for (const { child } of others) child.kill();
}

let made = 0;

/** A row with an etcd and a server over it; none where there is no etcd. @param {(bench: Bench, store: Etcd, server: Server) => Promise<void>} work @returns {import('./rows.mjs').Row} */
const overEtcd = (work) => async (bench) => {
  const store = await etcd(`etcd-${made++}`);
  if (store === undefined) return;
  const server = await orch(`over-etcd-${made}`, [], store.flags);
  await fill(server, 0, 0);
  await work(bench, store, server);
  server.child.kill();
  store.end();
};

export const etcdRows = { etcdCreate: overEtcd(create), etcdReads: overEtcd(reads), etcdFanout: overEtcd(fanout) };
