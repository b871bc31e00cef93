import { PassThrough } from 'node:stream';
import { setImmediate as later } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { pauseUntilTurn } from './pause.ts';

it('a stream that waits for its turn is read as one piece, and then flows on', async () => {
  const stream = new PassThrough();
  const read: string[] = [];
  let grant = () => {};
  const turns = { over: true, next: () => new Promise<void>((resolve) => (grant = resolve)) };
  stream.on('data', (piece: Buffer) => {
    read.push(piece.toString());
    if (read.length === 1) pauseUntilTurn(stream, turns);
  });
  stream.write('first');
  await later();
  for (const piece of ['a', 'b', 'c']) stream.write(piece);
  await later();
  expect(read).toEqual(['first']);
  grant();
  await later();
  expect(read).toEqual(['first', 'abc']);
  stream.write('d');
  await later();
  expect(read).toEqual(['first', 'abc', 'd']);
});
