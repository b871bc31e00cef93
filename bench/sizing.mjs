// node bench/sizing.mjs [--objects=10000,100000] [--bytes=2048] [--watches=2000]: the figures of docs/sizing.md, from the
// built command in processes of its own. Times are computing times, which other work on the machine hardly changes. Prints
// rows of a Markdown table. For Linux.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openLmdbStore } from '../dist/server/index.js';

const { values } = parseArgs({
  options: {
    objects: { type: 'string', default: '10000,100000' },
    bytes: { type: 'string', default: '2048' },
    watches: { type: 'string', default: '2000' },
  },
});
const sizes = values.objects.split(',').map(Number);
const bytes = Number(values.bytes);
const watches = Number(values.watches);
const main = join(import.meta.dirname, '../dist/server/main.js');
const configMaps = '/api/v1/namespaces/default/configmaps';
const megabyte = 1024 * 1024;
/** Node would read these certificates before it runs the server. */
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;

/** @param {string} row @param {string} value */
const print = (row, value) => console.log(`| ${row} | ${value} |`);

/**
 * A server over a data directory, and what it took until it was ready.
 * @param {string} folder
 */
async function start(folder) {
  const child = spawn(
    process.execPath,
    [main, 'serve', '--secure-port=0', '--controllers=-*', `--data-dir=${folder}`],
    { stdio: ['ignore', 'pipe', 'ignore'], env },
  );
  const url = await new Promise((resolve, reject) => {
    let printed = '';
    child.stdout.on('data', (/** @type {Buffer} */ piece) => {
      printed += piece.toString();
      const found = /is ready at (https:\S+)/.exec(printed);
      if (found !== null) resolve(found[1] ?? '');
    });
    child.once('exit', reject);
  });
  const computed = () => computedMs(child.pid ?? 0);
  const readyMs = computed();
  const [ca, cert, key] = ['ca.crt', 'admin.crt', 'admin.key'].map((name) => readFileSync(join(folder, name)));
  const open = () => connect(url, { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) });
  const session = open();
  return {
    readyMs,
    computed,
    open,
    /** Memory of the process without mapped files, in bytes: the lowest of a few seconds, in which there are collections. */
    memory: async () => {
      let least = Number.POSITIVE_INFINITY;
      for (let i = 0; i < 8; i++) {
        least = Math.min(least, residentOf(child.pid ?? 0));
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      return least;
    },
    /** @param {string} method @param {string} path @param {unknown} [body] */
    request: (method, path, body) =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':method': method, ':path': path, 'content-type': 'application/json' });
        let text = '';
        stream.setEncoding('utf8');
        stream.on('data', (/** @type {string} */ piece) => {
          text += piece;
        });
        stream.on('end', () => resolve(text));
        stream.on('error', reject);
        stream.end(body === undefined ? undefined : JSON.stringify(body));
      }),
    stop: () =>
      new Promise((resolve) => {
        session.destroy();
        child.removeAllListeners('exit');
        child.once('exit', resolve);
        child.kill();
      }),
  };
}

/** The computing time of a process so far, in milliseconds: the clock of the kernel ticks 100 times a second. @param {number} pid */
function computedMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** @param {number} pid */
function residentOf(pid) {
  const [, kilobytes = '0'] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

/**
 * Writes as many copies of the config map `c` as there should be.
 * @param {string} folder @param {number} from @param {number} to
 */
async function fill(folder, from, to) {
  const clock = { now: () => Date.now(), monotonic: () => performance.now(), after: () => () => {} };
  const store = await openLmdbStore({ path: join(folder, 'store'), clock });
  const { entry } = await store.get('/configmaps/default/c');
  const text = Buffer.from(entry?.value ?? []).toString();
  for (let i = from; i < to; i += 100) {
    const writes = Array.from({ length: Math.min(100, to - i) }, (_, j) => {
      const copy = text
        .replace('"name":"c"', `"name":"c-${i + j}"`)
        .replace(/"uid":"[^"]+"/, `"uid":"${randomUUID()}"`);
      return { key: `/configmaps/default/c-${i + j}`, value: Buffer.from(copy) };
    });
    await store.commit([], writes);
  }
  await store.close();
}

/**
 * The computing time of a command.
 * @param {...string} words
 */
function timed(...words) {
  const script = '"$@" >/dev/null 2>&1 || exit; times';
  const { status, stdout } = spawnSync('sh', ['-c', script, 'sh', process.execPath, main, ...words], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${words[0]} ended with ${status}`);
  // The second line is that of children: the time of the program and that of the system, such as 0m1.25s.
  const times = stdout.trim().split('\n').at(-1)?.split(' ') ?? [];
  const seconds = times.map((time) => {
    const [minutes = 0, rest = 0] = time.replace('s', '').split('m').map(Number);
    return 60 * minutes + rest;
  });
  return `${seconds.reduce((sum, one) => sum + one, 0).toFixed(1)} s`;
}

const folder = mkdtempSync(join(tmpdir(), 'orch-sizing-'));
const backup = join(tmpdir(), `${folder.split('/').at(-1)}.backup`);
try {
  let server = await start(folder);
  print('first start, until ready', `${server.readyMs} ms`);
  const data = { text: '.'.repeat(Math.max(0, bytes - 350)) };
  await server.request('POST', configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data });
  await server.stop();
  server = await start(folder);
  print('start on an empty store, until ready', `${server.readyMs} ms`);
  const empty = await server.memory();
  print('memory without objects', `${Math.round(empty / megabyte)} MB`);
  await server.stop();
  let filled = 0;
  for (const size of sizes) {
    await fill(folder, filled, size);
    filled = size;
    const name = size.toLocaleString('en');
    server = await start(folder);
    print(`${name} objects: start, until ready`, `${server.readyMs} ms`);
    const begun = server.computed();
    await server.request('GET', `${configMaps}?limit=1`);
    print(`${name} objects: first list, which loads the cache`, `${server.computed() - begun} ms`);
    const resident = (await server.memory()) - empty;
    const each = (resident / size / 1024).toFixed(1);
    print(`${name} objects: memory more than without`, `${Math.round(resident / megabyte)} MB, ${each} KB each`);
    const disk = statSync(join(folder, 'store/data.mdb')).size;
    print(`${name} objects: data file`, `${Math.round(disk / megabyte)} MB`);
    print(`${name} objects: orch backup, while the server runs`, timed('backup', `--data-dir=${folder}`, backup));
    rmSync(backup);
    print(`${name} objects: orch check, while the server runs`, timed('check', `--data-dir=${folder}`));
    await server.stop();
  }
  server = await start(folder);
  await server.request('GET', `${configMaps}/c`);
  const before = await server.memory();
  const sessions = [];
  for (let i = 0; i < watches; i++) {
    if (i % 100 === 0) sessions.push(server.open());
    const path = `${configMaps}?watch=true&resourceVersion=0&fieldSelector=metadata.name%3Dc-${i}`;
    const stream = sessions.at(-1)?.request({ ':path': path });
    await new Promise((resolve) => stream?.once('data', resolve));
  }
  const after = await server.memory();
  const each = ((after - before) / watches / 1024).toFixed(1);
  print(`${watches.toLocaleString('en')} watches over ${sessions.length} connections: each`, `${each} KB`);
  for (const session of sessions) session.destroy();
  await server.stop();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
