import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as later } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { serverTurns } from '../../meta/index.ts';
import { PacedSocket } from './paced-socket.ts';

/** A connection whose other side the test plays. */
const connection = () => {
  const written: string[] = [];
  const below = new Duplex({
    read() {},
    write(bytes: Buffer, _, done) {
      written.push(bytes.toString());
      done();
    },
  });
  return { below, written, socket: below as Socket };
};

/** Turns that are over until they are granted. */
function slowTurns() {
  const turns = { over: true, grant: () => {}, next: () => new Promise<void>((resolve) => (turns.grant = resolve)) };
  return turns;
}

it('hands on at most 16 KiB in each turn', async () => {
  const { below, socket } = connection();
  const turns = slowTurns();
  const sizes: number[] = [];
  new PacedSocket(socket, turns).on('data', ({ length }: Buffer) => sizes.push(length));
  below.push(Buffer.alloc(40_000));
  await later();
  expect(sizes).toEqual([]);
  for (const expected of [[16_384], [16_384, 16_384], [16_384, 16_384, 7_232]]) {
    turns.grant();
    await later();
    expect(sizes).toEqual(expected);
  }
});

it('passes on everything before the end, also what waits for its turn when the other side ends', async () => {
  const { below, socket } = connection();
  const turns = slowTurns();
  const paced = new PacedSocket(socket, turns);
  const events: string[] = [];
  paced.on('data', (piece: Buffer) => events.push(piece.toString()));
  paced.on('end', () => events.push('end'));
  below.push('last words');
  below.push(null);
  await later();
  expect(events).toEqual([]);
  turns.grant();
  await later();
  expect(events).toEqual(['last words', 'end']);
});

it('closes when the other side ends, so that an agent drops an idle connection', async () => {
  const { below, socket } = connection();
  const paced = new PacedSocket(socket, serverTurns());
  paced.resume();
  const closed = new Promise((resolve) => paced.once('close', resolve));
  below.push(null);
  await closed;
  expect(paced.destroyed).toBe(true);
});

it('closes without an error when the connection has ended before its last bytes are read', async () => {
  const { below, socket } = connection();
  const turns = slowTurns();
  const paced = new PacedSocket(socket, turns);
  const errors: Error[] = [];
  paced.on('error', (error) => errors.push(error));
  paced.resume();
  below.push('last words');
  below.push(null);
  below.end();
  await later();
  expect(below.writableFinished).toBe(true);
  const closed = new Promise((resolve) => paced.once('close', resolve));
  turns.grant();
  await closed;
  expect(errors).toEqual([]);
});

it('survives a failure that nobody listens to', async () => {
  const { below, socket } = connection();
  const paced = new PacedSocket(socket, serverTurns());
  const closed = new Promise((resolve) => paced.once('close', resolve));
  below.destroy(new Error('ECONNRESET'));
  await closed;
  expect(paced.errored?.message).toBe('ECONNRESET');
});

it('writes neither empty pieces nor pieces after the end of the other side, which would discard its response', async () => {
  const { below, socket, written } = connection();
  const paced = new PacedSocket(socket, slowTurns());
  paced.write('a');
  paced.write('');
  expect(written).toEqual(['a']);
  below.push('response');
  below.push(null);
  below.read();
  await later();
  paced.write('b');
  expect(written).toEqual(['a']);
});

it('hands on a response that arrived before a write failed, and fails then', async () => {
  const { below, socket } = connection();
  const turns = slowTurns();
  const paced = new PacedSocket(socket, turns);
  const events: string[] = [];
  paced.on('data', (piece: Buffer) => events.push(piece.toString()));
  paced.on('error', ({ message }) => events.push(message));
  below.push('response');
  await later();
  below.destroy(new Error('write EPIPE'));
  await later();
  expect(events).toEqual([]);
  turns.grant();
  await later();
  expect(events).toEqual(['response', 'write EPIPE']);
});

it('gives the connection back with what its parser has not used, in order', async () => {
  const { below, socket } = connection();
  const paced = new PacedSocket(socket, serverTurns());
  paced.once('data', (piece: Buffer) => {
    expect(piece.length).toBe(16_384);
    paced.release(piece.subarray(16_380));
  });
  below.push(Buffer.concat([Buffer.alloc(16_380, 'a'), Buffer.from('bcdefg')]));
  await later();
  const rest: string[] = [];
  below.on('data', (piece: Buffer) => rest.push(piece.toString()));
  await later();
  below.push('h');
  await later();
  expect(rest.join('')).toBe('bcdefgh');
  paced.destroy();
  expect(below.destroyed).toBe(false);
});

it('writes to the connection, fails with it, and takes it along when it is destroyed', async () => {
  const { socket, written } = connection();
  const paced = new PacedSocket(socket, serverTurns());
  paced.write('GET /');
  expect(written).toEqual(['GET /']);
  const failed = new Promise((resolve) => paced.once('error', resolve));
  const error = new Error('ECONNRESET');
  socket.destroy(error);
  await expect(failed).resolves.toBe(error);

  const other = connection();
  new PacedSocket(other.socket, serverTurns()).destroy();
  expect(other.below.destroyed).toBe(true);
});
