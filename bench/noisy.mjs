// How much longer other users wait while one tenant makes noise, with and without priority and fairness.
//
// The row measures what the server is responsible for, on a machine of two cores:
// - The programs that make the noise have a lower priority than the server and the program that measures. They send their
//   next request when the response to the last one has arrived, so the noise is what the rest of the machine can read.
// - The program that measures is a process of its own, with one connection. The time for which the server, or this program
//   if that is more, is ready to run but has no processor is subtracted from each latency, where the system tells it (Linux).
// - "Alone" is measured while the same programs are running, with all their connections open and idle.
import { call, configMap, configMaps, fill, load, noise, orch, sleep, tenantTokens } from './servers.mjs';

/** @typedef {import('./servers.mjs').Server} Server */

const objects = 500;
const noiseMaps = '/api/v1/namespaces/noise/configmaps';

/** Time until the noise is the same all the time (ms). */
const warmUpMs = 2_000;

/** Gives all tenants the rights of an administrator, and the noisy one its namespace. @param {Server} server */
async function prepare(server) {
  const rbac = 'rbac.authorization.orch.io';
  await fill(server, objects, 1_000);
  await call(server, 'POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'noise' },
  });
  await call(server, 'POST', `/apis/${rbac}/v1/clusterrolebindings`, {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'tenants' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: Object.keys(tenantTokens).map((name) => ({ kind: 'User', apiGroup: rbac, name })),
  });
}

/** 200 connections of one user: lists, creates, and watches of these. Refused requests count too. @param {Server} server */
async function connectNoise(server) {
  const job = { kind: 'requests', token: tenantTokens.noisy, refusals: true };
  const body = JSON.stringify(configMap('noise-$ID-$I', 1_000));
  const all = await Promise.all([
    noise({ ...job, connections: 100, method: 'GET', path: configMaps }, server),
    noise({ ...job, connections: 50, method: 'POST', path: noiseMaps, body }, server),
    noise({ ...job, connections: 50, method: 'GET', path: `${noiseMaps}?watch=1` }, server),
  ]);
  return {
    start: () => {
      for (const { start } of all) start();
    },
    /** The lists and creates for each second. */
    end: async () => (await Promise.all(all.map(({ end }) => end()))).map(({ rate }) => Math.round(rate)),
  };
}

const figures = /** @type {const} */ (['GETs', 'writes']);

/** The 99th percentiles (ms) of small GETs and of writes. @param {number} seconds @param {string} token @param {Server} server */
async function measure(seconds, token, server) {
  const job = { kind: 'requests', seconds, connections: 1, timed: true, undelayed: true, token };
  const patch = { body: '{"data":{"c":"$I"}}', contentType: 'application/merge-patch+json' };
  const gets = await load({ ...job, method: 'GET', path: `${configMaps}/obj-0000001` }, server);
  const writes = await load({ ...job, ...patch, method: 'PATCH', path: `${configMaps}/obj-0000002` }, server);
  const p99 = (/** @type {number[]} */ times) => times[Math.floor(times.length * 0.99)] ?? 0;
  return { GETs: p99(gets.times ?? []), writes: p99(writes.times ?? []) };
}

/** @param {import('./rows.mjs').Bench} bench */
export async function noisy({ seconds, report }) {
  const others = Object.entries(tenantTokens).filter(([name]) => name !== 'noisy');
  for (const fair of [true, false]) {
    const what = fair ? 'with priority and fairness' : 'without';
    const limits = ['--max-requests-inflight=400', '--max-mutating-requests-inflight=200'];
    const server = await orch(`noisy-${fair}`, [], [...limits, `--enable-priority-and-fairness=${fair}`]);
    await prepare(server);
    for (const [name, token] of others) {
      const { start, end } = await connectNoise(server);
      const alone = await measure(seconds, token, server);
      start();
      await sleep(warmUpMs);
      const crowded = await measure(seconds, token, server);
      const [lists, creates] = await end();
      for (const figure of figures) {
        const ratio = crowded[figure] / alone[figure];
        const times = `${alone[figure].toFixed(1)} ms alone, ${crowded[figure].toFixed(1)} ms during the noise`;
        const detail = `99th percentile ${times} of ${lists} lists and ${creates} creates a second`;
        const title = `${figure} of ${name} during a noisy tenant, ${what}`;
        report(title, ratio, fair ? '< 3' : 'none', !fair || ratio < 3, detail);
      }
    }
    server.child.kill();
  }
}
