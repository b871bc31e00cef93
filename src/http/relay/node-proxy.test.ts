import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { externalAddress } from '../../../test/support/requirements.ts';
import type { Endpoint } from '../../registry/index.ts';
import { isIdentity, makeCertificates, realClock, requestOf } from '../testing/fixture.ts';
import type { ApiRequest, ApiResponse, Chunk } from '../types.ts';
import { createNodeProxy, type NodeProxy } from './node-proxy.ts';

// A proxy leads to no loopback address: what is proxied to must stand elsewhere on this machine.
const address = externalAddress();

let answer: (request: IncomingMessage, response: ServerResponse) => void;
let server: Server;
let port: string;
let relay: NodeProxy;
beforeAll(async () => {
  server = createServer((request, response) => answer(request, response));
  server.on('upgrade', (request, socket) => {
    const status = request.url?.slice(1) ?? '';
    socket.end(`HTTP/1.1 ${status} Refused\r\nX-Why: it\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno`);
  });
  await new Promise<void>((done) => server.listen(0, done));
  port = String((server.address() as AddressInfo).port);
  relay = createNodeProxy({ clock: realClock, trust: {}, connectMs: 5_000, isIdentity });
});
afterAll(() => {
  relay.close();
  server.closeAllConnections();
  return new Promise((done) => server.close(done));
});

const agent = (path: string): Endpoint => ({ scheme: 'http', host: '127.0.0.1', port, path, peer: 'kubelet' });
const there = (): Endpoint => ({ scheme: 'http', host: address ?? '', port, path: '', peer: 'anyone' });
const prefix = '/api/v1/namespaces/a/pods/x/proxy';
const proxy = (request: ApiRequest, path: string) => relay.proxy(request, there(), { prefix, there: path });
const get = requestOf('GET', '/');

async function textOf(body: ApiResponse['body']): Promise<string> {
  let text = '';
  for await (const piece of body as AsyncIterable<Chunk>) text += String(piece);
  return text;
}

describe('the log of a kubelet', () => {
  it('is requested without the headers of the client, and forwarded', async () => {
    answer = (request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(`${request.method} ${request.url} ${request.headers.authorization}`);
    };
    const { status, headers, body } = await relay.text(get, agent('/log?a=b'), 'web');
    expect([status, headers, await textOf(body)]).toEqual([
      200,
      { 'content-type': 'text/plain' },
      'GET /log?a=b undefined',
    ]);
  });

  // The reference server's checker of an agent's answers (generic/rest/response_checker.go).
  it.each([
    [500, 'broken', 'InternalError', 'Internal error occurred: broken'],
    [400, 'not so', 'BadRequest', 'not so'],
    [403, 'you may not', 'Forbidden', 'you may not ( pods/log web)'],
    [404, 'none', 'NotFound', 'the server could not find the requested resource ( pods/log web)'],
    [
      502,
      'a "gate"',
      'InternalError',
      'an error on the server ("a \\"gate\\"") has prevented the request from succeeding ( pods/log web)',
    ],
    [503, '', 'ServiceUnavailable', 'the server is currently unable to handle the request ( pods/log web)'],
    [302, '', '', 'the server responded with the status code 302 but did not return more information ( pods/log web)'],
  ])('is an error when it comes with status %d', async (code, text, reason, message) => {
    answer = (_, response) => response.writeHead(code, { location: '/elsewhere' }).end(text);
    await expect(relay.text(get, agent('/'), 'web')).rejects.toMatchObject({ code, reason, message });
  });

  it('reports the address that did not respond', async () => {
    // Port 1 is one that nobody listens on.
    await expect(relay.text(get, { ...agent('/log'), port: '1' }, 'web')).rejects.toMatchObject({
      code: 500,
      message: 'Get "http://127.0.0.1:1/log": dial tcp 127.0.0.1:1: connect: connection refused',
    });
  });

  it('ends when the client disconnects', async () => {
    answer = (_, response) => response.write('a piece');
    const gone = new AbortController();
    const { body } = await relay.text(requestOf('GET', '/', { signal: gone.signal }), agent('/'), 'web');
    gone.abort();
    await expect(textOf(body)).rejects.toThrow();
  });
});

describe('a kubelet over TLS', () => {
  const { ca, cert, key, clientCert, clientKey } = makeCertificates();
  let secure: Awaited<ReturnType<typeof startSecure>>;
  const startSecure = async () => {
    const { createServer: create } = await import('node:https');
    const made = create({ cert, key, ca, requestCert: true, rejectUnauthorized: false }, (request, response) => {
      const { subject } = (request.socket as import('node:tls').TLSSocket).getPeerCertificate();
      response.end(subject?.CN ?? 'nobody');
    });
    await new Promise<void>((done) => made.listen(0, '127.0.0.1', done));
    return made;
  };
  beforeAll(async () => {
    secure = await startSecure();
  });
  afterAll(() => new Promise((done) => secure.close(done)));

  const other = makeCertificates().ca;
  const shown = { cert: clientCert, key: clientKey };
  it.each([
    ['is verified with the configured authorities', { ca, ...shown }, 'kubelet', 'jane'],
    ['is not verified without authorities', shown, 'kubelet', 'jane'],
    [
      'is not verified when the request says so, but still receives the client certificate',
      { ca: other, ...shown },
      'unverified kubelet',
      'jane',
    ],
    ['receives no client certificate when anyone may answer', { ca: other, ...shown }, 'anyone', 'nobody'],
  ] as const)('%s', async (_, trust, peer, expected) => {
    const mine = createNodeProxy({ clock: realClock, trust, connectMs: 5_000, isIdentity });
    const endpoint: Endpoint = {
      scheme: 'https',
      host: '127.0.0.1',
      port: String((secure.address() as AddressInfo).port),
      path: '/',
      peer,
    };
    expect(await textOf((await mine.text(get, endpoint, 'web')).body)).toBe(expected);
    const strict = createNodeProxy({ clock: realClock, trust: { ca: other }, connectMs: 5_000, isIdentity });
    await expect(strict.upgrade(get, { ...endpoint, peer: 'kubelet' }, '/', false)).rejects.toMatchObject({
      code: 500,
      message:
        'error dialing backend: tls: failed to verify certificate: x509: certificate signed by unknown authority',
    });
  });
});

describe.skipIf(address === undefined)('a proxied request', () => {
  it('gets method, path, body and headers, but not the credentials of the client', async () => {
    answer = (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        response.writeHead(201, { connection: 'close, x-mine', 'x-mine': '1', 'access-control-allow-origin': '*' });
        const { method, url, headers } = request;
        response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(pieces).toString() }));
      });
    };
    const headers = {
      host: 'cluster.example',
      connection: 'keep-alive, X-Hop',
      'x-hop': 'for this connection alone',
      'x-mine': '1',
      'content-length': '5',
      'impersonate-user': 'jane',
      'x-remote-user': 'jane',
      x_remote_group: 'system:masters',
      'x-remote-extra-scope': 'all',
      'x-forwarded-for': '10.1.1.1',
    };
    const peer = { address: '10.2.2.2', network: '10.2.2.2', certificate: undefined };
    const request = { ...requestOf('POST', '/ignored', { body: 'hello', headers }), peer };
    const { status, headers: back, body } = await proxy(request, '/there%2F?a=b');
    expect(status).toBe(201);
    expect(Object.keys(back).sort()).toEqual(['date']);
    expect(JSON.parse(await textOf(body))).toEqual({
      method: 'POST',
      url: '/there%2F?a=b',
      body: 'hello',
      headers: {
        connection: 'close',
        host: 'cluster.example',
        'content-type': 'application/json',
        'content-length': '5',
        'x-mine': '1',
        'x-forwarded-for': '10.1.1.1, 10.2.2.2',
        'x-forwarded-uri': `${prefix}/there%2F`,
      },
    });
  });

  it('may get a body of any length, in chunks', async () => {
    answer = (request, response) => void request.pipe(response);
    async function* stream() {
      for (let i = 0; i < 64; i++) yield Buffer.alloc(256 * 1024, i);
    }
    const request = { ...requestOf('DELETE', '/'), stream };
    const { body } = await proxy(request, '/');
    let size = 0;
    for await (const piece of body as AsyncIterable<Buffer>) size += piece.length;
    expect(size).toBe(16 * 1024 * 1024);
  });

  // The reference server's rules for links (apimachinery/pkg/util/proxy/transport.go).
  it.each([
    ['/login?next=/a', `${prefix}/login?next=/a`],
    ['login', 'login'],
    ['http://HERE/login', `${prefix}/login`],
    ['https://cluster.example/login', `https://cluster.example${prefix}/login`],
    ['https://elsewhere.example/login', 'https://elsewhere.example/login'],
    [`${prefix}/login`, `${prefix}/login`],
    ['?page=2', '?page=2'],
  ])('has a redirect to %s resolved through the proxy', async (location, expected) => {
    answer = (_, response) =>
      response.writeHead(302, { location: location.replace('HERE', `${address}:${port}`) }).end();
    const { status, headers } = await proxy(requestOf('GET', '/', { headers: { host: 'cluster.example' } }), '/');
    expect([status, headers['location']]).toEqual([302, expected]);
  });

  it('fails when the response upgrades without a request for it', async () => {
    answer = (request) =>
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    await expect(proxy(get, '/')).rejects.toMatchObject({ message: 'error trying to reach service: EOF' });
    await expect(relay.text(get, agent('/log'), 'web')).rejects.toMatchObject({ code: 500 });
  });

  it('fails when the server does not respond', async () => {
    const path = { prefix, there: '/' };
    await expect(relay.proxy(get, { ...there(), port: '1' }, path)).rejects.toMatchObject({
      code: 503,
      message: `error trying to reach service: dial tcp ${address}:1: connect: connection refused`,
    });
    answer = (request) => request.socket.destroy();
    await expect(proxy(get, '/')).rejects.toMatchObject({ message: 'error trying to reach service: EOF' });
  });
});

// Addresses that do not belong to one machine among others (RFC 1122, 3927, 4291), in all spellings that a resolver takes.
it.each([
  '127.0.0.1',
  '::1',
  '',
  // Names that the system reads as addresses.
  'localhost',
  'LocalHost',
  '127.1',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '2130706433',
  '2852039166',
  '0',
])('a proxied request never connects to %s', async (host) => {
  const refused = { code: 400, reason: 'BadRequest', message: 'address not allowed' };
  await expect(relay.proxy(get, { ...there(), host }, { prefix, there: '/' })).rejects.toMatchObject(refused);
  await expect(relay.upgrade(get, { ...there(), host }, '/', true)).rejects.toMatchObject(refused);
});

describe('an upgrade', () => {
  const request = { ...requestOf('GET', '/', { headers: { upgrade: 'websocket' } }), upgrades: true };

  it('may be refused, and the response is forwarded', async () => {
    const { status, headers, body } = await relay.upgrade(request, agent(''), '/403', false);
    expect([status, headers['x-why'], await textOf(body)]).toEqual([403, 'it', 'no']);
  });

  it('is accepted by status 101 only', async () => {
    await expect(relay.upgrade(request, agent(''), '/200', false)).rejects.toMatchObject({
      code: 500,
      message: 'invalid upgrade response: status code 200',
    });
  });
});
