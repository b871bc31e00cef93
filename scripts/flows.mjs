// node scripts/flows.mjs [--list]: which files and functions of src a request enters, once everything is warm.
// Prints a table; with --list each function too. The last columns count what shares the server between users: seats, and turns
// of the event loop. Counted by the precise coverage of V8, in process, over the memory store, from a build in which each
// source file is a file of its own.
import { copyFileSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build, root } from './setup.mjs';

const { values: options } = parseArgs({ options: { list: { type: 'boolean', default: false } } });
const folder = join(root, 'dist/flows');
const sources = join(folder, 'src');

build();
const { rolldown } = await import('rolldown');
const bundle = await rolldown({
  input: join(root, 'src/server/index.ts'),
  platform: 'node',
  external: ['lmdb', 'pino', 'yaml'],
});
await bundle.write({ dir: sources, format: 'esm', preserveModules: true, preserveModulesRoot: join(root, 'src') });
await bundle.close();
// The server reads its version there.
copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** @type {typeof import('../src/server/index.ts')} */
const { createServer, openMemoryStore } = await import(pathToFileURL(join(sources, 'server/index.js')).href);
/** @type {import('../src/server/index.ts').Dependencies['clock']} */
const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
const { store, hold, release } = heldStore(openMemoryStore({ clock }));
const server = await createServer({ apiDomain: 'k8s.io', controllers: '-*' }, { store });
const certificate = { commonName: 'flows', organizations: ['system:masters'] };
const url = '/api/v1/namespaces/default/configmaps';
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } };
await ask('POST', url, object);

/** @type {[flow: string, run: (i: number) => Promise<Set<string>>][]} */
const flows = [
  ['GET', () => entered(() => ask('GET', `${url}/a`))],
  ['merge patch', (i) => entered(() => ask('PATCH', `${url}/a`, { data: { m: `${i}` } }, 'merge-patch+json'))],
  [
    'apply',
    (i) =>
      entered(() => ask('PATCH', `${url}/a?fieldManager=f`, { ...object, data: { f: `${i}` } }, 'apply-patch+yaml')),
  ],
  ['watch, until it is open', () => watched(({ open }) => entered(open))],
  ['watch, one event', eventDelivered],
];
const rounds = 5;
/** The modules that share seats and computing time between users. */
const sharing = /^src\/(?:fairness\/|meta\/(?:scheduler|heap)\.ts)/;
const filesOf = (/** @type {string[]} */ names) => new Set(names.map((name) => name.split(' ')[0])).size;
console.log('| flow | files | functions | files without sharing | functions without sharing |\n|---|---|---|---|---|');
for (const [flow, run] of flows) {
  for (let i = 0; i < 20; i++) await run(i);
  /** @type {Set<string>[]} */
  const runs = [];
  for (let i = 0; i < rounds; i++) runs.push(await run(100 + i));
  // Functions that only some runs entered belong to a timer.
  const functions = [...(runs[0] ?? [])].filter((name) => runs.every((names) => names.has(name))).sort();
  const others = functions.filter((name) => !sharing.test(name));
  console.log(`| ${flow} | ${filesOf(functions)} | ${functions.length} | ${filesOf(others)} | ${others.length} |`);
  if (options.list) console.log(functions.map((name) => `  ${name}`).join('\n'));
}
await server.close();
rmSync(folder, { recursive: true });

/**
 * The functions of src that are called until the work is done, as `file name:offset`.
 * @param {() => Promise<unknown>} work
 * @returns {Promise<Set<string>>}
 */
async function entered(work) {
  await setImmediate();
  take();
  await work();
  const base = `${pathToFileURL(sources).href}/`;
  const names = take().flatMap(({ url, functions }) => {
    const file = url.startsWith(base) ? url.slice(base.length) : '';
    if (!file.includes('/')) return [];
    return functions.flatMap(({ functionName, ranges: [range] }) =>
      range !== undefined && range.count > 0
        ? [`src/${file.replace(/js$/, 'ts')} ${functionName}:${range.startOffset}`]
        : [],
    );
  });
  return new Set(names);
}

/** The calls since the last take. @returns {import('node:inspector').Profiler.ScriptCoverage[]} */
function take() {
  /** @type {import('node:inspector').Profiler.ScriptCoverage[]} */
  let coverage = [];
  session.post('Profiler.takePreciseCoverage', (_, { result }) => {
    coverage = result;
  });
  return coverage;
}

/** The response of the handler itself, without a transport. @param {string} method @param {string} path @param {object} [body] @param {string} [type] */
async function ask(method, path, body, type = 'json') {
  const response = await server.handler(requestOf(method, path, body, type));
  if (typeof response.body !== 'string') throw new Error(`${method} ${path}: the response is not one text`);
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.body}`);
  return JSON.parse(response.body);
}

/** @param {string} method @param {string} url @param {object} [body] @param {string} [type] @param {AbortSignal} [signal] */
function requestOf(method, url, body, type, signal = new AbortController().signal) {
  const bytes = body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body));
  return {
    method,
    url,
    headers: body === undefined ? {} : { 'content-type': `application/${type}` },
    peer: { address: '', network: '', certificate },
    body: async () => bytes,
    stream: () => undefined,
    upgrades: /** @type {const} */ (false),
    signal,
  };
}

/**
 * Runs with a watch from the present on, which it may open itself, and ends the watch.
 * @template T
 * @param {(watch: { open: () => Promise<void>, next: () => Promise<unknown> }) => Promise<T>} run
 */
async function watched(run) {
  const { metadata } = await ask('GET', url);
  const stop = new AbortController();
  /** @type {AsyncIterator<unknown> | undefined} */
  let events;
  const open = async () => {
    const path = `${url}?watch=true&resourceVersion=${metadata.resourceVersion}`;
    const { body } = await server.handler(requestOf('GET', path, undefined, undefined, stop.signal));
    if (typeof body === 'string' || body instanceof Uint8Array)
      throw new Error('the response to a watch is not a stream');
    events = body[Symbol.asyncIterator]();
  };
  const result = await run({ open, next: async () => events?.next() });
  stop.abort();
  await events?.next().catch(() => undefined);
  return result;
}

/** A change that is in the store already is delivered to the cache, and from there to a watch. */
function eventDelivered() {
  return watched(async ({ open, next }) => {
    await open();
    const event = next();
    const { entries } = await store.list({ prefix: '/' });
    const entry = entries.find(({ key }) => key.endsWith('/configmaps/default/a'));
    if (entry === undefined) throw new Error('the store does not hold the config map');
    hold();
    await store.commit([], [{ key: entry.key, value: entry.value }]);
    return entered(() => {
      release();
      return event;
    });
  });
}

/** A store that can hold back its news. @param {import('../src/server/index.ts').Store} inner */
function heldStore(inner) {
  let held = false;
  /** @type {(() => void)[]} */
  const queue = [];
  /** @type {import('../src/server/index.ts').Store} */
  const store = {
    maxValueBytes: inner.maxValueBytes,
    revision: () => inner.revision(),
    oldest: () => inner.oldest(),
    size: () => inner.size(),
    get: (key, revision) => inner.get(key, revision),
    list: (range) => inner.list(range),
    commit: (guards, writes) => inner.commit(guards, writes),
    compact: (revision) => inner.compact(revision),
    close: () => inner.close(),
    watch: (prefix, after, sink, options) => {
      const delayed = {
        /** @type {typeof sink.batch} */
        batch: (revision, changes) => {
          if (held) queue.push(() => sink.batch(revision, changes));
          else sink.batch(revision, changes);
        },
        /** @type {typeof sink.error} */
        error: (error) => sink.error(error),
      };
      return inner.watch(prefix, after, delayed, options);
    },
  };
  const release = () => {
    held = false;
    for (const deliver of queue.splice(0)) deliver();
  };
  return { store, hold: () => (held = true), release };
}
