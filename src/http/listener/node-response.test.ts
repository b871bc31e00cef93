import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ByteString } from '../../meta/index.ts';
import { makeCertificates, realClock } from '../testing/fixture.ts';
import type { Chunk, Handler } from '../types.ts';
import { type Listener, listen } from './listener.ts';
import { chunkedCoding, SentBytes } from './sent-bytes.ts';

const { ca, cert, key } = makeCertificates();
const text = { 'content-type': 'text/plain' };
const large = 'x'.repeat(100_000);

/** The bodies whose first chunk has been made, and how many had when `/late` was answered. */
let begun = 0;
let begunBefore = 0;

async function* chunksOf(...chunks: Chunk[]): AsyncGenerator<Chunk> {
  begun++;
  yield* chunks;
}

/** Streams text and bytes; answers `/late` after all other requests have begun. */
const handler: Handler = async ({ url }) => {
  if (url === '/late') {
    await new Promise((resolve) => setTimeout(resolve, 20));
    begunBefore = begun;
    return { status: 200, headers: text, body: 'late' as ByteString };
  }
  const body = chunksOf('one\n' as ByteString, Buffer.from('two\n'), large as ByteString, 'end\n' as ByteString);
  return { status: 200, headers: text, body };
};

let listener: Listener;
beforeAll(async () => {
  const log = { error: () => {} };
  listener = await listen({ handler, address: '127.0.0.1', port: 0, tls: { cert, key }, clock: realClock, log });
});
afterAll(() => listener.close(100));

/** Sends requests as they are; resolves to what came until the server closed. */
function raw(requests: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const options = { port: listener.port, host: '127.0.0.1', ca, ALPNProtocols: ['http/1.1'] };
    const socket = tls.connect(options, () => socket.write(requests));
    socket.setEncoding('latin1');
    socket.on('data', (piece) => {
      received += piece;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

/** The body of a response, without its head. */
const bodyOf = (response: string) => response.slice(response.indexOf('\r\n\r\n') + 4);
const last = 'Host: x\r\nConnection: close\r\n\r\n';
const chunked = `4\r\none\n\r\n4\r\ntwo\n\r\n186a0\r\n${large}\r\n4\r\nend\n\r\n0\r\n\r\n`;

describe('a streamed response over HTTP/1.1', () => {
  it('has a chunk for each chunk of the body, and an end (RFC 9112, 7.1)', async () => {
    const both = await Promise.all([raw(`GET / HTTP/1.1\r\n${last}`), raw(`GET / HTTP/1.1\r\n${last}`)]);
    expect(both.map(bodyOf)).toEqual([chunked, chunked]);
  });

  it('makes nothing before the responses to earlier requests of its connection have been sent', async () => {
    begun = 0;
    const response = await raw(
      `GET /late HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n${last}`,
    );
    expect(begunBefore).toBe(0);
    expect(begun).toBe(2);
    expect(response.endsWith(chunked)).toBe(true);
  });

  it('follows the responses to earlier requests of its connection (RFC 9112, 9.3.2)', async () => {
    const head = 'Host: x\r\n\r\n';
    const received = await raw(`GET /late HTTP/1.1\r\n${head}GET / HTTP/1.1\r\n${head}GET / HTTP/1.1\r\n${last}`);
    expect(bodyOf(received).startsWith('lateHTTP/1.1 200 OK')).toBe(true);
    expect(
      received
        .split('Transfer-Encoding: chunked\r\n\r\n')
        .slice(1)
        .map((rest) => rest.slice(0, chunked.length)),
    ).toEqual([chunked, chunked]);
  });

  it('has no chunks for a client of HTTP/1.0, and ends with the connection', async () => {
    expect(bodyOf(await raw('GET / HTTP/1.0\r\n\r\n'))).toBe(`one\ntwo\n${large}end\n`);
  });

  it('has no body for HEAD', async () => {
    expect(bodyOf(await raw(`HEAD / HTTP/1.1\r\n${last}`))).toBe('');
  });
});

describe('the bytes of a chunk', () => {
  it('are made once for all that send it one after the other', () => {
    let made = 0;
    const sent = new SentBytes((chunk) => {
      made++;
      return chunkedCoding(chunk);
    });
    const text = (chunk: string) => Buffer.from(sent.of(chunk as ByteString) ?? []).toString('latin1');
    const [first, again, other] = [text('caf\u00e9'), text('caf\u00e9'), text('tea')];
    expect([first, again, other, made]).toEqual(['4\r\ncaf\u00e9\r\n', '4\r\ncaf\u00e9\r\n', '3\r\ntea\r\n', 2]);
  });

  it('are made for the second that sends a long one', () => {
    const sent = new SentBytes((chunk) => Buffer.from(chunk as ByteString, 'latin1'));
    const long = (letter: string) => letter.repeat(10_000) as ByteString;
    const [first, second, third] = [1, 2, 3].map(() => sent.of(long('a')));
    expect([first, second?.length, third === second]).toEqual([undefined, 10_000, true]);
    expect([sent.of(long('b')), sent.of(long('a'))]).toEqual([undefined, undefined]);
  });
});
