// The baseline programs: minimal Node servers that send, store or fan out the same bytes.
//   node bare.mjs KIND CERT KEY FOLDER      KIND: get, idle, list, fanout, create, change, webhook
// Prints its port. `webhook` admits what it is asked about. All others but `create` respond with FOLDER/body; `create` and `change` store what they respond with.
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import { join } from 'node:path';

const [kind = '', cert = '', key = '', folder = ''] = process.argv.slice(2);
const chunk = 256 * 1024;

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
  fanout: () => {
    /** @type {Set<import('node:http').ServerResponse>} */
    const watchers = new Set();
    const frame = readFileSync(join(folder, 'body'));
    return (request, response) => {
      if (request.method === 'GET') {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.flushHeaders();
        watchers.add(response);
        response.on('close', () => watchers.delete(response));
        return;
      }
      request.resume().on('end', () => {
        for (const watcher of watchers) watcher.write(frame);
        response.writeHead(200, { 'Content-Length': 2 }).end('{}');
      });
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

/** One durable put per request, which responds with the stored bytes: `fixed`, or the request body. @param {Buffer} [fixed] */
async function keep(fixed) {
  const { open } = await import('lmdb');
  const store = open({ path: join(folder, 'bare-lmdb'), encoding: 'binary', overlappingSync: false });
  let made = 0;
  return (
    /** @type {import('node:http').IncomingMessage} */ request,
    /** @type {import('node:http').ServerResponse} */ response,
  ) => {
    /** @type {Buffer[]} */
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      const body = fixed ?? Buffer.concat(pieces);
      void store.put(`/bare/${made++}`, body).then(() => {
        response.writeHead(fixed === undefined ? 201 : 200, {
          'Content-Type': 'application/json',
          'Content-Length': body.length,
        });
        response.end(body);
      });
    });
  };
}

const listener = /** @type {import('node:http').RequestListener} */ (
  kind === 'create'
    ? await keep()
    : kind === 'change'
      ? await keep(readFileSync(join(folder, 'body')))
      : programs[kind]?.()
);
const pair = { cert: readFileSync(cert), key: readFileSync(key) };
// Idle connections of both protocols, without an idle timeout.
const server = kind === 'idle' ? http2.createSecureServer({ ...pair, allowHTTP1: true }) : https.createServer(pair);
server.on('request', /** @type {(...args: any[]) => void} */ (listener));
if (kind === 'idle') Object.assign(server, { keepAliveTimeout: 600_000 });
server.listen(0, '127.0.0.1', () => console.log(/** @type {import('node:net').AddressInfo} */ (server.address()).port));
