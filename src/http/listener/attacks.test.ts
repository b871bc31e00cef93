import { once } from 'node:events';
import http2 from 'node:http2';
import https from 'node:https';
import tls from 'node:tls';
import { Worker } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { ByteString } from '../../meta/index.ts';
import type { InFlightLimits } from '../limits.ts';
import { type Fixture, makeCertificates, makeFixture, realClock, requestOf, usedOf } from '../testing/fixture.ts';
import { connectFrames, flags, frame, preface, type } from '../testing/http2-frames.ts';
import type { ApiResponse, Chunk, Handler } from '../types.ts';
import { type Listener, listen } from './listener.ts';
import type { ListenerLimits } from './listener-options.ts';

// Attacks that a client may try with a connection, none of which others notice.
const { ca, cert, key } = makeCertificates();
const configMaps = '/api/v1/namespaces/default/configmaps';
const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const review = { spec: { nonResourceAttributes: { path: '/', verb: 'get' } } };
const text = { 'content-type': 'text/plain' };
const admin = { authorization: 'Bearer admin' };
const jane = { authorization: 'Bearer jane' };

const open: { close(): unknown }[] = [];
const failures: unknown[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
afterAll(() => expect(failures).toEqual([]));

async function start(handler: Handler, limits: Partial<ListenerLimits> = {}, maxFiles?: number): Promise<Listener> {
  const log = { error: (_: string, { error }: { readonly [name: string]: unknown }) => void failures.push(error) };
  const options = { handler, address: '127.0.0.1', port: 0, tls: { cert, key }, clock: realClock, log, limits };
  const listener = await listen({ ...options, maxFiles });
  open.push({ close: () => listener.close(100) });
  return listener;
}

/** A whole server behind a listener. */
async function startServer(inFlight: Partial<InFlightLimits> = {}, limits: Partial<ListenerLimits> = {}) {
  const server: Fixture = await makeFixture({ limits: inFlight });
  open.push(server);
  return { server, port: (await start(server.handler, limits)).port };
}

/** A connection of HTTP/1.1 that has sent these bytes. */
async function raw(port: number, sent: string, options: tls.ConnectionOptions = {}): Promise<tls.TLSSocket> {
  const socket = tls.connect({ port, host: '127.0.0.1', ca, ...options });
  socket.on('error', () => {});
  open.push({ close: () => socket.destroy() });
  await once(socket, 'secureConnect');
  socket.write(sent);
  return socket;
}

async function received(socket: tls.TLSSocket): Promise<string> {
  let got = '';
  socket.setEncoding('latin1').on('data', (piece) => {
    got += piece;
  });
  if (!socket.closed) await once(socket, 'close');
  return got;
}

function connect2(port: number, settings: http2.Settings = {}): http2.ClientHttp2Session {
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca, settings });
  session.setMaxListeners(0);
  session.on('error', () => {});
  open.push({ close: () => session.destroy() });
  return session;
}

/** A stream that has sent a head, and its status once there is one. */
function request2(session: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders, body?: string) {
  const stream = session.request(headers, { endStream: body === undefined });
  stream.on('error', () => {});
  if (body !== undefined) stream.write(body);
  const status = once(stream, 'response').then(([got]) => (got as http2.IncomingHttpStatusHeader)[':status']);
  status.catch(() => {});
  return { stream, status };
}

/** The code with which a stream is closed. */
const closed = async (stream: http2.ClientHttp2Stream): Promise<number | undefined> => {
  if (!stream.destroyed) await new Promise((resolve) => stream.once('close', resolve));
  return stream.rstCode;
};

const get2 = (session: http2.ClientHttp2Session, path: string, headers = admin) =>
  request2(session, { ':path': path, ...headers });

const post2 = (session: http2.ClientHttp2Session, path: string, body: string, headers = {}) =>
  request2(session, { ':path': path, ':method': 'POST', 'content-type': 'application/json', ...headers }, body);

const answerOf = (response: Partial<ApiResponse>): Handler =>
  (async () => ({ status: 200, headers: text, body: '' as ByteString, ...response })) as Handler;

describe('an upgrade pipelined behind a request in flight', () => {
  it('closes its connection and no other', async () => {
    const { port } = await startServer();
    const other = connect2(port);
    expect(await get2(other, '/version').status).toBe(200);
    const socket = await raw(
      port,
      'GET /version HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
    );
    await received(socket);
    expect(await get2(other, '/version').status).toBe(200);
  });
});

describe('a connection whose listener throws', () => {
  it('is closed and logged; other connections continue', async () => {
    const { port } = await start(() => {
      throw new Error('broken');
    });
    expect(await received(await raw(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'))).toBe('');
    expect(await received(await raw(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'))).toBe('');
    expect(failures.splice(0).map(String)).toEqual(['Error: broken', 'Error: broken']);
  });
});

describe('HTTP/1.1', () => {
  it('requires Host (RFC 9112, 3.2)', async () => {
    const { port } = await start(answerOf({}));
    expect(await received(await raw(port, 'GET / HTTP/1.1\r\n\r\n'))).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('reuses a connection for large bodies and large responses without losing any', async () => {
    const { port } = await start(async (request) => {
      const body = await request.body(1024 * 1024);
      // The answer is written in a phase of the event loop from which the next request arrives before its end was seen.
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      return { status: 200, headers: text, body };
    });
    const client = `
      const https = require('node:https');
      const { parentPort, workerData: { port, ca } } = require('node:worker_threads');
      const agent = new https.Agent({ keepAlive: true, maxSockets: 8, ca });
      const body = Buffer.alloc(600_000, 'x');
      const one = () => new Promise((resolve) => {
        const request = https.request({ host: '127.0.0.1', port, agent, method: 'PUT' }, (answer) => {
          answer.resume().on('end', () => resolve('answered')).on('error', ({ code }) => resolve(code));
        });
        request.on('error', ({ code }) => resolve(code)).end(body);
      });
      Promise.all(Array.from({ length: 8 }, async () => {
        const results = [];
        for (let i = 0; i < 40; i++) results.push(await one());
        return results;
      })).then((results) => parentPort.postMessage([...new Set(results.flat())]));
    `;
    const worker = new Worker(client, { eval: true, workerData: { port, ca } });
    const [results] = await once(worker, 'message');
    await worker.terminate();
    expect(results).toEqual(['answered']);
  });

  it('sends all responses to pipelined requests once the client reads them', async () => {
    const { port } = await start(answerOf({ body: 'x'.repeat(8_000) as ByteString }));
    const one = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    const socket = await raw(port, one.repeat(50));
    socket.pause();
    for (let i = 0; i < 20; i++) {
      socket.write(one.repeat(50));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    socket.resume();
    expect((await received(socket)).split('HTTP/1.1 200 OK')).toHaveLength(50 * 21 + 2);
  });

  it('makes no more of a response that is not read when other requests arrive behind it', async () => {
    let arrived = 0;
    let made = 0;
    const chunk = 'x'.repeat(128 * 1024) as ByteString;
    const next = () => {
      made++;
      return Promise.resolve({ done: false as const, value: chunk });
    };
    const endless = { [Symbol.asyncIterator]: () => ({ next }) };
    const { port } = await start(async () => {
      arrived++;
      return { status: 200, headers: text, body: endless };
    });
    const one = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    const socket = await raw(port, one);
    socket.pause();
    let before = -1;
    // Until the buffers of the connection are full.
    await expect
      .poll(
        () => {
          const isStill = made > 0 && made === before;
          before = made;
          return isStill;
        },
        { interval: 200 },
      )
      .toBe(true);
    socket.write(one.repeat(90));
    await expect.poll(() => arrived).toBe(91);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(made).toBe(before);
  });

  it.each([8 * 1024, 4 * 1024])(
    'sends all responses of %i bytes to requests that come one by one, unread',
    async (size) => {
      const { port } = await start(answerOf({ body: 'x'.repeat(size) as ByteString }));
      const socket = await raw(port, '');
      socket.pause();
      for (let i = 0; i < 1_000; i++) {
        socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      socket.resume();
      expect((await received(socket)).split('HTTP/1.1 200 OK')).toHaveLength(1_002);
    },
  );
});

describe('TLS', () => {
  it('negotiates AEAD cipher suites only', async () => {
    const { port } = await start(answerOf({}));
    const negotiate = async (ciphers: string) => {
      const socket = tls.connect({ port, host: '127.0.0.1', ca, ciphers, maxVersion: 'TLSv1.2' });
      open.push({ close: () => socket.destroy() });
      return once(socket, 'secureConnect').then(
        () => socket.getCipher().name,
        ({ code }: NodeJS.ErrnoException) => code,
      );
    };
    expect(await negotiate('ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA384')).toMatch(
      /HANDSHAKE_FAILURE/,
    );
    expect(await negotiate('ECDHE-ECDSA-AES128-GCM-SHA256')).toBe('ECDHE-ECDSA-AES128-GCM-SHA256');
    expect(await negotiate('ECDHE-ECDSA-CHACHA20-POLY1305')).toBe('ECDHE-ECDSA-CHACHA20-POLY1305');
  });
});

describe('connections', () => {
  it('of one address are limited to what remains free for others', async () => {
    const { port } = await start(answerOf({}), { connections: 4 });
    const connected = async (localAddress: string) => {
      const socket = tls.connect({ port, host: '127.0.0.1', ca, localAddress } as tls.ConnectionOptions);
      open.push({ close: () => socket.destroy() });
      return once(socket, 'secureConnect').then(
        () => true,
        () => false,
      );
    };
    const from = async (address: string) => [
      await connected(address),
      await connected(address),
      await connected(address),
    ];
    expect(await from('127.0.0.1')).toEqual([true, true, false]);
    expect(await from('127.0.0.2')).toEqual([true, false, false]);
    for (const one of open.splice(1)) await one.close();
    // Connections that either side has closed are free again.
    await expect.poll(() => connected('127.0.0.1')).toBe(true);
    expect([await connected('127.0.0.1'), await connected('127.0.0.1')]).toEqual([true, false]);
  });

  it('take no more than half of the file descriptors of the process', async () => {
    const { port } = await start(answerOf({}), {}, 8);
    const connected = (localAddress: string) => {
      const socket = tls.connect({ port, host: '127.0.0.1', ca, localAddress } as tls.ConnectionOptions);
      open.push({ close: () => socket.destroy() });
      return once(socket, 'secureConnect').then(
        () => true,
        () => false,
      );
    };
    // Four in all, of which one address gets half and the next a quarter.
    expect([await connected('127.0.0.1'), await connected('127.0.0.1'), await connected('127.0.0.1')]).toEqual([
      true,
      true,
      false,
    ]);
    expect([await connected('127.0.0.2'), await connected('127.0.0.2')]).toEqual([true, false]);
  });

  it.each(['h2', 'http/1.1'])(
    'that are idle are closed, also when a request took long before, over %s',
    async (protocol) => {
      const slow: Handler = async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return { status: 200, headers: text, body: '' as ByteString };
      };
      const listener = await start(slow, { keepAliveMs: 100 });
      if (protocol === 'h2') expect(await get2(connect2(listener.port), '/').status).toBe(200);
      else expect(await received(await raw(listener.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'))).toMatch(/ 200 OK/);
      await expect.poll(() => listener.connections).toBe(0);
    },
  );

  it('have at most 250 concurrent streams', async () => {
    const { port } = await start(() => new Promise(() => {}));
    const session = connect2(port);
    await once(session, 'remoteSettings');
    expect(session.remoteSettings.maxConcurrentStreams).toBe(100);
  });
});

describe('bodies that do not arrive', () => {
  it('do not take seats from other mutating requests', async () => {
    const { server, port } = await startServer({ mutating: 2 });
    const session = connect2(port);
    const whole = JSON.stringify(review);
    const length = { 'content-length': String(whole.length) };
    const unfinished = Array.from({ length: 20 }, () => post2(session, reviews, '{', { ...length, ...jane }));
    await expect.poll(() => server.inFlight.limits.receiving.used).toBe(20 * 16 * 1024);
    expect(server.inFlight.limits.mutating.used).toBe(0);
    const body = { metadata: { name: 'x' } };
    expect((await server.send('POST', configMaps, { body })).status).toBe(201);
    // They are served like any other once they are there.
    const { stream, status } = unfinished[0] as (typeof unfinished)[0];
    stream.end(whole.slice(1));
    expect(await status).toBe(201);
    session.destroy();
    await expect.poll(() => usedOf(server.inFlight)).toMatchObject({ receiving: 0, mutating: 0 });
  });

  it('take no more than the share of their user of the memory for bodies', async () => {
    const megabyte = 1024 * 1024;
    const { server, port } = await startServer({ receiving: 8 * megabyte });
    const session = connect2(port);
    const length = { 'content-length': String(megabyte) };
    const of = (headers: typeof admin) => post2(session, reviews, '{', { ...length, ...headers });
    const unfinished = Array.from({ length: 4 }, () => of(jane));
    await expect.poll(() => server.inFlight.limits.receiving.used).toBe(4 * megabyte);
    const refused = of(jane);
    expect(await refused.status).toBe(429);
    const other = of(admin);
    await expect.poll(() => server.inFlight.limits.receiving.used).toBe(5 * megabyte);
    for (const { stream } of [...unfinished, other]) stream.close(http2.constants.NGHTTP2_CANCEL);
    await expect.poll(() => server.inFlight.limits.receiving.used).toBe(0);
  });

  it('of unknown length take of that memory what has arrived of them', async () => {
    const kibibyte = 1024;
    const { server, port } = await startServer({ receiving: 128 * kibibyte });
    const session = connect2(port);
    const small = post2(session, reviews, JSON.stringify(review), jane);
    await expect.poll(() => server.inFlight.limits.receiving.used).toBe(16 * kibibyte);
    small.stream.end();
    expect(await small.status).toBe(201);
    const large = post2(session, reviews, ' '.repeat(40 * kibibyte), jane);
    await expect.poll(() => server.inFlight.limits.receiving.used).toBe(48 * kibibyte);
    large.stream.write(' '.repeat(40 * kibibyte));
    expect(await large.status).toBe(429);
    await expect.poll(() => server.inFlight.limits.receiving.used).toBe(0);
  });

  it('are read before a refusal ends over HTTP/2, for a second at most', async () => {
    let refuse = () => {};
    const refused = new Promise<void>((resolve) => {
      refuse = resolve;
    });
    const { port } = await start(async () => {
      refuse();
      return { status: 429, headers: text, body: 'later' as ByteString };
    });
    const session = connect2(port);
    const { stream, status } = post2(session, '/', 'first', jane);
    let answered = false;
    void status.then(() => {
      answered = true;
    });
    await refused;
    // Frames that were sent before the answer to a ping arrive before it.
    for (let i = 0; i < 3; i++) await new Promise((answer) => session.ping(answer));
    expect(answered).toBe(false);
    stream.end('last');
    expect(await status).toBe(429);
    expect(await post2(session, '/', 'and no more', jane).status).toBe(429);
  });

  it('fail with 408 when they arrive too slowly', async () => {
    const { server, port } = await startServer({}, { paceMs: 100, paceBytes: 1_000 });
    const session = connect2(port);
    const { stream, status } = post2(session, reviews, '{', jane);
    const trickle = setInterval(() => stream.write(' '.repeat(50)), 20);
    expect(await status).toBe(408);
    clearInterval(trickle);
    await expect.poll(() => server.inFlight.limits.receiving.used).toBe(0);
  });
});

describe('clients that do not read their responses', () => {
  const stalled = { initialWindowSize: 0 };

  it('keep their seats until they do, and other users have theirs', async () => {
    const { server, port } = await startServer({ readOnly: 10 });
    const session = connect2(port, stalled);
    const asked = Array.from({ length: 8 }, () => get2(session, '/version', jane));
    const statuses = await Promise.all(asked.map(({ status }) => status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(3);
    expect(server.inFlight.limits.readOnly.used).toBe(5);
    expect((await server.send('GET', '/version')).status).toBe(200);
    session.destroy();
    await expect.poll(() => server.inFlight.limits.readOnly.used).toBe(0);
  });

  it('share the compressed fragments of a document, of which others get one part at a time', async () => {
    const { server } = await startServer();
    const chunks = async (headers: { readonly [name: string]: string }) => {
      const { body } = await server.handler(requestOf('GET', '/openapi/v2', { headers }));
      const taken: unknown[] = [];
      for await (const chunk of body as AsyncIterable<Chunk>) taken.push(chunk);
      return taken as Uint8Array[];
    };
    const gzip = { 'accept-encoding': 'gzip' };
    const [first, second, plain] = [await chunks(gzip), await chunks(gzip), await chunks({})];
    expect(first.length).toBeGreaterThan(20);
    // The last one is the checksum.
    for (const [i, chunk] of first.slice(0, -1).entries()) expect(second[i]).toBe(chunk);
    expect(gunzipSync(Buffer.concat(first)).equals(Buffer.concat(plain))).toBe(true);
    expect(Math.max(...plain.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024);
  });

  it('have no more unread bytes than their share, lists and watches included, and receive all in the end', async () => {
    const kilobyte = 1024;
    const { server, port } = await startServer({ unread: 1024 * kilobyte });
    for (let i = 0; i < 80; i++) {
      const data = { text: 'x'.repeat(10_000) };
      await server.send('POST', configMaps, { body: { metadata: { name: `c${i}` }, data } });
    }
    const session = connect2(port, stalled);
    const watch = `${configMaps}?watch=1`;
    const paths = [...Array(10).fill(configMaps), ...Array(10).fill(watch), ...Array(5).fill('/openapi/v2')];
    const asked = paths.map((path) => get2(session, path));
    await Promise.all(asked.map(({ status }) => status));
    await expect.poll(() => server.inFlight.limits.unread.used).toBeGreaterThan(512 * kilobyte);
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(server.inFlight.limits.unread.used).toBeLessThanOrEqual(1024 * kilobyte);
    }
    session.settings({ initialWindowSize: 1024 * kilobyte });
    const sizes = await Promise.all(
      asked.map(async ({ stream }, i) => {
        let size = 0;
        for await (const piece of stream) {
          size += (piece as Buffer).length;
          // A watch does not end by itself.
          if (paths[i] === watch && size > 800_000) break;
        }
        return size;
      }),
    );
    expect(new Set(sizes.slice(0, 10)).size).toBe(1);
    expect(Math.min(...sizes)).toBeGreaterThan(800_000);
    await expect.poll(() => usedOf(server.inFlight)).toMatchObject({ unread: 0, readOnly: 0, longRunning: 0 });
  });

  it('are aborted one by one; the response of another stream continues', async () => {
    const { server, port } = await startServer({}, { stallMs: 100 });
    await server.send('POST', configMaps, { body: { metadata: { name: 'x' }, data: { text: 'x'.repeat(100_000) } } });
    const session = connect2(port, stalled);
    const { stream } = get2(session, `${configMaps}/x`);
    expect(await closed(stream)).toBe(http2.constants.NGHTTP2_INTERNAL_ERROR);
    expect(usedOf(server.inFlight)).toMatchObject({ unread: 0, readOnly: 0 });
    expect(session.destroyed).toBe(false);
  });
});

it('a connection that makes no progress is closed, whatever the flow-control windows of its streams allow', async () => {
  const endless = answerOf({
    body: {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: false as const, value: 'x'.repeat(256 * 1024) as ByteString }),
      }),
    },
  });
  const listener = await start(endless, { stallMs: 200, keepAliveMs: 600_000 });
  const socket = tls.connect({ port: listener.port, host: '127.0.0.1', ca, ALPNProtocols: ['h2'] });
  const session = http2.connect('https://127.0.0.1', {
    createConnection: () => socket,
    settings: { initialWindowSize: 2 ** 30 },
  });
  open.push({ close: () => session.destroy() });
  session.on('error', () => {});
  await once(session, 'connect');
  session.setLocalWindowSize(2 ** 30);
  for (let i = 0; i < 10; i++) get2(session, '/');
  await expect.poll(() => listener.connections).toBe(1);
  // The engine has no other way to stop reading under a session.
  (socket as unknown as { _handle: { readStop(): void } })._handle.readStop();
  await expect.poll(() => listener.connections).toBe(0);
});

describe('a seat', () => {
  const list = `${configMaps}?limit=500`;
  const counts = {
    readOnly: 0,
    mutating: 0,
    longRunning: 0,
    proxied: 0,
    receiving: 0,
    responses: 0,
    unread: 0,
    selectors: 0,
    compressed: 0,
  };

  /** A server with a long list, whose answers are changed on their way to the listener. */
  async function changed(change: (response: ApiResponse) => ApiResponse) {
    const server = await makeFixture();
    open.push(server);
    for (let i = 0; i < 60; i++) {
      const data = { text: 'x'.repeat(10_000) };
      await server.send('POST', configMaps, { body: { metadata: { name: `c${i}` }, data } });
    }
    const { port } = await start(async (request) => change(await server.handler(request)));
    return { server, port };
  }

  it.each([
    ['HTTP/1.1', { 'x-a': 'line\nline' }, 'ERR_INVALID_CHAR'],
    ['HTTP/2', { connection: 'close' }, 'ERR_HTTP2_INVALID_CONNECTION_HEADERS'],
  ])('is released when a response cannot be sent over %s', async (protocol, bad, code) => {
    const { server, port } = await changed((response) => ({ ...response, headers: bad as { [name: string]: string } }));
    if (protocol === 'HTTP/2') {
      const { stream } = get2(connect2(port), list);
      expect(await closed(stream)).toBe(http2.constants.NGHTTP2_INTERNAL_ERROR);
    } else {
      const headers = admin;
      await expect(
        new Promise((_, reject) => {
          https.get({ host: '127.0.0.1', port, path: list, ca, headers, agent: false }).on('error', reject);
        }),
      ).rejects.toThrow();
    }
    await expect.poll(() => usedOf(server.inFlight)).toEqual(counts);
    expect(failures.splice(0).map((error) => (error as NodeJS.ErrnoException).code)).toEqual([code]);
  });

  it.each([
    ['without an error', http2.constants.NGHTTP2_NO_ERROR],
    ['as cancelled', http2.constants.NGHTTP2_CANCEL],
  ])('is released when the client resets the stream %s', async (_, code) => {
    const { server, port } = await changed((response) => response);
    const session = connect2(port, { initialWindowSize: 0 });
    const asked = [
      get2(session, list),
      get2(session, `${configMaps}?watch=1`),
      get2(session, '/version'),
      // A body that nobody reads.
      request2(session, { ':path': list, ...admin }, 'x'),
      post2(session, configMaps, '{', admin),
    ];
    await Promise.all(asked.slice(0, 4).map(({ status }) => status));
    await expect.poll(() => usedOf(server.inFlight)).toMatchObject({ readOnly: 3, longRunning: 1 });
    for (const { stream } of asked) stream.close(code);
    await expect.poll(() => usedOf(server.inFlight)).toEqual(counts);
    expect(session.destroyed).toBe(false);
  });

  it('is released with a connection whose responses wait for an earlier one', async () => {
    const { server, port } = await changed((response) => response);
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin\r\n\r\n`;
    const socket = await raw(port, get(`${configMaps}?watch=1`) + get(list) + get('/version'));
    await expect.poll(() => usedOf(server.inFlight)).toMatchObject({ readOnly: 2, longRunning: 1 });
    socket.destroy();
    await expect.poll(() => usedOf(server.inFlight)).toEqual(counts);
  });
});

describe('a response that is aborted', () => {
  const broken = () =>
    answerOf({
      body: (async function* () {
        yield 'the beginning' as ByteString;
        await new Promise((resolve) => setTimeout(resolve, 20));
        throw new Error('no more');
      })(),
    });

  it('ends with an error over HTTP/2', async () => {
    const { port } = await start(broken());
    const { stream } = get2(connect2(port), '/');
    stream.resume();
    expect(await closed(stream)).toBe(http2.constants.NGHTTP2_INTERNAL_ERROR);
  });

  it('has no end over HTTP/1.1', async () => {
    const { port } = await start(broken());
    const got = await received(await raw(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
    expect(got).toContain('the beginning');
    expect(got).not.toContain('\r\n0\r\n');
  });
});

it('an HTTP/2 session that ends with an error while streams arrive does not end the process', async () => {
  const { port } = await start(answerOf({ body: 'fine' as ByteString }));
  // The last stream, and an error of the protocol.
  const error = Buffer.from('0000000000000001', 'hex');
  // POST https://a/
  const post = Buffer.from('83878441' + '0161', 'hex');
  const { socket, closed } = await connectFrames(port, ca);
  socket.write(
    Buffer.concat([
      preface,
      frame(type.goAway, 0, 0, error),
      ...[1, 3, 5].flatMap((stream) => [
        frame(type.headers, flags.endHeaders, stream, post),
        frame(type.data, 0, stream, Buffer.alloc(100)),
      ]),
    ]),
  );
  await closed;
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca });
  const stream = session.request({ ':path': '/' });
  let got = '';
  for await (const piece of stream) got += String(piece);
  expect(got).toBe('fine');
  session.close();
});
