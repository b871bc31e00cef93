// The decisions of the authorization mode Node with 5,000 nodes and 150,000 pods, in one process. Prints as JSON: the
// microseconds of a decision and of a change of a pod, and the megabytes of the graph.
import { bundled } from './bundled.mjs';

/** @type {typeof import('../src/auth/index.ts')} */
const { NodeGraph, nodeAuthorizer } = await bundled('src/auth/index.ts');
/** @type {typeof import('../src/meta/index.ts')} */
const { defaultFeatures, namesFor } = await bundled('src/meta/index.ts');

const [nodes, pods] = [5_000, 150_000];
const graph = new NodeGraph();
const nodeOf = (/** @type {number} */ pod) => `node-${pod % nodes}`;
const namespaceOf = (/** @type {number} */ pod) => `namespace-${pod % 500}`;

/** A pod with an account and a secret that many have, and a secret, a config map and a claim that few have. @param {number} pod */
function references(pod) {
  const namespace = namespaceOf(pod);
  return /** @type {const} */ ([
    { resource: 'serviceaccounts', namespace, name: 'default' },
    { resource: 'secrets', namespace, name: 'registry' },
    { resource: 'secrets', namespace, name: `secret-${pod >> 2}` },
    { resource: 'configmaps', namespace, name: `settings-${pod >> 4}` },
    { resource: 'persistentvolumeclaims', namespace, name: `claim-${pod}` },
  ]);
}

const set = (/** @type {number} */ pod, /** @type {string} */ node) =>
  graph.setPod(namespaceOf(pod), `pod-${pod}`, node, node === '' ? [] : references(pod));

/** Microseconds of computing time of one piece of work: the best of five rounds. @param {number} times @param {(i: number) => void} work */
function cost(times, work) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 6; round++) {
    const { user } = process.cpuUsage();
    for (let i = 0; i < times; i++) work(i);
    const micros = (process.cpuUsage().user - user) / times;
    if (round > 0) best = Math.min(best, micros);
  }
  return best;
}

const before = process.memoryUsage().heapUsed;
for (let pod = 0; pod < pods; pod++) {
  const namespace = namespaceOf(pod);
  const claim = /** @type {const} */ ({ resource: 'persistentvolumeclaims', namespace, name: `claim-${pod}` });
  if (pod % 10 === 0) graph.setVolume(`volume-${pod}`, claim, [{ resource: 'secrets', namespace, name: 'disks' }]);
  set(pod, nodeOf(pod));
}
const megabytes = (process.memoryUsage().heapUsed - before) / 1024 / 1024;

const names = namesFor('k8s.io');
const authorize = nodeAuthorizer({ graph, names, features: defaultFeatures });
const users = Array.from({ length: nodes }, (_, i) => ({ name: `system:node:node-${i}`, groups: ['system:nodes'] }));
const place = { group: '', version: 'v1', resource: 'secrets', subresource: '' };
let allowed = 0;
const decision = cost(300_000, (i) => {
  const pod = (i * 7919) % pods;
  // Half of the questions are about the secret of another node.
  const user = users[(pod + (i & 1)) % nodes] ?? users[0];
  if (user === undefined) return;
  const name = i % 3 === 0 ? 'disks' : i % 3 === 1 ? 'registry' : `secret-${pod >> 2}`;
  const resource = { ...place, namespace: namespaceOf(pod), name };
  const found = authorize({ user, verb: 'get', resource, path: '' });
  if (!(found instanceof Promise) && found.allowed) allowed++;
});
if (allowed === 0) throw new Error('nothing is allowed');
const change = cost(50_000, (i) => {
  const pod = (i * 7919) % pods;
  set(pod, '');
  set(pod, nodeOf(pod));
});
console.log(JSON.stringify({ decision, change, megabytes }));
