import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { realClock } from '../testing/fixture.ts';
import { Handshakes } from './handshakes.ts';

const patienceMs = 10_000;

/** A connection that is being accepted, and whether it is read. */
class Accepted extends EventEmitter {
  readonly remoteAddress: string;
  readonly remotePort: number;
  bytesRead = 0;
  destroyed = false;
  read = true;
  onRead = (): void => undefined;
  readonly _handle = {
    reading: true,
    readStart: () => {
      this.read = true;
      this.onRead();
    },
    readStop: () => {
      this.read = false;
    },
  };

  constructor(remoteAddress: string, remotePort: number) {
    super();
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function accept(handshakes: Handshakes, addresses: readonly string[]): Accepted[] {
  const accepted = addresses.map((address, i) => new Accepted(address, i));
  for (const socket of accepted) handshakes.begin(socket as unknown as Socket);
  return accepted;
}

it('two handshakes are read at a time, of one address after the other, until all are over', async () => {
  const handshakes = new Handshakes(realClock, { waiting: 0 }, { patienceMs });
  let open = accept(handshakes, [...Array<string>(20).fill('1.1.1.1'), '2.2.2.2', '3.3.3.3']);
  const order: string[] = [];
  while (open.length > 0) {
    await expect.poll(() => open.some(({ read }) => read), { interval: 1 }).toBe(true);
    const read = open.filter((socket) => socket.read);
    expect(read.length).toBeLessThanOrEqual(2);
    for (const socket of read) {
      socket.bytesRead += 1_000;
      order.push(socket.remoteAddress);
      handshakes.end(socket as unknown as Socket);
    }
    open = open.filter((socket) => !read.includes(socket));
  }
  expect(order).toHaveLength(22);
  expect(order.slice(0, 6)).toContain('2.2.2.2');
  expect(order.slice(0, 6)).toContain('3.3.3.3');
});

it('clients that send nothing keep no others waiting', async () => {
  const handshakes = new Handshakes(realClock, { waiting: 0 }, { patienceMs });
  const accepted = accept(handshakes, Array<string>(10).fill('1.1.1.1'));
  const last = accepted.at(-1) as Accepted;
  await expect.poll(() => last.read, { interval: 1 }).toBe(true);
  for (const socket of accepted.slice(0, 8)) socket.destroy();
  await expect.poll(() => accepted.slice(8).every(({ read }) => read), { interval: 1 }).toBe(true);
});

it('one handshake is read at a time while long work waits', async () => {
  const handshakes = new Handshakes(realClock, { waiting: 1 }, { patienceMs });
  let open = accept(handshakes, Array<string>(5).fill('1.1.1.1'));
  while (open.length > 0) {
    await expect.poll(() => open.some(({ read }) => read), { interval: 1 }).toBe(true);
    const read = open.filter((socket) => socket.read);
    expect(read).toHaveLength(1);
    for (const socket of read) {
      socket.bytesRead += 1_000;
      handshakes.end(socket as unknown as Socket);
    }
    open = open.filter((socket) => !read.includes(socket));
  }
});

it('clients that send nothing for too long are disconnected, one alone and those that wait behind others', async () => {
  for (const count of [1, 5]) {
    const handshakes = new Handshakes(realClock, { waiting: 0 }, { patienceMs: 1 });
    const accepted = accept(handshakes, Array<string>(count).fill('1.1.1.1'));
    await expect.poll(() => accepted.every(({ destroyed }) => destroyed)).toBe(true);
  }
});

it('a client that has sent its part is not disconnected for the time in which others are read', async () => {
  const handshakes = new Handshakes(realClock, { waiting: 0 }, { patienceMs: 0 });
  const accepted = accept(handshakes, Array<string>(20).fill('1.1.1.1'));
  let done = 0;
  for (const socket of accepted) {
    // Each time it reads all that was sent, and it answers each time.
    socket.onRead = () => {
      socket.bytesRead += 1_000;
      if (socket.bytesRead < 3_000) return;
      done++;
      handshakes.end(socket as unknown as Socket);
    };
    if (socket.read) socket.onRead();
  }
  await expect.poll(() => done).toBe(accepted.length);
  expect(accepted.filter(({ destroyed }) => destroyed)).toHaveLength(0);
});
