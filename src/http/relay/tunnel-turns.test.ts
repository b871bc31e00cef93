import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as later } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Turns } from '../../meta/index.ts';
import { emptyBody } from '../answers.ts';
import { realClock } from '../testing/fixture.ts';
import type { Chunk } from '../types.ts';
import { sendMessages, upgradeConnection } from './tunnel.ts';

/** A connection that records what is written to it. */
class Connection extends Duplex {
  readonly written: Buffer[] = [];

  override _read(): void {}

  override _write(bytes: Buffer, _: unknown, done: () => void): void {
    this.written.push(bytes);
    done();
  }

  setNoDelay(): void {}

  setKeepAlive(): void {}

  get socket(): Socket {
    return this as unknown as Socket;
  }
}

/** Turns that are over until they are granted. */
function slowTurns(): Turns & { grant: () => void } {
  const turns = {
    over: true,
    grant: () => {},
    next: () => new Promise<void>((resolve) => (turns.grant = resolve)),
  };
  return turns;
}

/** A body that never has a chunk. */
const silence: AsyncIterable<Chunk> = {
  [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
};

const ping = (payload: number) => Buffer.from([0x89, 0x81, 0, 0, 0, 0, payload]);

it('the pings of one turn get one pong, for the last of them', async () => {
  const client = new Connection();
  const turns = slowTurns();
  const response = { status: 101, headers: {}, body: silence, turns };
  const options = {
    clock: realClock,
    stallMs: 1_000,
    last: true,
    connection: { cutOff: () => {} },
    request: { whenOver: () => {} },
  };
  sendMessages(client.socket, response, options, () => {});
  client.push(Buffer.concat([ping(1), ping(2)]));
  await later();
  client.push(ping(3));
  client.push(ping(4));
  await later();
  const [, first, ...others] = client.written;
  expect(first).toEqual(Buffer.from([0x8a, 1, 2]));
  expect(others).toEqual([]);
  turns.grant();
  await later();
  expect(client.written.slice(2)).toEqual([Buffer.from([0x8a, 1, 4])]);
  client.destroy();
});

it('both directions of a relay wait for their turns', async () => {
  for (const way of ['to the backend', 'to the client']) {
    const [client, backend] = [new Connection(), new Connection()];
    const turns = slowTurns();
    upgradeConnection(client.socket, { status: 101, headers: {}, body: emptyBody, turns }, backend.socket, realClock);
    const [from, to] = way === 'to the backend' ? [client, backend] : [backend, client];
    const before = to.written.length;
    from.push('first');
    await later();
    for (const piece of ['a', 'b', 'c']) from.push(piece);
    await later();
    expect(to.written.slice(before).map(String)).toEqual(['first']);
    turns.grant();
    await later();
    expect(to.written.slice(before).map(String)).toEqual(['first', 'abc']);
    client.destroy();
    backend.destroy();
  }
});
