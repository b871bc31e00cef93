import { expect, it } from 'vitest';
import type { ByteString, Turns } from '../../meta/index.ts';
import type { Chunk } from '../types.ts';
import { inPieces } from './encode-steps.ts';

const open: Turns = { over: false, next: () => Promise.resolve() };

/** Makes the pieces and records which have been made. */
function makes(...texts: readonly string[]) {
  const made: string[] = [];
  const pieces = (function* () {
    for (const text of texts) {
      made.push(text);
      yield text as ByteString;
    }
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

it('a body that is abandoned while it waits for its turn makes no further piece', async () => {
  let resume: () => void = () => {};
  let over = false;
  const turns: Turns = {
    get over() {
      return over;
    },
    next: () =>
      new Promise((resolve) => {
        resume = resolve;
      }),
  };
  const { made, pieces } = makes('a', 'b', 'c', 'd');
  const body = (await inPieces(pieces, '', turns)) as AsyncIterableIterator<Chunk>;
  expect(await body.next()).toEqual({ done: false, value: 'a' });
  over = true;
  const waiting = body.next();
  await body.return?.();
  resume();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(made).toEqual(['a', 'b']);
});
