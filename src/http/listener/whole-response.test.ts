import http, { Agent, createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ByteString } from '../../meta/index.ts';
import { realClock } from '../testing/fixture.ts';
import type { ApiResponse } from '../types.ts';
import { writeAtOnce } from './whole-response.ts';

const plain: ApiResponse = {
  status: 200,
  headers: { 'content-type': 'text/plain' },
  body: 'caf\u00e9\n' as ByteString,
};

/** The response of the server, and whether each response was sent at once. */
let response = plain;
let sent: boolean[] = [];
let finished = 0;

let server: Server;
beforeAll(async () => {
  server = createServer((_, out) => {
    out.on('finish', () => finished++);
    const isSent = writeAtOnce(response, out, realClock);
    sent.push(isSent);
    if (!isSent) out.end('by Node');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => server.close());

/** Sends text and resolves to what comes until the connection ends, or has been silent for 100 ms after its first bytes. */
function raw(requests: string): Promise<string> {
  sent = [];
  finished = 0;
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(requests));
    socket.setEncoding('latin1');
    socket.on('timeout', () => socket.destroy());
    socket.on('data', (piece) => {
      socket.setTimeout(100);
      received += piece;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

const head = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

describe('a whole response', () => {
  it('is sent with its head, and finishes', async () => {
    response = plain;
    expect((await raw(head)).replace(/Date: .*? GMT/, 'Date: now')).toBe(
      'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\nDate: now\r\n\r\ncaf\u00e9\n',
    );
    expect([sent, finished]).toEqual([[true], 1]);
  });

  it('has the date of its second (RFC 9110, 6.6.1)', async () => {
    response = plain;
    const date = Date.parse(/Date: (.*)\r\n/.exec(await raw(head))?.[1] ?? '');
    expect(Math.abs(Date.now() - date)).toBeLessThan(5_000);
  });

  it('leaves the connection to those that wait for it, which Node sends', async () => {
    response = plain;
    const received = await raw(head.repeat(3));
    expect(received.split(/HTTP\/1\.1 200 OK\r\n.*?\r\n\r\n/s)).toEqual(['', 'caf\u00e9\n', 'by Node', 'by Node']);
    expect([sent, finished]).toEqual([[true, false, false], 3]);
  });

  it('leaves the connection open for the next request', async () => {
    response = plain;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { port } = server.address() as AddressInfo;
    sent = [];
    const get = () =>
      new Promise((resolve, reject) => {
        const request = http.get({ agent, host: '127.0.0.1', port }, (message) => {
          message.resume().on('end', () => resolve(request.reusedSocket));
        });
        request.on('error', reject);
      });
    expect([await get(), await get(), await get()]).toEqual([false, true, true]);
    expect(sent).toEqual([true, true, true]);
    agent.destroy();
  });

  const close = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  it.each<[string, Partial<ApiResponse>, string]>([
    ['is streamed', { body: (async function* () {})() }, head],
    ['is long', { body: 'x'.repeat(100_000) as ByteString }, head],
    ['is bytes', { body: Buffer.from('bytes') }, head],
    ['has no content', { status: 204, body: '' as ByteString }, head],
    ['ends the connection', {}, close],
    ['goes to a client of HTTP/1.0', {}, 'GET / HTTP/1.0\r\n\r\n'],
    ['answers HEAD', {}, head.replace('GET', 'HEAD')],
    ['has a field of several values', { headers: { vary: ['accept', 'accept-encoding'] } }, head],
    ['has a length of its own', { headers: { 'content-length': '7' } }, head],
    ['has a date of its own', { headers: { date: 'Mon, 30 Nov 2026 12:00:00 GMT' } }, head],
    ['would have two fields in one value', { headers: { a: 'b\r\nset-cookie: c' } }, head],
    ['would have a value that is not latin1', { headers: { a: '\u20ac' } }, head],
    ['would have a name that is none', { headers: { 'a b': 'c' } }, head],
  ])('is left to Node when it %s', async (_, part, request) => {
    response = { ...plain, ...part };
    await raw(request);
    expect(sent).toEqual([false]);
  });
});
