import type { Socket } from 'node:net';
import { type Clock, serverTurns, type Turns } from '../../meta/index.ts';
import { send, type WriteOptions } from '../listener/node-response.ts';
import { pauseUntilTurn } from '../listener/pause.ts';
import type { ApiResponse } from '../types.ts';
import { ClientFrames, closeFrame, pongFrame } from './web-socket.ts';

/** How long one direction may stay open after the other has ended (ms). */
const lingerMs = 10_000;
/** TCP keepalive: how long a connection may be idle before it is probed (ms). */
const probeMs = 30_000;

/**
 * Sends the 101 response of a backend and copies bytes between the client and the backend in both directions, with
 * backpressure. The end of one direction is forwarded; both connections are closed when one of them is.
 */
export function upgradeConnection(client: Socket, response: ApiResponse, tunnel: Socket, clock: Clock): void {
  const { headers, turns = serverTurns() } = response;
  switchProtocols(client, headers);
  let cancel: (() => void) | undefined;
  const hurry = () => {
    cancel ??= clock.after(lingerMs, () => {
      client.destroy();
      tunnel.destroy();
    });
  };
  for (const [from, to] of [
    [client, tunnel],
    [tunnel, client],
  ] as const) {
    const closed = () => {
      if (to.destroyed) cancel?.();
      else {
        hurry();
        to.destroySoon();
      }
    };
    from.allowHalfOpen = true;
    from.setNoDelay(true);
    from.setKeepAlive(true, probeMs);
    from.once('end', hurry);
    if (from.destroyed) closed();
    else from.once('close', closed);
    from.pipe(to);
    pauseBetweenTurns(from, turns);
  }
}

/** Pauses a flowing connection after a chunk for which the time of this turn is used up, until the next turn. */
function pauseBetweenTurns(connection: Socket, turns: Turns): void {
  connection.on('data', () => {
    // A paused one waits for the other side.
    if (!connection.isPaused() && turns.over) pauseUntilTurn(connection, turns);
  });
}

/**
 * Sends a 101 response and the messages of its body as WebSocket frames. The connection is closed after the last
 * message, and when the client closes it or violates the protocol; `over` is called then, and no more messages are sent.
 */
export function sendMessages(client: Socket, response: ApiResponse, options: WriteOptions, over: () => void): void {
  const { headers, turns = serverTurns() } = response;
  switchProtocols(client, headers);
  client.setNoDelay(true);
  client.setKeepAlive(true, probeMs);
  // Only the latest of several unanswered pings gets a pong (RFC 6455, 5.5.3).
  let pong: Buffer | undefined;
  const answer = () => {
    if (pong === undefined || client.writableNeedDrain || client.writableEnded) return;
    client.write(pong);
    pong = undefined;
  };
  const frames = new ClientFrames({
    ping(payload) {
      pong = pongFrame(payload);
    },
    close(code) {
      if (client.writableEnded) return client.destroySoon();
      answer();
      over();
      client.end(closeFrame(code));
    },
  });
  client.on('drain', answer);
  client.on('data', (bytes: Buffer) => {
    frames.read(bytes);
    answer();
  });
  pauseBetweenTurns(client, turns);
  client.once('end', () => client.destroy());
  client.once('finish', () => {
    client.once(
      'close',
      options.clock.after(lingerMs, () => client.destroy()),
    );
  });
  client.resume();
  send(client, response, options);
}

function switchProtocols(client: Socket, headers: ApiResponse['headers']): void {
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`));
  client.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`, 'latin1');
}
