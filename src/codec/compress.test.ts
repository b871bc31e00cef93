import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ByteString, encodeText } from '../meta/index.ts';
import { acceptsGzip, compressBody } from './compress.ts';

type Chunk = ByteString | Uint8Array;

async function gather(body: Chunk | AsyncIterable<Chunk>): Promise<Buffer> {
  if (typeof body === 'string') return Buffer.from(body, 'latin1');
  if (body instanceof Uint8Array) return Buffer.from(body);
  const parts: Buffer[] = [];
  for await (const chunk of body)
    parts.push(typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : Buffer.from(chunk));
  return Buffer.concat(parts);
}

async function* pieces(text: string, count: number, taken = { pieces: 0, ended: false }): AsyncGenerator<Chunk> {
  try {
    for (; taken.pieces < count; taken.pieces++) yield encodeText(text);
  } finally {
    taken.ended = true;
  }
}

describe('acceptsGzip', () => {
  it.each<[string | undefined, boolean]>([
    ['gzip', true],
    ['deflate, GZIP;q=0.5', true],
    ['gzip;q=0', false],
    ['gzip; q=0.00, br', false],
    ['x-gzip', false],
    ['identity', false],
    [undefined, false],
  ])('of %s is %s', (header, expected) => {
    expect(acceptsGzip(header?.toLowerCase())).toBe(expected);
  });
});

describe('compressBody', () => {
  // The threshold is recorded in surface.encodings: 240 KB are compressed, 4 KB are not.
  it('does not compress bodies below the threshold', async () => {
    const small = encodeText('ä'.repeat(2000));
    expect(await compressBody(small, 'bob')).toEqual({ body: small, encoding: undefined });
    const { body, encoding } = await compressBody(pieces('x'.repeat(1000), 100), 'bob');
    expect([encoding, (await gather(body)).length]).toEqual([undefined, 100_000]);
  });

  it('compresses large bodies, buffered and streamed', async () => {
    const text = 'ä€'.repeat(100_000);
    const whole = await compressBody(encodeText(text), 'bob');
    expect(whole.encoding).toBe('gzip');
    expect(gunzipSync(await gather(whole.body)).toString()).toBe(text);
    const streamed = await compressBody(pieces('ä€ and some text, ', 50_000), 'bob');
    expect(streamed.encoding).toBe('gzip');
    expect(gunzipSync(await gather(streamed.body)).toString()).toBe('ä€ and some text, '.repeat(50_000));
  });

  it('pulls chunks only as they are consumed, and closes the source when the consumer stops', async () => {
    // Incompressible text, so that buffers fill up.
    const noise = Buffer.from(
      Array.from({ length: 64 * 1024 }, (_, i) => Math.imul(i * i, 2654435761) >>> 13),
    ).toString('hex');
    const taken = { pieces: 0, ended: false };
    const { body } = await compressBody(pieces(noise, 10_000, taken), 'bob');
    const reader = (body as AsyncIterable<Chunk>)[Symbol.asyncIterator]();
    await reader.next();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(taken.pieces).toBeLessThan(20);
    await reader.return?.();
    await expect.poll(() => taken.ended).toBe(true);
  });

  it('forwards an error of the source', async () => {
    async function* failing(): AsyncGenerator<Chunk> {
      yield encodeText('x'.repeat(200_000));
      throw new Error('broken');
    }
    const { body } = await compressBody(failing(), 'bob');
    await expect(gather(body)).rejects.toThrow('broken');
  });
});
