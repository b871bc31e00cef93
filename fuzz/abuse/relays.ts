import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { openSocket, shown } from '../client.ts';
import { authorization, type TestedServer } from '../server.ts';
import { configMaps, hold, letBobRead, type Scenario, selfReviews } from './scenario.ts';

/** Attacks by what a connection carries in very many small parts. */

const headOf = (method: string, path: string, fields: string) =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization('bob').authorization}\r\n${fields}\r\n`;

/** Sends a block `times` times, as fast as the other side reads. */
async function flood(socket: TLSSocket, block: Buffer, times: number): Promise<void> {
  for (let i = 0; i < times && socket.writable; i++) {
    await new Promise<void>((sent) => socket.write(block, () => sent()));
  }
}

const openSockets = (count: number, server: TestedServer) =>
  Promise.all(Array.from({ length: count }, () => openSocket(server, 'http/1.1')));

/** The largest growth of the memory of a server that is seen while something goes on (bytes). */
async function growth(resident: () => Promise<number>, work: Promise<unknown>): Promise<number> {
  const before = await resident();
  let most = before;
  let over = false;
  const ended = work.finally(() => {
    over = true;
  });
  while (!over) {
    most = Math.max(most, await resident());
    await sleep(20);
  }
  await ended;
  return most - before;
}

/** The most memory for a body of 3 MiB while it arrives (bytes): pieces that are read and not yet joined, and garbage. */
const mostGrowth = 150 * 1024 * 1024;

const tinyChunks: Scenario = {
  name: 'tiny-chunks',
  title: 'a body in chunks of one byte takes no more memory than others',
  options: { heapMb: 256 },
  attack: async ({ server }) => {
    const block = Buffer.from('1\r\n \r\n'.repeat(10_000));
    const socket = await openSocket(server, 'http/1.1');
    socket.resume();
    const fields = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
    socket.write(headOf('POST', selfReviews, fields));
    const sending = flood(socket, block, 310);
    const grown = await growth(() => server.resident(), sending);
    socket.destroy();
    hold(grown <= mostGrowth, `a body of 3 MiB in tiny chunks takes ${Math.round(grown / 1024 / 1024)} MB`);
  },
};

const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

/** A frame of a client: an empty ping. */
const ping = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);

const webSocketFrames: Scenario = {
  name: 'websocket-frames',
  title: 'pings without end over the WebSockets of watches hold up nobody',
  attack: async ({ server, client, full }) => {
    await letBobRead(client);
    const block = Buffer.concat(Array<Buffer>(10_000).fill(ping));
    const sockets = await openSockets(full ? 10 : 3, server);
    await Promise.all(
      sockets.map(async (socket) => {
        socket.write(headOf('GET', `${configMaps}?watch=true`, upgrade));
        const answer = await new Promise<Buffer>((read) => socket.once('data', read));
        hold(answer.includes(' 101 '), `a watch over a WebSocket is answered with ${shown(answer)}`);
        socket.resume();
        await flood(socket, block, full ? 100 : 20);
        hold(!socket.destroyed, 'a WebSocket whose client pings is closed');
      }),
    );
    for (const socket of sockets) socket.destroy();
  },
};

export const relayScenarios: readonly Scenario[] = [tinyChunks, webSocketFrames];
