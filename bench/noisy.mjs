// How much longer other users wait during the load of a noisy tenant, with and without priority and fairness.
import { call, configMap, configMaps, fill, load, orch, sleep, tenantTokens } from './servers.mjs';

/** @typedef {import('./servers.mjs').Server} Server */

const objects = 500;
const noise = '/api/v1/namespaces/noise/configmaps';

/** Time to open 200 connections, and until the noise is the same all the time (ms). */
const connectMs = 8_000;
const warmUpMs = 1_000;

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

/** 200 connections of one user: lists, creates, and watches of these. Refused requests count too. @param {number} seconds @param {Server} server */
async function makeNoise(seconds, server) {
  const at = Date.now() + connectMs;
  const job = { kind: 'requests', token: tenantTokens.noisy, refusals: true, seconds, at };
  const body = JSON.stringify(configMap('noise-$ID-$I', 1_000));
  const watch = `${noise}?watch=1&timeoutSeconds=${seconds}`;
  const ended = Promise.all([
    load({ ...job, connections: 100, method: 'GET', path: configMaps }, server),
    load({ ...job, connections: 50, method: 'POST', path: noise, body }, server),
    load({ ...job, connections: 50, method: 'GET', path: watch }, server),
  ]);
  await sleep(connectMs + warmUpMs);
  return { ended };
}

/** The 99th percentiles (ms) of small GETs and of writes. @param {number} seconds @param {string} token @param {Server} server */
async function measure(seconds, token, server) {
  const job = { kind: 'requests', seconds, connections: 1, timed: true, token };
  const get = await load({ ...job, method: 'GET', path: `${configMaps}/obj-0000001` }, server);
  const contentType = 'application/merge-patch+json';
  const patch = {
    ...job,
    method: 'PATCH',
    path: `${configMaps}/obj-0000002`,
    body: '{"data":{"c":"$I"}}',
    contentType,
  };
  const write = await load(patch, server);
  const p99 = (/** @type {number[]} */ times) => times[Math.floor(times.length * 0.99)] ?? 0;
  return { GETs: p99(get.times ?? []), writes: p99(write.times ?? []) };
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
      const alone = await measure(seconds, token, server);
      const { ended } = await makeNoise(2 * seconds + 2, server);
      const crowded = await measure(seconds, token, server);
      await ended;
      for (const key of /** @type {const} */ (['GETs', 'writes'])) {
        const ratio = crowded[key] / alone[key];
        const detail = `99th percentile ${alone[key].toFixed(1)} ms alone, ${crowded[key].toFixed(1)} ms then`;
        report(
          `${key} of ${name} during a noisy tenant, ${what}`,
          ratio,
          fair ? '< 3' : 'none',
          !fair || ratio < 3,
          detail,
        );
      }
    }
    server.child.kill();
  }
}
