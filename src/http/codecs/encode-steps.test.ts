import { describe, expect, it } from 'vitest';
import type { ByteString, Turns } from '../../meta/index.ts';
import type { Chunk, TakeBuffer } from '../types.ts';
import { inPieces } from './encode-steps.ts';

const open: Turns = { over: false, next: () => Promise.resolve() };

/** Makes the pieces, of one text or none, the last of which it returns, and records which have been made. */
function makes(...texts: readonly string[]) {
  const made: string[] = [];
  const pieces = (function* () {
    for (const [i, text] of texts.entries()) {
      made.push(text);
      const piece = text === '' ? [] : [text as ByteString];
      if (i === texts.length - 1) return piece;
      yield piece;
    }
    return [];
  })();
  return { made, pieces };
}

async function read(body: unknown): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of body as AsyncIterable<Chunk>) chunks.push(chunk);
  return chunks;
}

it('a single piece is a whole body, with the end', async () => {
  expect(await inPieces(makes('a').pieces, '\n', open)).toBe('a\n');
});

it('several pieces come in their order, with the end after the last one, and without the empty ones of steps', async () => {
  expect(await read(await inPieces(makes('a', 'b', '', '', 'c').pieces, '\n', open))).toEqual(['a', 'b', 'c\n']);
  expect(await read(await inPieces(makes('', '', 'a').pieces, '', open))).toEqual(['a']);
  expect(await read(await inPieces(makes('a', '').pieces, '\n', open))).toEqual(['a', '\n']);
});

/** Turns that are over from now on, until `resume` is called. */
function closable() {
  const turns = { over: false, resume: () => {}, next: () => new Promise<void>((resume) => (turns.resume = resume)) };
  return turns;
}

it('the first piece is sent in the turn in which it was made, and no other is made before its turn', async () => {
  const turns = closable();
  const { made, pieces } = makes('a', 'b', 'c');
  const body = (await inPieces(pieces, '', turns)) as AsyncIterableIterator<Chunk>;
  turns.over = true;
  expect(await body.next()).toEqual({ done: false, value: 'a' });
  const second = body.next();
  expect(made).toEqual(['a']);
  turns.resume();
  expect(await second).toEqual({ done: false, value: 'b' });
  expect(made).toEqual(['a', 'b']);
});

it('a body that is abandoned while it waits for its turn makes no further piece', async () => {
  const turns = closable();
  const { made, pieces } = makes('a', 'b', 'c', 'd');
  const body = (await inPieces(pieces, '', turns)) as AsyncIterableIterator<Chunk>;
  expect(await body.next()).toEqual({ done: false, value: 'a' });
  turns.over = true;
  const waiting = body.next();
  await body.return?.();
  turns.resume();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(made).toEqual(['a']);
});

describe('with a buffer for each piece', () => {
  /** The third piece is too small for a buffer. */
  const texts = ['a'.repeat(20_000), 'ü'.repeat(30_000), 'b'];
  const pieces = () =>
    (function* () {
      yield [texts[0], '{', texts[1]] as ByteString[];
      yield ['}', texts[1]] as ByteString[];
      return ['c', texts[2]] as ByteString[];
    })();
  const joined = [`${texts[0]}{${texts[1]}`, `}${texts[1]}`, 'cb\n'];

  async function chunksWith(takeBuffer: TakeBuffer): Promise<Chunk[]> {
    const body = (await inPieces(pieces(), '\n', open)) as AsyncIterableIterator<Chunk, unknown, TakeBuffer>;
    const chunks: Chunk[] = [];
    for (let next = await body.next(takeBuffer); next.done !== true; next = await body.next(takeBuffer)) {
      chunks.push(next.value);
    }
    return chunks;
  }

  it('the texts of a piece are in the buffer, one after the other', async () => {
    const sizes: number[] = [];
    const buffers: Buffer[] = [];
    const chunks = await chunksWith((size) => {
      sizes.push(size);
      const buffer = Buffer.alloc(64 * 1024, 'x');
      buffers.push(buffer);
      return buffer;
    });
    expect(sizes).toEqual([50_001, 30_001]);
    expect(chunks.map((chunk) => typeof chunk)).toEqual(['object', 'object', 'string']);
    expect(chunks.map((chunk) => Buffer.from(chunk as string, 'latin1').toString('latin1'))).toEqual(joined);
    expect(buffers.map((buffer, i) => (chunks[i] as Buffer).buffer === buffer.buffer)).toEqual([true, true]);
  });

  it('a piece for which there is no buffer is a text', async () => {
    expect(await chunksWith(() => undefined)).toEqual(joined);
  });
});
