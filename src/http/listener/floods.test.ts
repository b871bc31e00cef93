import { once } from 'node:events';
import http2 from 'node:http2';
import https from 'node:https';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ByteString, scheduler } from '../../meta/index.ts';
import { makeCertificates, realClock } from '../testing/fixture.ts';
import { connectFrames, flags, frame, getRequest, preface, type } from '../testing/http2-frames.ts';
import type { ApiRequest } from '../types.ts';
import { Bursts } from './bursts.ts';
import { listen } from './listener.ts';
import type { ListenerLimits } from './listener-options.ts';

// Frames that cost the server more than their client.
const { ca, cert, key } = makeCertificates();

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A listener whose handler records what it is asked, and answers once the body is there. The header `x-user` names the user. */
async function start(limits: Partial<ListenerLimits> = {}) {
  const asked: string[] = [];
  const handler = async (request: ApiRequest) => {
    asked.push(request.url);
    if (request.url === '/wait') await new Promise(() => {});
    if (request.url !== '/unread') await request.body(10_000_000);
    const user = request.headers['x-user'];
    const turns = user === undefined ? undefined : scheduler.turns(user);
    return { status: 200, headers: { 'content-type': 'text/plain' }, body: 'fine' as ByteString, turns };
  };
  const log = { error: () => {} };
  const listener = await listen({
    handler,
    address: '127.0.0.1',
    port: 0,
    tls: { cert, key },
    clock: realClock,
    log,
    limits,
  });
  open.push({ close: () => listener.close(100) });
  return { listener, asked };
}

/** GET https://a/ or POST https://a/ (RFC 7541, Appendix A). */
const head = { get: Buffer.from('828784410161', 'hex'), post: Buffer.from('838784410161', 'hex') };
const cancel = Buffer.from([0, 0, 0, http2.constants.NGHTTP2_CANCEL]);
const resetAtOnce = (i: number) =>
  Buffer.concat([
    frame(type.headers, flags.endStream | flags.endHeaders, 2 * i + 1, head.get),
    frame(type.reset, 0, 2 * i + 1, cancel),
  ]);

/** A connection on which nothing has been sent, and the codes of the GOAWAY frames that it receives. */
async function connect(port: number, protocol = 'h2') {
  const { socket, frames, closed } = await connectFrames(port, ca, protocol);
  open.push({ close: () => socket.destroy() });
  const codes = () => frames.filter((one) => one.type === type.goAway).map(({ payload }) => payload.readUInt32BE(4));
  return { socket, codes, closed };
}

const calm = http2.constants.NGHTTP2_ENHANCE_YOUR_CALM;

/** The status that another client gets. */
async function get(port: number, path = '/other'): Promise<number | undefined> {
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca });
  open.push({ close: () => session.destroy() });
  const [headers] = await once(session.request({ ':path': path }), 'response');
  return (headers as http2.IncomingHttpStatusHeader)[':status'];
}

it('streams that are reset at once end their connection, and hardly any of them reaches the handler', async () => {
  const { listener, asked } = await start();
  const { socket, codes, closed } = await connect(listener.port);
  socket.write(Buffer.concat([preface, ...Array.from({ length: 1_000 }, (_, i) => resetAtOnce(i))]));
  await closed;
  expect(codes()).toContain(calm);
  expect(asked.length).toBeLessThan(200);
  expect(listener.counts()).toMatchObject({ flooded: 1 });
  expect(await get(listener.port)).toBe(200);
});

it('streams that are reset at once count as requests of the turn, after which their user rests', async () => {
  const arrived = vi.spyOn(Bursts.prototype, 'arrived');
  try {
    const { listener } = await start();
    const { socket, codes } = await connect(listener.port);
    socket.write(Buffer.concat([preface, ...Array.from({ length: 150 }, (_, i) => resetAtOnce(i))]));
    await expect.poll(() => arrived.mock.calls.length).toBe(150);
    expect(codes()).toEqual([]);
  } finally {
    arrived.mockRestore();
  }
});

it('a client that cancels all its streams, and those that it opens next, goes on', async () => {
  const { listener, asked } = await start();
  const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca });
  open.push({ close: () => session.destroy() });
  await once(session, 'remoteSettings');
  for (const count of [100, 90]) {
    const before = asked.length;
    const streams = Array.from({ length: count }, () => session.request({ ':path': '/wait' }));
    for (const stream of streams) stream.on('error', () => {});
    await expect.poll(() => asked.length).toBe(before + count);
    for (const stream of streams) stream.close(http2.constants.NGHTTP2_CANCEL);
    // Some versions of Node's client open no streams in place of those that are being cancelled.
    await new Promise<void>((resolve) => session.ping(() => resolve()));
  }
  const [headers] = await once(session.request({ ':path': '/' }), 'response');
  expect((headers as http2.IncomingHttpStatusHeader)[':status']).toBe(200);
  expect(listener.counts()).toMatchObject({ flooded: 0 });
});

it.each(['/read', '/unread'])('a client that sends many bodies goes on: %s', async (path) => {
  const { listener } = await start();
  const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca });
  open.push({ close: () => session.destroy() });
  const body = Buffer.alloc(60_000);
  const send = async () => {
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-length': body.length });
    const responds = once(stream, 'response');
    stream.resume().end(body);
    await responds;
    if (!stream.closed) await once(stream, 'close');
  };
  for (let round = 0; round < 10; round++) {
    await Promise.all(Array.from({ length: 50 }, send));
    await sleep(50);
  }
  expect(listener.counts()).toMatchObject({ flooded: 0 });
});

describe('a flood that the engine lets pass ends its connection:', () => {
  const post = frame(type.headers, flags.endHeaders, 1, head.post);
  const request = frame(type.headers, flags.endHeaders | flags.endStream, 1, head.get);
  interface Flood {
    readonly name: string;
    /** The first bytes of the connection. */
    readonly first?: Buffer;
    readonly repeated: Buffer;
    /** How often it is repeated before the next pause. */
    readonly times: number;
    /** Whether some versions of the engine end the connection themselves, so that it is not counted. */
    readonly endedByEngine?: boolean;
  }
  const floods: readonly Flood[] = [
    { name: 'pings', repeated: frame(type.ping, 0, 0, Buffer.alloc(8)), times: 200 },
    { name: 'settings', repeated: frame(type.settings, 0, 0), times: 200 },
    ...[
      { name: 'priorities', repeated: frame(type.priority, 0, 3, Buffer.from([0, 0, 0, 0, 255])) },
      { name: 'window updates', repeated: frame(type.windowUpdate, 0, 0, Buffer.from([0, 0, 0, 1])) },
      { name: 'unknown frames', repeated: frame(0x77, 0, 0) },
      { name: 'unknown frames during a request', first: request, repeated: frame(0x77, 0, 0) },
    ].map((flood) => ({ ...flood, times: 2_000, endedByEngine: true })),
    { name: 'bytes of a body one by one', first: post, repeated: frame(type.data, 0, 1, Buffer.from(' ')), times: 200 },
  ];
  it.each(floods)('$name', async ({ first = Buffer.of(), repeated, times, endedByEngine = false }) => {
    const { listener } = await start();
    const { socket, codes, closed } = await connect(listener.port);
    socket.write(Buffer.concat([preface, first]));
    const some = Buffer.concat(Array.from({ length: times }, () => repeated));
    // Acknowledgements that are not sent at once are limited by the engine.
    while (!socket.destroyed) {
      socket.write(some);
      await sleep(2);
    }
    await closed;
    expect(codes()).toEqual([calm]);
    if (!endedByEngine) expect(listener.counts()).toMatchObject({ flooded: 1 });
    expect(await get(listener.port)).toBe(200);
  });

  it('chunks of one byte over HTTP/1.1', async () => {
    const { listener } = await start();
    const { socket, closed } = await connect(listener.port, 'http/1.1');
    const chunks = '1\r\n \r\n'.repeat(6_000);
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`);
    await closed;
    expect(listener.counts()).toMatchObject({ flooded: 1 });
  });
});

describe('an HTTP/2 client that falls silent', () => {
  it.each(['/wait', '/other'])('leaves no connection after it has sent garbage and disconnected: %s', async (path) => {
    const { listener, asked } = await start({ keepAliveMs: 200 });
    const { socket } = await connect(listener.port);
    socket.write(Buffer.concat([preface, getRequest(1, path)]));
    await expect.poll(() => asked).toEqual([path]);
    socket.write(Buffer.alloc(100, 0xab));
    await sleep(20);
    socket.destroy();
    await expect.poll(() => listener.counts().open).toBe(0);
  });

  it('loses its connection once it has closed its side', async () => {
    const { listener, asked } = await start();
    const { socket } = await connect(listener.port);
    socket.write(Buffer.concat([preface, getRequest(1, '/wait')]));
    await expect.poll(() => asked).toEqual(['/wait']);
    socket.end();
    await expect.poll(() => listener.counts().open).toBe(0);
  });

  it('stays connected as long as it answers pings', async () => {
    const { listener, asked } = await start({ keepAliveMs: 100 });
    const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca });
    open.push({ close: () => session.destroy() });
    const pings: Buffer[] = [];
    session.on('ping', (payload) => pings.push(payload));
    session.request({ ':path': '/wait' }).on('error', () => {});
    await expect.poll(() => pings.length).toBeGreaterThan(2);
    expect(session.closed).toBe(false);
    expect(asked).toEqual(['/wait']);
  });
});

it('thousands of pipelined requests are answered in their order, some at a time', async () => {
  const { listener, asked } = await start();
  const { socket, closed } = await connect(listener.port, 'http/1.1');
  const paths = Array.from({ length: 5_000 }, (_, i) => `/${i}`);
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  socket.write(`${requests.join('')}GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await closed;
  expect(asked).toEqual([...paths, '/last']);
});

it.each(['h2', 'http/1.1'])('a burst of one user delays no request of another, over %s', async (protocol) => {
  const { listener, asked } = await start();
  const { port } = listener;
  const busy = protocol === 'h2' ? 1 : 100;
  const clients = await Promise.all(
    Array.from({ length: busy + 1 }, (_, i) => client(port, protocol, i < busy ? 'mallory' : 'ann')),
  );
  const other = clients.pop() as Client;
  asked.length = 0;
  const responses: Promise<unknown>[] = [];
  for (let i = 0; i < 200; i++) responses.push((clients[i % busy] as Client)('/burst'));
  while (asked.length === 0) await turn();
  await other('/other');
  expect(asked.indexOf('/other')).toBeLessThan(50);
  await Promise.all(responses);
  expect(asked).toHaveLength(201);
});

/** Sends a request and resolves with its response. */
type Client = (path: string) => Promise<unknown>;

/** A client with a connection of its own, which has sent a request and got the response. */
async function client(port: number, protocol: string, user: string): Promise<Client> {
  const headers = { 'x-user': user };
  let send: Client;
  if (protocol === 'h2') {
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca });
    open.push({ close: () => session.destroy() });
    send = (path) => once(session.request({ ':path': path, ...headers }).resume(), 'close');
  } else {
    const agent = new https.Agent({ ca, keepAlive: true, maxSockets: 1 });
    open.push({ close: () => agent.destroy() });
    send = async (path) => {
      const [response] = await once(https.get({ host: '127.0.0.1', port, path, headers, agent }), 'response');
      await once(response.resume(), 'close');
    };
  }
  await send('/first');
  return send;
}
