import { once } from 'node:events';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ByteString, type Clock, inTurns, scheduler } from '../../meta/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { type Fixture, makeCertificates, makeFixture, realClock } from '../testing/fixture.ts';
import { connectFrames, getRequest, preface, type } from '../testing/http2-frames.ts';
import type { ApiRequest, ApiResponse, Handler } from '../types.ts';
import { type Listener, listen } from './listener.ts';
import type { ListenerLimits } from './listener-options.ts';

const certificates = makeCertificates();
const { ca, cert, key } = certificates;
const configMaps = '/api/v1/namespaces/default/configmaps';
const text = { 'content-type': 'text/plain' };
const open: Listener[] = [];
const failures: string[] = [];
const log = { error: (text: string) => void failures.push(text) };
const refusedStream = http2.constants.NGHTTP2_REFUSED_STREAM;

async function serve(
  handler: Handler,
  limits: Partial<ListenerLimits> = {},
  clock: Clock = realClock,
): Promise<Listener> {
  const tlsOptions = { cert, key, clientCa: ca };
  const listener = await listen({
    handler,
    address: '127.0.0.1',
    port: 0,
    tls: tlsOptions,
    clock,
    log,
    limits,
  });
  open.push(listener);
  return listener;
}

afterAll(async () => {
  await Promise.all(open.map((listener) => listener.close(100)));
});

interface Got {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body: string;
}

/** One request over HTTP/1.1. */
function get(
  port: number,
  path: string,
  options: https.RequestOptions & { body?: string | Buffer } = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const { body, ...rest } = options;
    const request = https.request({ host: '127.0.0.1', port, path, ca, ...rest }, (response) => {
      let received = '';
      response.setEncoding('utf8');
      response.on('data', (piece) => {
        received += piece;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received }),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** One request over a connection of HTTP/2. */
async function get2(session: http2.ClientHttp2Session, path: string, headers = {}, body?: string): Promise<Got> {
  const stream = session.request({ ':path': path, ...headers }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const [answered] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & { ':status': number }];
  let received = '';
  stream.setEncoding('utf8');
  for await (const piece of stream) received += piece;
  return { status: answered[':status'], headers: answered, body: received };
}

/** Sends bytes as they are; resolves to what came until the server closed. */
function raw(port: number, ...pieces: string[]): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = tls.connect({ port, host: '127.0.0.1', ca, ALPNProtocols: ['http/1.1'] }, () => {
      for (const piece of pieces) socket.write(piece);
    });
    socket.setEncoding('latin1');
    socket.on('data', (piece) => {
      received += piece;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
  });
}

const echo: Handler = async (request: ApiRequest): Promise<ApiResponse> => {
  const { certificate } = request.peer;
  const body = await request.body(1_000).then(
    (bytes) => Buffer.from(bytes).toString(),
    (error: { code: number; message: string }) => `${error.code} ${error.message}`,
  );
  const who = certificate === undefined ? 'nobody' : `${certificate.commonName} of ${certificate.organizations.join()}`;
  return { status: 200, headers: text, body: `${request.method} ${request.url} by ${who}: ${body}` as ByteString };
};

it('reads the next request of a connection of HTTP/1.1 in a turn of its user, and begins it in another', async () => {
  const turns = scheduler.turns('jane');
  const nextBehind = vi.spyOn(scheduler, 'nextBehind');
  const turnsOfJane: number[] = [];
  const { port } = await serve(async () => {
    // Jane is not alone.
    scheduler.turns('ann');
    turnsOfJane.push(nextBehind.mock.calls.filter(([user]) => user === 'jane').length);
    return { status: 200, headers: text, body: 'ok' as ByteString, turns };
  });
  let isBusy = true;
  const work = function* () {
    while (isBusy) yield;
  };
  const working = inTurns(work(), turns);
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  for (const path of ['/first', '/second']) expect((await get(port, path, { agent })).status).toBe(200);
  isBusy = false;
  await working;
  agent.destroy();
  expect(turnsOfJane).toEqual([0, 2]);
});

it('sends every chunk of a streamed body, of text and of bytes, whether or not the first one is ready', async () => {
  const chunks = ['\u00c3\u00bc', '', Buffer.from('bytes'), 'x'.repeat(100_000), Buffer.from('end')];
  const bodyOf = async function* (waits: boolean) {
    if (waits) await new Promise((resolve) => setImmediate(resolve));
    for (const chunk of chunks) yield chunk as ByteString;
  };
  const { port } = await serve(async ({ url }) => ({ status: 200, headers: text, body: bodyOf(url === '/late') }));
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca });
  for (const path of ['/ready', '/late']) {
    const one = await get(port, path);
    expect(one).toMatchObject({ status: 200, headers: { 'transfer-encoding': 'chunked' } });
    expect(one.body).toBe(`übytes${'x'.repeat(100_000)}end`);
    expect((await get2(session, path)).body).toBe(one.body);
  }
  session.close();
});

it('sends a Connection header only with the last response of a connection', async () => {
  const { port } = await serve(echo);
  const ask = (version: string, connection: string) =>
    raw(
      port,
      `GET / HTTP/${version}\r\nHost: x\r\n${connection}\r\n`,
      `GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
  const lines = (got: string) => got.match(/^(?:connection|keep-alive):.*$/gim);
  expect(lines(await ask('1.1', ''))).toEqual(['Connection: close']);
  expect(lines(await ask('1.1', 'Connection: keep-alive\r\n'))).toEqual(['Connection: close']);
  expect(lines(await ask('1.1', 'Connection: close\r\n'))).toEqual(['Connection: close']);
  // A client of HTTP/1.0 would take it that the connection ends.
  expect(lines(await ask('1.0', 'Connection: keep-alive\r\n'))?.[0]).toBe('Connection: keep-alive');
});

it('serves HTTP/1.1 only when HTTP/2 is disabled', async () => {
  const handler: Handler = async () => ({ status: 200, headers: text, body: Buffer.from('served') });
  const listener = await listen({
    handler,
    address: '127.0.0.1',
    port: 0,
    tls: { cert, key },
    http2: false,
    clock: realClock,
    log,
  });
  open.push(listener);
  const { port } = listener;
  const agreed = async (...ALPNProtocols: string[]) => {
    const socket = tls.connect({ host: '127.0.0.1', port, ca, ALPNProtocols });
    await once(socket, 'secureConnect');
    socket.destroy();
    return socket.alpnProtocol;
  };
  expect(await agreed('h2', 'http/1.1')).toBe('http/1.1');
  await expect(agreed('h2')).rejects.toThrow(/no application protocol/);
  expect((await get(port, '/')).body).toBe('served');
});

describe('over HTTP/1.1 and HTTP/2', () => {
  let server: Fixture;
  let port: number;
  beforeAll(async () => {
    server = await makeFixture();
    ({ port } = await serve(server.handler));
    await server.send('POST', configMaps, { body: { metadata: { name: 'x' }, data: { a: 'ü'.repeat(50) } } });
    for (let i = 0; i < 300; i++) {
      await server.send('POST', '/api/v1/namespaces/default/secrets', {
        body: { metadata: { name: `s${i}` }, stringData: { text: 'y'.repeat(3_000) } },
      });
    }
  });
  afterAll(() => server.close());
  const headers = { authorization: 'Bearer admin' };

  it('an object has the same bytes', async () => {
    const expected = (await server.send('GET', `${configMaps}/x`)).text;
    const one = await get(port, `${configMaps}/x`, { headers });
    expect([one.status, one.body]).toEqual([200, expected]);
    expect(one.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(expected)),
    });
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca });
    const two = await get2(session, `${configMaps}/x`, headers);
    expect([two.status, two.body]).toEqual([200, expected]);
    session.close();
  });

  it('a long list is complete', async () => {
    const path = '/api/v1/namespaces/default/secrets';
    const expected = (await server.send('GET', path)).text;
    expect(expected.length).toBeGreaterThan(512 * 1024);
    const one = await get(port, path, { headers });
    expect([one.body === expected, one.headers['transfer-encoding']]).toEqual([true, 'chunked']);
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca });
    expect((await get2(session, path, headers)).body === expected).toBe(true);
    session.close();
  });

  it('a hundred streams share one connection, lists and watches among them, and pings are answered', async () => {
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca });
    session.setMaxListeners(0);
    await once(session, 'connect');
    const watches = Array.from({ length: 50 }, () => session.request({ ':path': `${configMaps}?watch=1`, ...headers }));
    const firstEvents = Promise.all(watches.map((stream) => once(stream, 'data')));
    const lists = Array.from({ length: 20 }, () => get2(session, '/api/v1/namespaces/default/secrets', headers));
    const objects = Array.from({ length: 30 }, () => get2(session, `${configMaps}/x`, headers));
    const ping = new Promise((resolve) => {
      session.ping((error, _, payload) => resolve(error ?? payload.length));
    });
    expect(await ping).toBe(8);
    expect((await Promise.all(objects)).filter(({ status }) => status === 200)).toHaveLength(30);
    const lengths = (await Promise.all(lists)).map(({ body }) => body.length);
    expect(new Set(lengths).size).toBe(1);
    await firstEvents;
    expect(server.inFlight.limits.longRunning.used).toBe(50);
    session.destroy();
    await expect.poll(() => server.inFlight.limits.longRunning.used).toBe(0);
  });

  it('a body is read', async () => {
    const body = JSON.stringify({ metadata: { generateName: 'made-' } });
    const one = await get(port, configMaps, { method: 'POST', headers, body });
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca });
    const two = await get2(session, configMaps, { ':method': 'POST', ...headers }, body);
    expect([one.status, two.status]).toEqual([201, 201]);
    session.close();
  });

  it('HTTP/2 answers Expect: 100-continue with 100, any other expectation with 417 (RFC 9110, 10.1.1), CONNECT with 405', async () => {
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca });
    const body = JSON.stringify({ metadata: { generateName: 'made-' } });
    const post = { ':path': configMaps, ':method': 'POST', ...headers };
    const stream = session.request({ ...post, expect: '100-continue' });
    await once(stream, 'continue');
    const answered = once(stream, 'response');
    stream.end(body);
    const [created] = await answered;
    expect(created[':status']).toBe(201);
    expect((await get2(session, configMaps, { ...headers, expect: 'more' })).status).toBe(417);
    const [connected] = await once(session.request({ ':method': 'CONNECT', ':authority': 'x' }), 'response');
    expect(connected[':status']).toBe(405);
    session.destroy();
  });

  it('a body over 3 MiB gets a 413 that arrives, and the connection stays usable', async () => {
    const body = Buffer.alloc(3.2 * 1024 * 1024, 0x20);
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca });
    const one = await get(port, configMaps, { method: 'POST', headers, body, agent });
    expect([one.status, JSON.parse(one.body)]).toEqual([413, expect.objectContaining({ code: 413 })]);
    expect((await get(port, '/version', { headers, agent })).status).toBe(200);
    agent.destroy();
  });

  it('responses to pipelined requests keep their order (RFC 9112, 9.3.2)', async () => {
    const request = (path: string, last = false) =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n${last ? 'Connection: close\r\n' : ''}\r\n`;
    const received = await raw(port, request(`${configMaps}/x`) + request('/healthz') + request('/version', true));
    const found = ['"name":"x"', '\r\n\r\nok', '"gitVersion"'].map((mark) => received.indexOf(mark));
    expect(found).toEqual([...found].sort((a, b) => a - b));
    expect(Math.min(...found)).toBeGreaterThan(0);
  });
});

describe('client certificates', () => {
  const { clientCert, clientKey } = certificates;

  it('are passed on as they were presented, over both protocols', async () => {
    const { port } = await serve(echo);
    const shown = await get(port, '/a', { cert: clientCert, key: clientKey });
    expect(shown.body).toBe('GET /a by jane of team-a,team-b: ');
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca, cert: clientCert, key: clientKey });
    expect((await get2(session, '/b')).body).toBe('GET /b by jane of team-a,team-b: ');
    session.close();
    const other = makeCertificates();
    // Who signed them is for the authenticators to say: the handshake succeeds.
    const strange = await get(port, '/a', { cert: other.clientCert, key: other.clientKey });
    expect(strange.body).toBe('GET /a by jane of team-a,team-b: ');
    expect((await get(port, '/a')).body).toBe('GET /a by nobody: ');
  });

  it('come with the intermediate certificates of their client, on each connection', async () => {
    const chains: (readonly (string | undefined)[])[] = [];
    const { port } = await serve(async (request) => {
      const { own, issuers } = request.peer.certificate ?? {};
      chains.push([own, ...((await issuers?.()) ?? [])].map((certificate) => certificate?.subject));
      return echo(request);
    });
    let session: Buffer | undefined;
    for (let i = 0; i < 2; i++) {
      const cert = clientCert + ca;
      const socket = tls.connect({ port, host: '127.0.0.1', ca, cert, key: clientKey, ...(session && { session }) });
      socket.on('session', (fresh: Buffer) => {
        session = fresh;
      });
      await once(socket, 'secureConnect');
      socket.write('GET /a HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(socket, 'data');
      expect(socket.isSessionReused()).toBe(false);
      socket.destroy();
    }
    expect(new Set(chains[0]).size).toBe(2);
    expect(chains[1]).toEqual(chains[0]);
  });
});

describe('misbehaving clients', () => {
  it('get a 400 for malformed HTTP', async () => {
    const { port } = await serve(echo);
    expect(await raw(port, 'NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    expect(
      await raw(port, 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n'),
    ).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('get a 431 for headers that are too large or too many', async () => {
    const { port } = await serve(echo, { headers: 20 });
    expect(await raw(port, `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
    const many = Array.from({ length: 30 }, (_, i) => `h${i}: 1\r\n`).join('');
    expect(await raw(port, `GET / HTTP/1.1\r\nHost: x\r\n${many}\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('time out with a body that is too slow, incomplete or too long', async () => {
    const { port } = await serve(echo, { bodyMs: 100 });
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
    expect(await raw(port, `${head}Content-Length: 10\r\n\r\nabc`)).toContain(
      ': 408 the body of the request came too slowly',
    );
    expect(await raw(port, `${head}Content-Length: 2000\r\n\r\n`)).toContain(
      ': 413 Request entity too large: limit is 1000',
    );
    const outcome = new Promise((resolve) => {
      void serve(async (request) => {
        resolve(await request.body(1_000).catch((error: { code: number }) => error.code));
        return { status: 200, headers: text, body: '' as ByteString };
      }).then((listener) => {
        const socket = tls.connect({ port: listener.port, host: '127.0.0.1', ca }, () => {
          socket.write(`${head}Content-Length: 10\r\n\r\nabc`, () => socket.destroy());
        });
      });
    });
    expect(await outcome).toBe(400);
  });

  it('may send a streamed body slowly, but not one that nobody reads', async () => {
    const limits = { headersMs: 50, bodyMs: 50 };
    const { port } = await serve(async (request) => {
      let size = 0;
      for await (const piece of request.stream() ?? []) size += piece.length;
      return { status: 200, headers: text, body: String(size) as ByteString };
    }, limits);
    const answer = await new Promise<string>((resolve, reject) => {
      const request = https.request({ host: '127.0.0.1', port, ca, method: 'POST' }, (response) => {
        response.setEncoding('utf8').once('data', resolve);
      });
      request.on('error', reject);
      let left = 40;
      const timer = setInterval(() => {
        left -= 1;
        if (left > 0) request.write('x');
        else {
          clearInterval(timer);
          request.end('x');
        }
      }, 10);
    });
    expect(answer).toBe('40');
    const unread = await serve(async () => ({ status: 200, headers: text, body: 'done' as ByteString }), limits);
    expect(await raw(unread.port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc')).toMatch(/done$/);
  });

  it('time out with headers that arrive too slowly', async () => {
    const { port } = await serve(echo, { headersMs: 100, bodyMs: 100 });
    expect(await raw(port, 'GET / HTTP/1.1\r\nHost: x\r\n')).toMatch(/^HTTP\/1\.1 408 |^$/);
  });

  it.each(['HTTP/1.1', 'HTTP/2'])(
    'are cut off when they take nothing of an endless answer over %s',
    async (protocol) => {
      let left = 0;
      const endless: Handler = async () => ({
        status: 200,
        headers: text,
        body: (async function* () {
          try {
            for (;;) yield 'x'.repeat(256 * 1024) as ByteString;
          } finally {
            left += 1;
          }
        })(),
      });
      const listener = await serve(endless, { stallMs: 200, keepAliveMs: 400 });
      if (protocol === 'HTTP/1.1') {
        const socket = tls.connect({ port: listener.port, host: '127.0.0.1', ca }, () => {
          socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
          socket.pause();
        });
        socket.on('error', () => {});
      } else {
        const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca });
        session.on('error', () => {});
        const stream = session.request({ ':path': '/' });
        stream.on('error', () => {});
        stream.pause();
      }
      await expect.poll(() => left).toBe(1);
      await expect.poll(() => listener.connections).toBe(0);
    },
  );

  it('are refused beyond the limit of connections', async () => {
    const { port } = await serve(echo, { connections: 1 });
    const first = tls.connect({ port, host: '127.0.0.1', ca });
    await once(first, 'secureConnect');
    await expect(get(port, '/')).rejects.toThrow();
    first.destroy();
  });

  it('do not end the server with a broken TLS handshake or plain HTTP', async () => {
    const { port } = await serve(echo);
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await once(socket, 'close');
    expect((await get(port, '/')).status).toBe(200);
  });

  it('lose their connection when the handler rejects', async () => {
    const { port } = await serve(() => Promise.reject(new Error('broken')));
    await expect(get(port, '/')).rejects.toThrow();
  });
});

describe('close', () => {
  it('finishes requests in flight, resolves after the watches, and accepts no more', async () => {
    const server = await makeFixture();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: Handler = async (request) => {
      if (request.url === '/slow') await held;
      return server.handler(request);
    };
    const listener = await serve(slow);
    const { port } = listener;
    const headers = { authorization: 'Bearer admin' };
    const agent = new https.Agent({ keepAlive: true, ca });
    await get(port, '/version', { headers, agent });
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca });
    const goaway = once(session, 'goaway');
    const watched = get2(session, `/api/v1/namespaces?watch=1`, headers);
    const alsoWatched = get(port, `/api/v1/namespaces?watch=1`, { headers });
    const waiting = get(port, '/slow', { headers, agent });
    await expect.poll(() => server.inFlight.limits.longRunning.used).toBe(2);
    await expect.poll(() => listener.connections).toBe(3);

    const closed = listener.close(10_000);
    // Streams that are under way are served: the client must not take them for refused and send them again.
    expect(await goaway).toMatchObject([http2.constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1, undefined]);
    await expect(get(port, '/version', { headers })).rejects.toThrow();
    release();
    expect(await waiting).toMatchObject({ status: 404, headers: { connection: 'close' } });
    server.registry.close();
    // The list of events is whole: the answers ended, they were not cut off.
    for (const { status, body } of await Promise.all([watched, alsoWatched])) {
      expect([status, body.endsWith('}\n')]).toEqual([200, true]);
    }
    await closed;
    expect(listener.connections).toBe(0);
    agent.destroy();
    await server.close();
  });

  it.each(['http/1.1', 'h2'])('ends connections over %s whose TLS handshake was under way', async (protocol) => {
    const served: string[] = [];
    const listener = await serve((request) => {
      served.push(request.url);
      return echo(request);
    });
    const { port } = listener;
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    // It has been accepted, as connections are accepted in their order.
    await get(port, '/first');
    const closed = listener.close(10_000);
    await expect.poll(() => listener.busy).toBe(0);
    const secured = tls.connect({ socket, host: '127.0.0.1', ca, ALPNProtocols: [protocol] });
    secured.on('error', () => {});
    if (protocol === 'h2') {
      const session = http2.connect(`https://127.0.0.1:${port}`, { createConnection: () => secured });
      session.on('error', () => {});
      const stream = session.request({ ':path': '/late' });
      stream.on('error', () => {}).resume();
      await new Promise((resolve) => stream.on('close', resolve));
    } else {
      secured.end('GET /late HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(secured, 'close');
    }
    await closed;
    expect([served, listener.connections]).toEqual([['/first'], 0]);
  });

  it('refuses streams that a client opens after it has had the time to answer the GOAWAY', async () => {
    const clock = drivenClock();
    const served: string[] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const body = async function* () {
      yield 'first ' as ByteString;
      await held;
      yield 'last' as ByteString;
    };
    const listener = await serve(
      async ({ url }) => {
        served.push(url);
        return { status: 200, headers: text, body: body() };
      },
      {},
      clock,
    );
    const { socket, frames } = await connectFrames(listener.port, ca);
    const ofType = (kind: number) => frames.filter(({ type }) => type === kind);
    socket.write(Buffer.concat([preface, getRequest(1, '/watch')]));
    await expect.poll(() => ofType(type.data).length).toBe(1);
    const closed = listener.close(10_000);
    expect(listener.busy).toBe(1);
    clock.advance(1_000);
    expect(listener.busy).toBe(0);
    socket.write(getRequest(3, '/late'));
    // Clients send a refused stream again, whatever its method (RFC 9113, 8.7).
    await expect
      .poll(() => ofType(type.reset))
      .toMatchObject([{ stream: 3, payload: Buffer.of(0, 0, 0, refusedStream) }]);
    release();
    await closed;
    const received = Buffer.concat(ofType(type.data).map(({ payload }) => payload)).toString();
    expect([served, received]).toEqual([['/watch'], 'first last']);
  });

  it('aborts what is left after the grace period', async () => {
    let gone = false;
    const listener = await serve(async (request) => {
      request.signal.addEventListener('abort', () => {
        gone = true;
      });
      await new Promise(() => {});
      throw new Error('never');
    });
    const request = get(listener.port, '/');
    await expect.poll(() => listener.connections).toBe(1);
    await Promise.all([listener.close(50), expect(request).rejects.toThrow()]);
    expect([gone, listener.connections]).toEqual([true, 0]);
  });
});
