import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as send } from 'node:https';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Extension, type Front, json, startFront } from './support/extension.ts';

/* The connections of a server to the extension API servers behind it. */

let front: Front;
let extension: Extension;
let path: string;
/** Connections that have served a request. */
const seen = new WeakSet<Socket>();
/** The connections over which requests for the path have come. */
const used = new Set<Socket>();
const open = () => [...used].filter((socket) => !socket.destroyed).length;
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const services = '/api/v1/namespaces/default/services';
const merge = { 'content-type': 'application/merge-patch+json' };

type Answering = (request: IncomingMessage, response: ServerResponse) => void;
const answering = (answer: Answering) => {
  extension.answers[path] = (request, response) => {
    used.add(request.socket);
    answer(request, response);
  };
};
const echoes: Answering = (request, response) => {
  let text = '';
  request.on('data', (piece) => {
    text += piece;
  });
  request.on('end', () => {
    if (request.url?.includes('chunked')) response.flushHeaders();
    response.end(`${request.method} ${text}`);
  });
};

beforeAll(async () => {
  front = await startFront();
  extension = new Extension(front.folder, 'kept');
  path = `${extension.root}/things`;
  await extension.start(front);
});
afterEach(async () => {
  for (const socket of used) socket.destroy();
  await expect.poll(open).toBe(0);
  used.clear();
});
afterAll(async () => {
  await extension.close();
  await front.close();
});

const get = () => front.request('GET', path);

describe('a connection to an extension API server', () => {
  it('serves one request after the other, with and without bodies', async () => {
    answering(echoes);
    expect((await get()).text).toBe('GET ');
    expect((await front.request('POST', path, [1])).text).toBe('POST [1]');
    expect((await front.request('DELETE', path)).text).toBe('DELETE ');
    expect((await get()).text).toBe('GET ');
    expect(used.size).toBe(1);
  });

  it('ends after a response to HEAD', async () => {
    answering(echoes);
    expect((await front.request('HEAD', path)).status).toBe(200);
    expect((await front.request('HEAD', `${path}?chunked`)).status).toBe(200);
    await expect.poll(open).toBe(0);
  });

  it('serves one request at a time, and at most 16 stay open when they are idle', async () => {
    const held: ServerResponse[] = [];
    answering((_, response) => void held.push(response));
    const answers = Array.from({ length: 20 }, get);
    await expect.poll(() => held.length).toBe(20);
    expect(used.size).toBe(20);
    for (const response of held) response.end('done');
    for (const { text } of await Promise.all(answers)) expect(text).toBe('done');
    await expect.poll(open).toBe(16);
  });

  it('ends when its client disconnects before the response is complete', async () => {
    answering((_, response) => response.write('a piece'));
    const { authorization } = front;
    const request = send(front.url + path, { rejectUnauthorized: false, headers: { authorization } });
    request.on('error', () => {}).end();
    await expect.poll(() => used.size).toBe(1);
    request.destroy();
    await expect.poll(open).toBe(0);
  });

  it('ends with a response that breaks off, and the client notices', async () => {
    answering((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy());
    });
    await expect(get()).rejects.toThrow('aborted');
    await expect.poll(open).toBe(0);
  });

  it('ends with a response head without an end, which is a 503', async () => {
    answering(({ socket }, response) => {
      if (seen.has(socket)) {
        const more = () => {
          while (socket.writable && socket.write(`X-More: ${'x'.repeat(4_000)}\r\n`));
          socket.once('drain', more);
        };
        socket.write('HTTP/1.1 200 OK\r\n');
        more();
      } else response.end('first');
      seen.add(socket);
    });
    await get();
    const { status, text } = await get();
    expect([status, text]).toEqual([503, expect.stringContaining('Header overflow')]);
    expect(used.size).toBe(1);
    await expect.poll(open).toBe(0);
  });

  it('ends when its response has no end and its client disconnects', async () => {
    let pieces = 0;
    answering(({ socket }, response) => {
      if (!seen.has(socket)) response.end('first');
      else {
        const more = () => {
          pieces++;
          response.write(Buffer.alloc(64 * 1024));
          response.once('drain', more);
        };
        more();
      }
      seen.add(socket);
    });
    await get();
    const request = send(front.url + path, {
      rejectUnauthorized: false,
      headers: { authorization: front.authorization },
    });
    request.on('error', () => {}).end();
    await expect.poll(() => pieces).toBeGreaterThan(2);
    request.destroy();
    await expect.poll(open).toBe(0);
    expect(used.size).toBe(1);
  });

  it('is not used for another APIService, although both name the same Service', async () => {
    answering(echoes);
    await get();
    const other = 'v1.other.example.com';
    const { spec } = (await front.request('GET', `${apiServices}/v1.${extension.group}`)).body;
    extension.answers['/apis/other.example.com/v1'] = json({});
    const sockets = new Set<Socket>();
    extension.answers['/apis/other.example.com/v1/things'] = ({ socket }, response) => {
      sockets.add(socket);
      response.end();
    };
    await front.request('POST', apiServices, {
      metadata: { name: other },
      spec: { ...spec, group: 'other.example.com', caBundle: undefined, insecureSkipTLSVerify: true },
    });
    await expect.poll(async () => (await front.request('GET', '/apis/other.example.com/v1/things')).status).toBe(200);
    await get();
    expect(sockets.size).toBe(1);
    expect(used.size).toBe(1);
    expect([...sockets].some((socket) => used.has(socket))).toBe(false);
    await front.request('DELETE', `${apiServices}/${other}`);
    await expect.poll(() => [...sockets].every((socket) => socket.destroyed)).toBe(true);
  });
});

describe('an idle connection to an extension API server is closed', () => {
  it('when the Service changes', async () => {
    answering(echoes);
    await get();
    await front.request('PATCH', `${services}/kept`, { metadata: { labels: { a: 'b' } } }, merge);
    await expect.poll(open).toBe(0);
    expect((await get()).text).toBe('GET ');
  });

  it('when the CA bundle changes, and one in use after its response', async () => {
    const held: ServerResponse[] = [];
    answering((request, response) => {
      if (request.url?.endsWith('hold=1')) held.push(response);
      else response.end('now');
    });
    await get();
    const late = front.request('GET', `${path}?hold=1`);
    await expect.poll(() => held.length).toBe(1);
    await get();
    expect(open()).toBe(2);
    const other = new Extension(front.folder, 'other-authority').authority;
    const patch = (authority: string) =>
      front.request(
        'PATCH',
        `${apiServices}/v1.${extension.group}`,
        { spec: { caBundle: Buffer.from(authority).toString('base64') } },
        merge,
      );
    await patch(other);
    await expect.poll(open).toBe(1);
    expect((await get()).status).toBe(503);
    held[0]?.end('later');
    expect((await late).text).toBe('later');
    await expect.poll(open).toBe(0);
    await extension.becomes(front, 'False');
    await patch(extension.authority);
    await extension.becomes(front, 'True');
    expect((await get()).text).toBe('now');
  });

  it('when something arrives on it, which is nobody’s response', async () => {
    answering((request, response) => {
      response.end('mine');
      response.once('finish', () => request.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nlie'));
    });
    expect((await get()).text).toBe('mine');
    await expect.poll(open).toBe(0);
    expect((await get()).text).toBe('mine');
  });

  it('before the server closes it, where it says how long it stays open', async () => {
    answering((_, response) => response.setHeader('keep-alive', 'timeout=1').end('short'));
    await get();
    await expect.poll(open).toBe(0);
  });
});

describe('a kept connection that the extension API server has closed', () => {
  /** Ends each connection with its second request. */
  const closesLate: Answering = (request, response) => {
    const isFirst = !seen.has(request.socket);
    seen.add(request.socket);
    if (isFirst) echoes(request, response);
    else request.socket.destroy();
  };

  it('makes the server repeat a request that changes nothing, on a new connection', async () => {
    answering(closesLate);
    await get();
    expect((await get()).text).toBe('GET ');
    expect(used.size).toBe(2);
  });

  it('is a 503 for a request that may have changed something', async () => {
    answering(closesLate);
    await get();
    const { status, text } = await front.request('POST', path, {});
    expect({ status, text }).toEqual({ status: 503, text: 'error trying to reach service: EOF\n' });
    await get();
    expect((await front.request('DELETE', path)).status).toBe(503);
  });

  it('makes the server repeat a request once, and never after the first byte of a response', async () => {
    let requests = 0;
    const fails = (bytes: string) =>
      answering((request, response) => {
        requests++;
        if (requests === 1) response.end('first');
        else if (bytes === '') request.socket.destroy();
        else request.socket.end(bytes);
      });
    fails('');
    await get();
    expect((await get()).status).toBe(503);
    expect(requests).toBe(3);
    requests = 0;
    fails('HTTP/1.1 200 OK\r\nContent-Le');
    await get();
    expect((await get()).status).toBe(503);
    expect(requests).toBe(2);
  });
});
