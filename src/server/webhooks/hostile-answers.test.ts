import type { AddressInfo } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeCertificates } from '../../http/testing/fixture.ts';
import { type ByteString, scheduler } from '../../meta/index.ts';
import { providerDocuments } from '../access/provider-documents.ts';
import { createWebhookClient } from './webhook-client.ts';

const { ca, cert, key } = makeCertificates();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server that answers a request with whatever bytes it likes, and how many connections it has had. */
async function startServer(answer: (socket: TLSSocket) => void) {
  const sockets = new Set<TLSSocket>();
  let connections = 0;
  const server = tls.createServer({ cert, key }, (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
    socket.on('data', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`, connections: () => connections };
}

/** Sends the same bytes until the client has had enough. */
function withoutEnd(socket: TLSSocket, begin: string, piece: string): void {
  socket.write(begin);
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

const megabyte = 1024 * 1024;
const timeoutMs = 60_000;

interface Answered {
  readonly status: number;
  readonly bytes: number;
}

/** Clients of servers that may be hostile: those of webhooks, and those of identity providers. */
const clients: {
  readonly [name: string]: (url: string, authority?: string, ms?: number) => Promise<Answered>;
} = {
  'a webhook': async (url, authority: string | undefined = ca, ms = timeoutMs) => {
    const credentials = { cert: undefined, key: undefined, authorization: undefined };
    const client = createWebhookClient(
      { url: new URL(url), ca: authority, serverName: undefined, skipVerify: false, ...credentials },
      { timeoutMs: ms, maxAnswer: megabyte, maxRequests: 1 },
    );
    closing.push(() => client.close());
    const { status, body } = await client.post('{}' as ByteString, new AbortController().signal);
    return { status, bytes: body.length };
  },
  'an identity provider': async (url, authority: string | undefined = ca) => {
    const documents = providerDocuments(authority);
    closing.push(() => documents.close());
    const { status, text } = await documents.get(url);
    return { status, bytes: Buffer.from(text, 'latin1').length };
  },
};

const ok = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const chunk = `${(4_096).toString(16)}\r\n${' '.repeat(4_096)}\r\n`;

describe.each(Object.entries(clients))('a response of %s', (_name, send) => {
  it.each<[string, (socket: TLSSocket) => void, string | RegExp]>([
    ['has no end', (socket) => withoutEnd(socket, `${ok}\r\n`, ' '.repeat(4_096)), 'more than 1048576 bytes'],
    [
      'has no last chunk',
      (socket) => withoutEnd(socket, `${ok}Transfer-Encoding: chunked\r\n\r\n`, chunk),
      'more than 1048576 bytes',
    ],
    [
      'has endless chunk extensions',
      (socket) => withoutEnd(socket, `${ok}Transfer-Encoding: chunked\r\n\r\n1;`, 'a=b;'.repeat(1_000)),
      /Parse Error|Chunk extensions overflow/,
    ],
    [
      'has endless trailers',
      (socket) => withoutEnd(socket, `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n`, 'a: b\r\n'.repeat(1_000)),
      'Parse Error',
    ],
    ['has an endless head', (socket) => withoutEnd(socket, ok, 'a: b\r\n'.repeat(1_000)), 'Parse Error'],
    ['has an endless status line', (socket) => withoutEnd(socket, 'HTTP/1.1 200 ', 'a'.repeat(4_096)), 'Parse Error'],
    [
      'comes after endless 100',
      (socket) => withoutEnd(socket, '', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)),
      '10 interim',
    ],
    [
      'comes after endless 103',
      (socket) => withoutEnd(socket, '', 'HTTP/1.1 103 Early Hints\r\na: b\r\n\r\n'.repeat(100)),
      '10 interim',
    ],
    ['is another protocol', (socket) => withoutEnd(socket, '', 'SSH-2.0-server\r\n'.repeat(100)), 'Parse Error'],
    [
      'changes the protocol',
      (socket) =>
        withoutEnd(socket, 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'a'.repeat(4_096)),
      'changes the protocol',
    ],
    [
      'has two lengths',
      (socket) => socket.write(`${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`),
      'Parse Error',
    ],
    ['ends before its length', (socket) => socket.end(`${ok}Content-Length: 9\r\n\r\nab`), 'aborted'],
    ['does not come', (socket) => socket.end(), 'hang up'],
  ])('that %s is none', async (_, answer, why) => {
    const { url, connections } = await startServer(answer);
    await expect(send(url)).rejects.toThrow(why);
    expect(connections()).toBe(1);
  });

  it('is read in turns of its own', async () => {
    const turns = vi.spyOn(scheduler, 'turns');
    closing.push(() => turns.mockRestore());
    const { url } = await startServer((socket) => socket.end(`${ok}Content-Length: 2\r\n\r\n{}`));
    expect(await send(url)).toEqual({ status: 200, bytes: 2 });
    expect(turns).toHaveBeenCalledWith(`answers of ${new URL(url).host}`);
  });

  it.each([301, 302, 303, 307, 308])('that redirects with %i is followed nowhere', async (status) => {
    const other = await startServer((socket) => socket.end(`${ok}Content-Length: 2\r\n\r\n{}`));
    const { url, connections } = await startServer((socket) =>
      socket.end(`HTTP/1.1 ${status} Moved\r\nLocation: ${other.url}\r\nContent-Length: 0\r\n\r\n`),
    );
    expect(await send(url)).toEqual({ status, bytes: 0 });
    expect([connections(), other.connections()]).toEqual([1, 0]);
  });

  it('that is compressed stays as it was sent', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * megabyte));
    const { url } = await startServer((socket) => {
      socket.write(`${ok}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
      socket.end(bomb);
    });
    expect((await send(url)).bytes).toBeLessThan(megabyte);
  });

  it('that has ten interim responses before it is one', async () => {
    const { url } = await startServer((socket) =>
      socket.end(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(10)}${ok}Content-Length: 2\r\n\r\n{}`),
    );
    expect(await send(url)).toEqual({ status: 200, bytes: 2 });
  });

  it('that another authority has signed is none, whatever the environment says', async () => {
    const { url } = await startServer((socket) => socket.end(`${ok}Content-Length: 2\r\n\r\n{}`));
    const foreign = makeCertificates().ca;
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    await expect(send(url, foreign)).rejects.toThrow(/certificate/);
    await expect(send(url.replace('127.0.0.1', 'localhost'), foreign)).rejects.toThrow(/certificate/);
  });
});

it('an idle connection to a webhook on which something arrives is closed', async () => {
  const sockets: TLSSocket[] = [];
  const { url } = await startServer((socket) => {
    sockets.push(socket);
    socket.write(`${ok}Content-Length: 2\r\n\r\n{}`);
  });
  const send = clients['a webhook'];
  expect(await send?.(url)).toEqual({ status: 200, bytes: 2 });
  const [idle] = sockets;
  expect(idle?.destroyed).toBe(false);
  if (idle !== undefined) withoutEnd(idle, '', ' '.repeat(4_096));
  await expect.poll(() => idle?.destroyed).toBe(true);
});

it('a response of a webhook that comes slowly has the time of one that comes at once', async () => {
  const { url } = await startServer((socket) => {
    socket.write(`${ok}\r\n`);
    const more = setInterval(() => socket.write(' '), 10);
    socket.on('close', () => clearInterval(more));
  });
  await expect(clients['a webhook']?.(url, ca, 200)).rejects.toMatchObject({ name: 'AbortError' });
});
