// What objects and watches cost one server, without sockets: node bench/scale.mjs [--objects 20000] [--watches 20000]
// Prints memory (bytes of the heap) for each object and each watch, and the computing time (µs) of a write next to narrow
// watches and for each watch that gets its event. After `npm run build`.
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createServer } from '../dist/server/index.js';

const { values } = parseArgs({
  options: { objects: { type: 'string', default: '20000' }, watches: { type: 'string', default: '20000' } },
});
const [objects, watches] = [Number(values.objects), Number(values.watches)];
setFlagsFromString('--expose-gc');
const collect = /** @type {() => void} */ (runInNewContext('gc'));

const used = () => {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

const server = await createServer({ controllers: '-*' });
const path = '/api/v1/namespaces/default/configmaps';
const certificate = { commonName: 'scale', organizations: ['system:masters'] };

/** @param {string} method @param {string} url @param {object} [body] @param {string} [type] */
async function send(method, url, body, type = 'application/json') {
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const response = await server.handler({
    method,
    url,
    headers: { accept: 'application/json', 'content-type': type },
    peer: { address: '', network: '', certificate },
    body: async () => bytes,
    stream: () => undefined,
    upgrades: false,
    signal: new AbortController().signal,
  });
  if (response.status >= 300) throw new Error(`${method} ${url}: ${response.status}`);
  return response.body;
}

const nameOf = (/** @type {number} */ i) => `obj-${String(i).padStart(7, '0')}`;
const patch = (/** @type {number} */ i, /** @type {number} */ value) =>
  send('PATCH', `${path}/${nameOf(i)}`, { data: { i: String(value) } }, 'application/merge-patch+json');

let open = 0;
let delivered = 0;

/** The body of an object. @param {string} url */
async function text(url) {
  const body = await send('GET', url);
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  throw new Error(`${url} is answered with a stream`);
}

const revision = async () => JSON.parse(await text(`${path}/${nameOf(0)}`)).metadata.resourceVersion;

/** Watches from a version, and reads every event. @param {string} from @param {string} query */
async function watch(from, query) {
  const body = await send('GET', `${path}?watch=1&resourceVersion=${from}&timeoutSeconds=3600${query}`);
  open++;
  void (async () => {
    for await (const _ of /** @type {AsyncIterable<unknown>} */ (body)) delivered++;
  })();
}

/** Computing time of a write (µs), until every watch has its event. @param {number} writes @param {number} events of each */
async function writeTime(writes, events) {
  await patch(0, -1);
  await turn();
  delivered = 0;
  const started = process.cpuUsage();
  for (let i = 0; i < writes; i++) {
    await patch(0, i);
    while (delivered < (i + 1) * events) await turn();
  }
  const { user, system } = process.cpuUsage(started);
  return (user + system) / writes;
}

const report = (/** @type {string} */ what, /** @type {number} */ value, /** @type {string} */ unit) =>
  console.log(`${what}: ${value.toFixed(value < 10 ? 2 : 0)} ${unit}`);

const empty = used();
const data = { a: 'x'.repeat(1_500) };
for (let i = 0; i < objects; i += 50) {
  const some = Array.from({ length: Math.min(50, objects - i) }, (_, n) => nameOf(i + n));
  const made = some.map((name) =>
    send('POST', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { app: 'scale' } }, data }),
  );
  await Promise.all(made);
}
const filled = used();
const stored = await text(`${path}/${nameOf(0)}`);
report('bytes of one object as JSON', stored.length, 'B');
report('memory of an object in the store in memory and in the cache', (filled - empty) / objects, 'B');

await writeTime(1_000, 0);
const alone = await writeTime(500, 0);
report('a write without watches', alone, 'µs');
const from = await revision();
for (let i = 1; i <= watches; i++) await watch(from, `&fieldSelector=metadata.name%3D${nameOf(i % objects || 1)}`);
await turn();
report(`memory of one of ${open} watches of one object each`, (used() - filled) / open, 'B');
const crowdedWrite = await writeTime(500, 0);
report(`a write with ${open} watches of other objects`, crowdedWrite, 'µs');

for (const count of [1_000, 5_000]) {
  const now = await revision();
  while (open < watches + count) await watch(now, '');
  const all = await writeTime(20, count);
  report(`a write for each of ${count} watches of everything`, (all - alone) / count, 'µs');
}
process.exit(0);
