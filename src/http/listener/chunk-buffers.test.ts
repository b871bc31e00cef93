import http2 from 'node:http2';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificates, realClock } from '../testing/fixture.ts';
import type { Chunk, Handler, TakeBuffer } from '../types.ts';
import { ChunkBuffer, giveBack, takeChunkBuffer } from './chunk-buffers.ts';
import { type Listener, listen } from './listener.ts';

const { ca, cert, key } = makeCertificates();
const chunkBytes = 100_000;
const chunks = 6;

/** Chunks of one letter, in buffers. */
function bodyOf(letter: string): AsyncIterableIterator<Chunk, unknown, TakeBuffer | undefined> {
  let sent = 0;
  return {
    async next(takeBuffer?: TakeBuffer) {
      if (sent++ === chunks) return { done: true, value: undefined };
      const buffer = takeBuffer?.(chunkBytes);
      if (buffer === undefined) throw new Error('the listener gives no buffer');
      return { done: false, value: buffer.subarray(0, chunkBytes).fill(letter) };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

const handler: Handler = async ({ url }) => ({
  status: 200,
  headers: { 'content-type': 'text/plain' },
  body: bodyOf(url.slice(1)),
});

let listener: Listener;
beforeAll(async () => {
  const log = { error: () => {} };
  listener = await listen({ handler, address: '127.0.0.1', port: 0, tls: { cert, key }, clock: realClock, log });
});
afterAll(() => listener.close(100));

/** Reads a response slowly; leaves it in the middle if told to. Resolves to the number of bytes of each letter. */
async function read(body: AsyncIterable<Buffer>, leave: boolean): Promise<{ [letter: string]: number }> {
  const counts: { [letter: string]: number } = {};
  for await (const piece of body) {
    for (const letter of piece.toString('latin1')) counts[letter] = (counts[letter] ?? 0) + 1;
    if (leave) break;
    await sleep(1);
  }
  return counts;
}

const responseOf = (agent: https.Agent, letter: string) =>
  new Promise<AsyncIterable<Buffer>>((resolve, reject) =>
    https.get({ host: '127.0.0.1', port: listener.port, path: `/${letter}`, agent, ca }, resolve).on('error', reject),
  );

describe('responses in buffers that are used again', () => {
  const letters = 'abcdefghijklmnop'.split('');
  const whole = letters.map((letter) => ({ [letter]: chunks * chunkBytes }));
  const leaves = (i: number) => i % 4 === 3;
  const staying = <T>(all: readonly T[]) => all.filter((_, i) => !leaves(i));

  it('reach each client of HTTP/2 whole, while others leave', async () => {
    const session = http2.connect(`https://127.0.0.1:${listener.port}`, {
      ca,
      settings: { initialWindowSize: 20_000 },
    });
    for (let round = 0; round < 3; round++) {
      const bodies = letters.map((letter) => session.request({ ':path': `/${letter}` }));
      const counts = await Promise.all(bodies.map((body, i) => read(body, leaves(i))));
      expect(staying(counts)).toEqual(staying(whole));
    }
    session.close();
  });

  it('reach each client of HTTP/1.1 whole, while others leave', async () => {
    const agent = new https.Agent({ keepAlive: true });
    for (let round = 0; round < 3; round++) {
      const bodies = await Promise.all(letters.map((letter) => responseOf(agent, letter)));
      const counts = await Promise.all(bodies.map((body, i) => read(body, leaves(i))));
      expect(staying(counts)).toEqual(staying(whole));
    }
    agent.destroy();
  });
});

describe('a buffer', () => {
  it('is taken again after it has been given back', () => {
    const first = takeChunkBuffer(10);
    const second = takeChunkBuffer(10);
    expect(first === second).toBe(false);
    giveBack(second as ChunkBuffer);
    expect(takeChunkBuffer(20) === second).toBe(true);
  });

  it('has room for 128 KiB, and around it for the chunked transfer coding (RFC 9112, 7.1)', () => {
    expect(takeChunkBuffer(128 * 1024 + 1)).toBeUndefined();
    const buffer = new ChunkBuffer();
    buffer.room.write('text');
    expect(buffer.chunked(4).toString()).toBe('4\r\ntext\r\n');
    const { length } = buffer.room.fill('x');
    expect(buffer.chunked(length).toString()).toBe(`20000\r\n${'x'.repeat(128 * 1024)}\r\n`);
  });
});
