// The baseline programs: minimal Node servers that send, store or fan out the same bytes.
//   node bare.mjs KIND CERT KEY FOLDER      KIND: get, idle, list, fanout, create, change, webhook
// Prints its port. `webhook` admits what it is asked about. All others but `create` respond with FOLDER/body; `create` and `change` store what they respond with.
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import http2 from 'node:http2';
import https from 'node:https';
import { join } from 'node:path';
import tls from 'node:tls';

const [kind = '', cert = '', key = '', folder = ''] = process.argv.slice(2);
const chunk = 256 * 1024;
const pair = { cert: readFileSync(cert), key: readFileSync(key) };

/** @returns {import('node:http').RequestListener} */
function get() {
  const body = readFileSync(join(folder, 'body'));
  return (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  };
}

/** @type {{ [kind: string]: () => (request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => unknown }} */
const programs = {
  get,
  idle: get,
  webhook: () => admit,
  list: () => {
    const body = readFileSync(join(folder, 'body'));
    return async (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      for (let at = 0; at < body.length; at += chunk) {
        if (!response.write(body.subarray(at, at + chunk)))
          await new Promise((resolve) => response.once('drain', resolve));
      }
      response.end();
    };
  },
};

/** Admits every request. @type {import('node:http').RequestListener} */
function admit(request, response) {
  /** @type {Buffer[]} */
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    const { apiVersion, kind, request: asked } = JSON.parse(Buffer.concat(pieces).toString());
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true } }));
  });
}

/**
 * Responds with the stored bytes, `fixed` or the request body, when they are durable: appended to a file and flushed, together
 * with those of all requests that came during the flush before.
 * @param {Buffer} [fixed]
 */
async function keep(fixed) {
  const file = await open(join(folder, 'bare-log'), 'a');
  /** @type {{ body: Buffer, done: () => void }[]} */
  let waiting = [];
  let isFlushing = false;
  const flush = async () => {
    isFlushing = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await file.appendFile(Buffer.concat(group.map(({ body }) => body)));
      await file.datasync();
      for (const { done } of group) done();
    }
    isFlushing = false;
  };
  return (
    /** @type {import('node:http').IncomingMessage} */ request,
    /** @type {import('node:http').ServerResponse} */ response,
  ) => {
    /** @type {Buffer[]} */
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      const body = fixed ?? Buffer.concat(pieces);
      const done = () => {
        response.writeHead(fixed === undefined ? 201 : 200, {
          'Content-Type': 'application/json',
          'Content-Length': body.length,
        });
        response.end(body);
      };
      waiting.push({ body, done });
      if (!isFlushing) void flush();
    });
  };
}

/** Responds to HTTP/1.1 below Node's HTTP server. The changes of a turn of the event loop are one write to each watcher. */
function fanout() {
  const line = readFileSync(join(folder, 'body'));
  /** @type {Set<import('node:tls').TLSSocket>} */
  const watchers = new Set();
  /** @type {Map<number, Buffer>} */
  const chunks = new Map();
  let changes = 0;
  const send = () => {
    const chunk =
      chunks.get(changes) ??
      Buffer.concat([
        Buffer.from(`${(line.length * changes).toString(16)}\r\n`),
        ...Array.from({ length: changes }, () => line),
        Buffer.from('\r\n'),
      ]);
    chunks.set(changes, chunk);
    changes = 0;
    for (const watcher of watchers) watcher.write(chunk);
  };
  return tls.createServer({ ...pair, ALPNProtocols: ['http/1.1'] }, (socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => watchers.delete(socket));
    // Each request comes in one piece.
    socket.on('data', (piece) => {
      if (piece.toString('latin1', 0, 4) === 'GET ') {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        watchers.add(socket);
        return;
      }
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
      if (changes++ === 0) setImmediate(send);
    });
  });
}

const listener = /** @type {import('node:http').RequestListener | undefined} */ (
  kind === 'create'
    ? await keep()
    : kind === 'change'
      ? await keep(readFileSync(join(folder, 'body')))
      : programs[kind]?.()
);
// Idle connections of both protocols, without an idle timeout.
const server =
  kind === 'fanout'
    ? fanout()
    : kind === 'idle'
      ? http2.createSecureServer({ ...pair, allowHTTP1: true })
      : https.createServer(pair);
if (listener !== undefined) server.on('request', /** @type {(...args: any[]) => void} */ (listener));
if (kind === 'idle') Object.assign(server, { keepAliveTimeout: 600_000 });
server.listen(0, '127.0.0.1', () => console.log(/** @type {import('node:net').AddressInfo} */ (server.address()).port));
