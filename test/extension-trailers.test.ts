import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Extension, type Front, startFront } from './support/extension.ts';

let front: Front;
let extension: Extension;
let path: string;
let received: unknown;
beforeAll(async () => {
  front = await startFront();
  extension = new Extension(front.folder, 'trailers');
  path = `${extension.root}/things`;
  await extension.start(front);
  extension.answers[path] = (request, response) => {
    received = request.headers.te;
    if (request.method === 'HEAD') {
      request.socket.end('HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n');
      return;
    }
    const zipped = request.headers['accept-encoding'] === 'gzip';
    response.writeHead(200, {
      trailer: 'X-Sum, Content-Type, X-Missing, Set-Cookie',
      ...(zipped ? { 'content-encoding': 'gzip' } : {}),
    });
    response.write(zipped ? gzipSync('body') : 'body');
    response.addTrailers({ 'X-Sum': '7', 'Content-Type': 'text/html', 'X-Unannounced': '1', 'Set-Cookie': 'a=b' });
    response.end();
  };
});
afterAll(async () => {
  await extension.close();
  await front.close();
});

/** The trailers of a response over HTTP/2. */
async function over2(session: ClientHttp2Session) {
  const stream = session.request({ ':path': path, authorization: front.authorization, 'accept-encoding': 'identity' });
  let announced: unknown;
  const trailers = {};
  let text = '';
  stream.on('response', (headers) => {
    announced = headers['trailer'];
  });
  stream.on('trailers', (received: object) => {
    Object.assign(trailers, Object.fromEntries(Object.entries(received)));
  });
  stream.setEncoding('utf8');
  stream.on('data', (piece: string) => {
    text += piece;
  });
  await once(stream, 'close');
  return { announced, trailers, text };
}

describe('the trailers of a relayed response', () => {
  it.each([{ 'accept-encoding': 'identity' }, {}])(
    'are announced, and follow the body, but for those that describe it (%#)',
    async (headers) => {
      const answer = await front.request('GET', path, undefined, headers as { [name: string]: string });
      expect(answer.text).toBe('body');
      expect(answer.headers.trailer).toBe('X-Sum, X-Missing');
      expect(answer.trailers).toEqual({ 'x-sum': '7' });
    },
  );

  it('come over HTTP/2 too', async () => {
    const session = connect(front.url, { rejectUnauthorized: false });
    expect(await over2(session)).toEqual({ announced: 'X-Sum, X-Missing', trailers: { 'x-sum': '7' }, text: 'body' });
    session.close();
  });

  it('are wanted when the client wants them', async () => {
    await front.request('GET', path, undefined, { te: 'gzip;q=0.5, trailers' });
    expect(received).toBe('trailers');
    await front.request('GET', path, undefined, { te: 'gzip' });
    expect(received).toBeUndefined();
  });

  it('are left out where there can be none: after a length, a response to HEAD, and for HTTP/1.0', async () => {
    expect((await front.request('HEAD', path)).headers.trailer).toBeUndefined();
    extension.answers[path] = (_, response) => {
      const { socket } = response;
      socket?.end('HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
    };
    const { headers, text } = await front.request('GET', path);
    expect([headers.trailer, text]).toEqual([undefined, 'ok']);
    extension.answers[path] = (_, response) => {
      response.writeHead(200, { trailer: 'X-Sum' }).write('old');
      response.addTrailers({ 'X-Sum': '7' });
      response.end();
    };
    const { hostname, port } = new URL(front.url);
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
    socket.write(`GET ${path} HTTP/1.0\r\nAuthorization: ${front.authorization}\r\n\r\n`);
    let old = '';
    for await (const piece of socket) old += piece;
    expect(old).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nold$/s);
    expect(old).not.toMatch(/trailer/i);
  });
});
