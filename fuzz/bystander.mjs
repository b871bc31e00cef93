// Another client of a server under attack, in a process of its own. It asks for `/livez` every 10 ms, reads and writes an
// object every 50 ms, each over a connection that it keeps, and asks a bare server in the rhythm of `/livez`. During a short
// attack it waits longer between requests. What a request takes beyond the waits for the bare server at the same time, and
// beyond the time in which the thread of the server or that of this process was ready to run but another process had the
// processor, is what the server made it wait.
//
// Its argument is a BystanderJob (bystander.ts). It sends `ready` once each request has been answered. Between the messages
// `{ pace }`, which it answers with `begun`, and `end` it sends its requests; after the last response it sends a
// BystanderReport.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** @type {import('./bystander.ts').BystanderJob} */
const { folder, port, pid, path, token } = JSON.parse(process.argv[2] ?? '{}');
const ca = readFileSync(join(folder, 'ca.crt'));
/** How long an answer may take (ms). */
const patience = 60_000;
const mostFaults = 3;

/** @typedef {{ began: number, ended: number, delayed: number, ownDelay: number, computed: number }} Wait */
/** @typedef {{ method: string, path: string, every: number, headers?: { [name: string]: string }, body?: (i: number) => string }} Rhythm */

/**
 * How long the main thread of a process has run, and has been ready to run (ms). The group leader is the main thread.
 * @param {number} processId
 * @returns {{ ran: number, delayed: number } | undefined} undefined where the system does not tell, or the process has gone
 */
function schedule(processId) {
  try {
    const [ran, delayed] = readFileSync(`/proc/${processId}/schedstat`, 'utf8').split(' ');
    return { ran: Number(ran) / 1e6, delayed: Number(delayed) / 1e6 };
  } catch {
    return undefined;
  }
}

/** @type {string[]} */
let faults = [];
let over = true;
/** How many times as long as in its rhythm it waits between requests. */
let pace = 1;

/** Asks one server for one thing, again and again, over one connection. */
class Asker {
  /** @type {Wait[]} */
  waits = [];
  #agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
  #port;
  #rhythm;

  /** @param {number} port @param {Rhythm} rhythm */
  constructor(port, rhythm) {
    this.#port = port;
    this.#rhythm = rhythm;
  }

  get what() {
    const { method, path } = this.#rhythm;
    return { method, path };
  }

  /**
   * @param {number} i
   * @returns {Promise<number>} the status
   */
  #ask(i) {
    const { method, path, headers, body } = this.#rhythm;
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#port, agent: this.#agent, method, path, headers };
      const sent = request(options, (response) => {
        response.on('error', reject);
        response.on('end', () => resolve(response.statusCode ?? 0));
        response.resume();
      });
      sent.setTimeout(patience, () => sent.destroy(new Error(`no answer in ${patience / 1000} s`)));
      sent.on('error', reject);
      sent.end(body?.(i));
    });
  }

  /** @param {number} i */
  async once(i) {
    const before = schedule(pid);
    const ownBefore = schedule(process.pid);
    const began = performance.now();
    const status = await this.#ask(i).catch((/** @type {Error} */ error) => error.message);
    const ended = performance.now();
    const after = schedule(pid);
    const ownAfter = schedule(process.pid);
    if (status !== 200)
      faults.push(`meanwhile ${this.what.method} ${this.what.path} of another client gives ${status}`);
    const known = before !== undefined && after !== undefined;
    const delayed = known ? after.delayed - before.delayed : 0;
    const computed = known ? after.ran - before.ran : Number.POSITIVE_INFINITY;
    const ownDelay = (ownAfter?.delayed ?? 0) - (ownBefore?.delayed ?? 0);
    this.waits.push({ began, ended, delayed, ownDelay, computed });
  }

  async go() {
    for (let i = 1; !over && faults.length < mostFaults; i++) {
      const next = performance.now() + this.#rhythm.every * pace;
      await this.once(i);
      // Also after a long wait, so that an error that comes at once is not repeated at once.
      await sleep(Math.max(1, next - performance.now()));
    }
  }
}

const bareServer = fork(join(import.meta.dirname, 'bare-server.mjs'), [folder]);
const [barePort] = await once(bareServer, 'message');
const bare = new Asker(barePort, { method: 'GET', path: '/', every: 10 });
const authorization = `Bearer ${token}`;
const askers = [
  new Asker(port, { method: 'GET', path: '/livez', every: 10 }),
  new Asker(port, { method: 'GET', path, every: 50, headers: { authorization } }),
  new Asker(port, {
    method: 'PATCH',
    path,
    every: 50,
    headers: { authorization, 'content-type': 'application/merge-patch+json' },
    body: (i) => JSON.stringify({ data: { i: String(i) } }),
  }),
];

/**
 * The longest wait for the bare server at the time of another.
 * @param {Wait} wait
 */
function bareWait({ began, ended }) {
  let longest = 0;
  for (const other of bare.waits) {
    if (other.began < ended && other.ended > began) longest = Math.max(longest, other.ended - other.began);
  }
  return longest;
}

/** @param {Asker} asker */
function judged({ what, waits }) {
  let longest = 0;
  let computed = 0;
  for (const wait of waits) {
    const whole = wait.ended - wait.began - wait.delayed;
    if (whole <= Math.min(longest, computed)) continue;
    // A wait for the bare server includes delays of this process.
    const ofServer = whole - Math.max(bareWait(wait), wait.ownDelay);
    longest = Math.max(longest, ofServer);
    computed = Math.max(computed, Math.min(ofServer, wait.computed));
  }
  return { ...what, longest, computed };
}

const all = [bare, ...askers];
// The first requests open their connections.
await Promise.all(all.map((asker) => asker.once(0)));
// The parent process is gone: exit with it.
process.on('disconnect', () => process.exit(1));
process.send?.('ready');
for (;;) {
  const [begin] = await once(process, 'message');
  pace = begin.pace;
  over = false;
  faults = [];
  for (const asker of all) asker.waits = [];
  await Promise.all(all.map((asker) => asker.once(0)));
  process.send?.('begun');
  const going = Promise.all(all.map((asker) => asker.go()));
  await once(process, 'message');
  over = true;
  await going;
  process.send?.({ waits: askers.map(judged), faults });
}
