import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import {
  type AddressInfo,
  connect as connectTcp,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer, type OrchServer } from '../../server/index.ts';
import { connect } from '../kubeconfig/connect.ts';
import { connectionOf } from '../kubeconfig/connection.ts';
import { parseKubeconfig } from '../kubeconfig/kubeconfig.ts';
import { proxyOfEnvironment } from './proxy-environment.ts';
import { readText } from './response.ts';

let server: OrchServer;
let kubeconfig = '';
let plain: Server;
const closing: (() => void)[] = [];

beforeAll(async () => {
  server = await createServer({ store: 'memory', securePort: 0 });
  ({ kubeconfig } = await server.listen());
  plain = createHttpServer((_, response) => response.end('plain'));
  await listening(plain);
});
afterAll(async () => {
  for (const close of closing) close();
  plain.close();
  await server.close();
});

async function listening(listener: Server): Promise<number> {
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return (listener.address() as AddressInfo).port;
}

/** Joins two connections until both have ended. */
function join(a: Socket, b: Socket): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.on('error', () => to.destroy());
    from.pipe(to);
  }
}

interface Proxy {
  readonly port: number;
  /** The requests of clients: the target, and the credentials. */
  readonly seen: { readonly target: string; readonly credentials: string }[];
}

async function httpProxy(status = 200): Promise<Proxy> {
  const seen: Proxy['seen'] = [];
  const proxy = createHttpServer();
  proxy.on('connect', ({ url = '', headers }, socket) => {
    const encoded = (headers['proxy-authorization'] ?? '').replace('Basic ', '');
    seen.push({ target: url, credentials: Buffer.from(encoded, 'base64').toString() });
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${url}`);
    const target = connectTcp(Number(port), hostname, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    join(socket as Socket, target);
  });
  const port = await listening(proxy);
  closing.push(() => proxy.close());
  return { port, seen };
}

/** A proxy of SOCKS 5 that takes each client for one with a password, and answers requests with a code. */
async function socksProxy(code = 0): Promise<Proxy> {
  const seen: Proxy['seen'] = [];
  const serve = async (socket: Socket) => {
    const next = async () => (await once(socket, 'data'))[0] as Buffer;
    const [, , ...methods] = await next();
    const asks = methods.includes(2);
    socket.write(Uint8Array.of(5, asks ? 2 : 0));
    let credentials = '';
    if (asks) {
      const message = await next();
      const userLength = message[1] ?? 0;
      credentials = `${message.toString('utf8', 2, 2 + userLength)}:${message.toString('utf8', 3 + userLength)}`;
      socket.write(Uint8Array.of(1, 0));
    }
    const request = await next();
    const host = request.toString('utf8', 5, 5 + (request[4] ?? 0));
    const port = request.readUInt16BE(request.length - 2);
    seen.push({ target: `${host}:${port}`, credentials });
    // The reply arrives in two pieces.
    socket.write(Uint8Array.of(5, code, 0, 1));
    socket.write(Uint8Array.of(127, 0, 0, 1, 0, 0));
    if (code === 0) join(socket, connectTcp(port, host));
    else socket.end();
  };
  const proxy = createTcpServer((socket) => void serve(socket));
  const port = await listening(proxy);
  closing.push(() => proxy.close());
  return { port, seen };
}

async function answerThrough(proxy: string, url = '/livez'): Promise<string> {
  const connection = await connectionOf(parseKubeconfig(kubeconfig, 'test'), { clusterFields: { 'proxy-url': proxy } });
  const transport = connect(connection);
  try {
    return await readText(await transport({ method: 'GET', url, headers: {} }));
  } finally {
    transport.close();
  }
}

const address = () => new URL(/server: (\S+)/.exec(kubeconfig)?.[1] ?? '').host;

describe('a proxy of a kubeconfig', () => {
  it.each([
    ['http', httpProxy],
    ['socks5', socksProxy],
  ])('with %s connects to the server, with the credentials of its URL', async (scheme, start) => {
    const { port, seen } = await start();
    expect(await answerThrough(`${scheme}://jane:pa%3Ass@127.0.0.1:${port}`)).toBe('ok');
    expect(await answerThrough(`${scheme}://127.0.0.1:${port}`)).toBe('ok');
    expect(seen).toEqual([
      { target: address(), credentials: 'jane:pa:ss' },
      { target: address(), credentials: '' },
    ]);
  });

  it.each([
    ['http', httpProxy],
    ['socks5', socksProxy],
  ])('with %s connects to a server without TLS', async (scheme, start) => {
    const { port, seen } = await start();
    const connection = await connectionOf(parseKubeconfig('kind: Config', 'test'), {
      clusterFields: {
        server: `http://127.0.0.1:${(plain.address() as AddressInfo).port}`,
        'proxy-url': `${scheme}://127.0.0.1:${port}`,
      },
    });
    const transport = connect(connection);
    expect(await readText(await transport({ method: 'GET', url: '/', headers: {} }))).toBe('plain');
    expect(seen).toHaveLength(1);
    transport.close();
  });

  it('is named by the error when it refuses, and its password is not', async () => {
    const web = await httpProxy(407);
    const socks = await socksProxy(2);
    const message = (scheme: string, port: number, why: string) =>
      `the proxy ${scheme}://127.0.0.1:${port} does not connect to ${address()}: ${why}`;
    await expect(answerThrough(`http://jane:secret@127.0.0.1:${web.port}`)).rejects.toThrow(
      message('http', web.port, 'it answered 407 Refused'),
    );
    await expect(answerThrough(`socks5://jane:secret@127.0.0.1:${socks.port}`)).rejects.toThrow(
      message('socks5', socks.port, 'not allowed'),
    );
  });

  it('is named by the error when it cannot be reached', async () => {
    const listener = createTcpServer();
    const port = await listening(listener);
    listener.close();
    await once(listener, 'close');
    for (const scheme of ['http', 'socks5']) {
      await expect(answerThrough(`${scheme}://jane:secret@127.0.0.1:${port}`)).rejects.toThrow(
        `the proxy ${scheme}://127.0.0.1:${port} does not connect to ${address()}: connect ECONNREFUSED`,
      );
    }
  });

  it('must have a known scheme', async () => {
    await expect(answerThrough('ftp://127.0.0.1')).rejects.toThrow('must have the scheme http, https or socks5');
  });
});

describe('the proxy of the environment', () => {
  it.each([
    ['https://a.example:6443', { HTTPS_PROXY: 'http://p:1' }, 'http://p:1'],
    ['https://a.example:6443', { https_proxy: 'http://p:1' }, 'http://p:1'],
    ['https://a.example', { HTTPS_PROXY: '', https_proxy: 'socks5://p:1' }, 'socks5://p:1'],
    ['https://a.example', { HTTPS_PROXY: 'p:1' }, 'http://p:1'],
    ['https://a.example', { HTTP_PROXY: 'http://p:1' }, undefined],
    ['http://a.example', { HTTP_PROXY: 'http://p:1' }, 'http://p:1'],
    ['https://localhost:6443', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['https://127.1.2.3:6443', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['https://[::1]:6443', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['https://a.example', {}, undefined],
  ])('of %s with %j is %s', (url, env, proxy) => {
    expect(proxyOfEnvironment(url, env)).toBe(proxy);
  });

  it.each([
    ['*', 'https://a.example', true],
    ['a.example', 'https://a.example', true],
    ['A.Example', 'https://a.example', true],
    ['example', 'https://a.example', true],
    ['.example', 'https://a.example', true],
    ['.a.example', 'https://a.example', false],
    ['*.example', 'https://a.example', true],
    ['xample', 'https://a.example', false],
    ['a.example:6443', 'https://a.example:6443', true],
    ['a.example:443', 'https://a.example', true],
    ['a.example:443', 'https://a.example:6443', false],
    ['other, a.example ', 'https://a.example', true],
    ['10.0.0.0/8', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['10.1.2.3', 'https://10.1.2.3', true],
    ['10.1.2.3:443', 'https://10.1.2.3:6443', false],
    ['fd00::/8', 'https://[fd00::1]', true],
    ['[fd00::1]:443', 'https://[fd00::1]', true],
    ['fd00::1', 'https://[fd00::2]', false],
    ['10.0.0.0/99', 'https://10.1.2.3', false],
    [':443', 'https://a.example', false],
    ['', 'https://a.example', false],
  ])('NO_PROXY=%s excludes %s: %s', (rules, url, excluded) => {
    expect(proxyOfEnvironment(url, { HTTPS_PROXY: 'http://p:1', NO_PROXY: rules }) === undefined).toBe(excluded);
  });
});
