// The load generator, a separate process: raw TLS sockets and minimal parsing, so that the servers are the bottleneck.
// Reads one job as JSON from its argument, prints one result as JSON.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import os from 'node:os';
import tls from 'node:tls';
import { computedBy } from './computed.mjs';

/**
 * @typedef {{ port: number, token: string, ca: string }} Server
 * @typedef {Server & { kind: 'requests', connections: number, seconds: number, method: string, path: string, body?: string, contentType?: string, accept?: string, timed?: boolean, pid?: number, undelayed?: boolean, refusals?: boolean, told?: boolean }} Requests
 * @typedef {Server & { kind: 'alternation', sides: (Server & { pid: number })[], connections: number, turns: number, each: number, path: string }} Alternation
 * @typedef {Server & { kind: 'idle', pid: number, protocol: 'http/1.1' | 'h2', connections: number, seconds: number, path: string }} Idle
 * @typedef {Server & { pid: number, pids?: number[], others?: Server[], watchers: number, watchPath: string, method: string, path: string, body: string, contentType: string }} Watches
 * @typedef {Watches & { kind: 'fanout', changes: number }} Fanout
 * @typedef {Watches & { kind: 'flood', writers: number, seconds: number }} Flood
 */

/** @param {Server} server @param {string} [protocol] @returns {Promise<tls.TLSSocket>} */
function connect({ port, ca }, protocol = 'http/1.1') {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({
      host: '127.0.0.1',
      port,
      ca: readFileSync(ca),
      servername: 'localhost',
      ALPNProtocols: [protocol],
    });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
    socket.setNoDelay(true);
  });
}

/** @param {Server & { accept?: string, contentType?: string }} job @param {string} method @param {string} path @param {string} [body] */
function request({ token, accept = 'application/json', contentType = 'application/json' }, method, path, body) {
  const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nAccept: ${accept}\r\n`;
  return body === undefined
    ? `${head}\r\n`
    : `${head}Content-Type: ${contentType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/**
 * Calls `done` with the status after each complete response.
 * @param {tls.TLSSocket} socket
 * @param {(status: number) => void} done
 */
function responses(socket, done) {
  let status = 0;
  let missing = -1; // remaining bytes of the body; -2: chunked, until the last chunk
  let tail = '';
  socket.on('data', (/** @type {Buffer} */ data) => {
    let start = 0;
    while (start < data.length) {
      if (missing === -1) {
        const end = data.indexOf('\r\n\r\n', start);
        if (end < 0) throw new Error('a response head came in pieces');
        const head = data.toString('latin1', start, end);
        status = Number(head.slice(9, 12));
        const length = /content-length: (\d+)/i.exec(head);
        missing = length ? Number(length[1]) : -2;
        tail = '';
        start = end + 4;
      }
      const rest = data.length - start;
      if (missing === -2) {
        tail = (tail + data.toString('latin1', Math.max(start, data.length - 7))).slice(-7);
        start = data.length;
        if (!tail.endsWith('\r\n0\r\n\r\n')) return;
      } else {
        const taken = Math.min(rest, missing);
        missing -= taken;
        start += taken;
        if (missing > 0) return;
      }
      missing = -1;
      done(status);
    }
  });
}

/**
 * With `timed`, `times` has the latency of each request (ms), in ascending order; with `undelayed`, without the time for
 * which the server, or this program if that is more, was ready to run but had no processor. With `refusals`, those with 429 are no
 * failures. With `told`, the parent process is told when all connections are open, and says when to start and to end.
 * @param {Requests} job
 */
async function requests(job) {
  let count = 0;
  let failed = 0;
  let made = 0;
  /** @type {number[]} */
  const times = [];
  const id = `${process.pid.toString(36)}${Date.now().toString(36)}`;
  // Placeholders: `$ID` is this run, `$I` the index of the request, `$C` the two-digit index of the connection.
  const next = (/** @type {number} */ connection) => {
    const own = (/** @type {string} */ text) =>
      text.replace('$ID', id).replace('$I', String(made++)).replace('$C', String(connection).padStart(2, '0'));
    return request(job, job.method, own(job.path), job.body === undefined ? undefined : own(job.body));
  };
  const sockets = await Promise.all(Array.from({ length: job.connections }, () => connect(job)));
  const isOver = job.told ? await untilTold() : after(job.seconds);
  const started = process.hrtime.bigint();
  await Promise.all(
    sockets.map(
      (socket, connection) =>
        new Promise((resolve, reject) => {
          let elapsed = () => 0;
          const send = () => {
            if (job.timed) elapsed = stopwatch(job.undelayed ? [job.pid, 'self'] : []);
            socket.write(next(connection));
          };
          socket.on('error', reject);
          responses(socket, (status) => {
            count++;
            if (job.timed) times.push(Math.round(elapsed() * 1e3) / 1e3);
            if (status >= 300 && !(job.refusals && status === 429)) failed++;
            if (isOver()) resolve(undefined);
            else send();
          });
          if (job.told) process.once('message', resolve);
          send();
        }),
    ),
  );
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  for (const socket of sockets) socket.destroy();
  return { rate: count / seconds, count, failed, ...(job.timed ? { times: times.sort((a, b) => a - b) } : {}) };
}

/**
 * GET requests to two servers, or as two users, in turns of some milliseconds: what else happens on the machine disturbs both
 * alike. Returns what each of `each` requests of a turn takes of the main thread of its server (s), turn by turn.
 * @param {Alternation} job
 */
async function alternation(job) {
  const sides = await Promise.all(
    job.sides.map(async (side) => {
      const connected = Array.from({ length: job.connections }, () => connect(side));
      const text = request(side, 'GET', job.path);
      let missing = 0;
      let unsent = 0;
      let done = () => {};
      const sockets = await Promise.all(connected);
      for (const socket of sockets) {
        responses(socket, (status) => {
          if (status >= 300) throw new Error(`a request was answered with ${status}`);
          missing -= 1;
          if (missing === 0) done();
          if (unsent > 0) send(socket);
        });
      }
      const send = (/** @type {tls.TLSSocket} */ socket) => {
        unsent -= 1;
        socket.write(text);
      };
      const turn = async () => {
        missing = job.each;
        unsent = job.each;
        const before = mainThreadOf(side.pid).computedMs;
        /** @type {Promise<void>} */
        const all = new Promise((resolve) => {
          done = resolve;
        });
        for (const socket of sockets) if (unsent > 0) send(socket);
        await all;
        return (mainThreadOf(side.pid).computedMs - before) / job.each / 1e3;
      };
      /** @type {number[]} */
      const computed = [];
      return { turn, computed };
    }),
  );
  for (let turn = 0; turn < job.turns; turn++) {
    for (const side of turn % 2 === 0 ? sides : sides.toReversed()) side.computed.push(await side.turn());
  }
  return { rate: 0, count: job.turns * job.each, computedInTurns: sides.map(({ computed }) => computed) };
}

/**
 * Measures a time from now on (ms), less the longest delay of the processes.
 * @param {readonly (number | 'self' | undefined)[]} processes
 */
function stopwatch(processes) {
  const began = performance.now();
  const delayOf = (/** @type {number | 'self' | undefined} */ pid) => mainThreadOf(pid).delayedMs;
  const delays = processes.map(delayOf);
  return () => {
    const delayed = processes.map((pid, i) => delayOf(pid) - (delays[i] ?? 0));
    return Math.max(0, performance.now() - began - Math.max(0, ...delayed));
  };
}

/**
 * For how long the main thread of a process has computed, and has been ready to run without a processor (ms); 0 where the system
 * does not tell.
 * @param {number | 'self' | undefined} pid
 */
function mainThreadOf(pid) {
  try {
    const [computed, delayed] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ').map(Number);
    return { computedMs: (computed ?? 0) / 1e6, delayedMs: (delayed ?? 0) / 1e6 };
  } catch {
    return { computedMs: 0, delayedMs: 0 };
  }
}

/** Whether the time is over. @param {number} seconds */
function after(seconds) {
  const stop = Date.now() + seconds * 1000;
  return () => Date.now() >= stop;
}

/** How much lower than that of the other programs the priority of a generator that makes noise is. */
const nicer = 10;

/** Waits for the parent process to say `start`. Returns whether it has said `end`. */
async function untilTold() {
  os.setPriority(Math.min(os.getPriority() + nicer, os.constants.priority.PRIORITY_LOW));
  process.setMaxListeners(0);
  process.send?.('connected');
  await once(process, 'message');
  let over = false;
  process.once('message', () => {
    over = true;
  });
  return () => over;
}

/**
 * Opens watches, of this server and others, and calls `arrived` with the number of events of each piece that comes.
 * @param {Fanout | Flood} job @param {(events: number) => void} arrived
 */
async function watch(job, arrived) {
  /** @type {tls.TLSSocket[]} */
  const watchers = [];
  const servers = [job, ...(job.others ?? [])];
  const connectTo = (/** @type {number} */ i) => connect(servers[i % servers.length] ?? job);
  for (let i = 0; i < job.watchers; i += 50) {
    const some = Array.from({ length: Math.min(50, job.watchers - i) }, (_, n) => connectTo(i + n));
    watchers.push(...(await Promise.all(some)));
  }
  await Promise.all(
    watchers.map(
      (socket) =>
        new Promise((resolve) => {
          let before = 0;
          socket.on('data', (/** @type {Buffer} */ data) => {
            resolve(undefined);
            // The lines of events end with LF, those of HTTP with CRLF.
            let events = 0;
            for (let at = data.indexOf(lf); at >= 0; at = data.indexOf(lf, at + 1)) {
              if ((at === 0 ? before : data[at - 1]) !== cr) events++;
            }
            before = data[data.length - 1] ?? 0;
            if (events > 0) arrived(events);
          });
          socket.write(request(job, 'GET', job.watchPath));
        }),
    ),
  );
  const lost = new Promise((_, reject) => {
    for (const socket of watchers) socket.once('close', () => reject(new Error('a watch has ended')));
  });
  lost.catch(() => {});
  return { lost, close: () => watchers.forEach((socket) => void socket.destroy()) };
}

const [lf, cr] = [10, 13];

/** A connection that sends one change after the other. @param {Fanout | Flood} job */
async function writer(job) {
  const socket = await connect(job);
  let answered = () => {};
  responses(socket, (status) => {
    if (status >= 300) throw new Error(`a change was answered with ${status}`);
    answered();
  });
  return {
    change: (/** @type {string} */ path, /** @type {string} */ body) => {
      const answer = new Promise((resolve) => {
        answered = () => resolve(undefined);
      });
      socket.write(request(job, job.method, path, body));
      return answer;
    },
    close: () => void socket.destroy(),
  };
}

/** Latency from a write until its event has reached the last of many watchers. @param {Fanout} job */
async function fanout(job) {
  let arrived = 0;
  let expected = Number.POSITIVE_INFINITY;
  let reached = () => {};
  const { lost, close } = await watch(job, (events) => {
    arrived += events;
    if (arrived >= expected) reached();
  });
  const { change, close: closeWriter } = await writer(job);
  const times = [];
  const pids = job.pids ?? [job.pid];
  const before = pids.map(computedBy);
  for (let i = 0; i < job.changes; i++) {
    const started = process.hrtime.bigint();
    expected = arrived + job.watchers;
    const all = new Promise((resolve) => {
      reached = () => resolve(undefined);
    });
    await Promise.race([lost, Promise.all([all, change(job.path, job.body.replace('$I', String(i)))])]);
    times.push(Number(process.hrtime.bigint() - started) / 1e6);
  }
  const count = job.watchers * job.changes;
  const computedEach = pids.map((pid, i) => (computedBy(pid) - (before[i] ?? 0)) / count);
  close();
  closeWriter();
  times.sort((a, b) => a - b);
  const median = times[times.length >> 1] ?? 0;
  return { rate: (job.watchers * 1000) / median, count, computed: computedEach[0], computedEach };
}

/** Events to many watchers while several clients write as fast as they are answered. @param {Flood} job */
async function flood(job) {
  let arrived = 0;
  let changes = 0;
  const { lost, close } = await watch(job, (events) => {
    arrived += events;
  });
  const writers = await Promise.all(Array.from({ length: job.writers }, () => writer(job)));
  await new Promise((resolve) => setTimeout(resolve, 500));
  arrived = 0;
  const before = computedBy(job.pid);
  const started = performance.now();
  const isOver = after(job.seconds);
  const write = async (/** @type {Awaited<ReturnType<typeof writer>>} */ { change }, /** @type {number} */ i) => {
    const path = job.path.replace('$C', String(i).padStart(2, '0'));
    while (!isOver()) await change(path, job.body.replace('$I', String(changes++)));
  };
  await Promise.race([lost, Promise.all(writers.map(write))]);
  while (arrived < changes * job.watchers) {
    await Promise.race([lost, new Promise((resolve) => setTimeout(resolve, 5))]);
  }
  const computed = (computedBy(job.pid) - before) / arrived;
  const rate = (arrived * 1000) / (performance.now() - started);
  close();
  for (const { close } of writers) close();
  return { rate, count: arrived, computed };
}

/** The 99th percentile of the request latency (ms). @param {Idle} job */
async function slowest(job) {
  const socket = await connect(job);
  let answered = () => {};
  responses(socket, () => answered());
  const times = [];
  for (const stop = Date.now() + job.seconds * 1000; Date.now() < stop; ) {
    const started = process.hrtime.bigint();
    const answer = new Promise((resolve) => {
      answered = () => resolve(undefined);
    });
    socket.write(request(job, 'GET', job.path));
    await answer;
    times.push(Number(process.hrtime.bigint() - started) / 1e6);
  }
  socket.destroy();
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
}

/** Anonymous resident memory of a process (KB). @param {number} pid */
const memoryOf = (pid) => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Connections that send one request and then stay idle. @param {Idle} job */
async function idle(job) {
  const open = async (/** @type {number} */ count) => {
    for (let i = 0; i < count; i += 50) {
      await Promise.all(
        Array.from({ length: Math.min(50, count - i) }, async () => {
          const socket = await connect(job, job.protocol);
          await new Promise((resolve) => {
            if (job.protocol === 'h2') {
              const session = http2.connect('https://localhost', { createConnection: () => socket });
              session
                .request({ ':path': job.path, authorization: `Bearer ${job.token}` })
                .resume()
                .on('end', resolve);
            } else {
              socket.once('data', resolve);
              socket.write(request(job, 'GET', job.path));
            }
          });
        }),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 2000));
  };
  await open(500);
  await slowest(job);
  const without = await slowest(job);
  const before = memoryOf(job.pid);
  await open(job.connections);
  const kilobytes = (memoryOf(job.pid) - before) / job.connections;
  return { rate: 0, count: job.connections, kilobytes, slower: (await slowest(job)) / without };
}

/** @type {Requests | Alternation | Fanout | Flood | Idle} */
const job = JSON.parse(process.argv[2] ?? '{}');
/** @returns {Promise<object>} */
function run() {
  switch (job.kind) {
    case 'alternation':
      return alternation(job);
    case 'fanout':
      return fanout(job);
    case 'flood':
      return flood(job);
    case 'idle':
      return idle(job);
    case 'requests':
      return requests(job);
  }
}

const result = await run();
if (process.send === undefined) {
  const text = JSON.stringify(result);
  await new Promise((written) => process.stdout.write(text, written));
} else await new Promise((sent) => process.send?.(result, sent));
process.exit(0);
