import type { Socket } from 'node:net';
import type { Clock } from '../meta/index.ts';
import { send, type WriteOptions } from './node-response.ts';
import type { ApiResponse } from './types.ts';
import { ClientFrames, closeFrame, pongFrame } from './web-socket.ts';

/** How long one direction may go on when the other has ended (ms). */
const lingerMs = 10_000;
/** How long a connection is silent until it is asked whether the other side is still there (ms). */
const probeMs = 30_000;

/**
 * Tells the client that its connection has gone over to another protocol, and joins it to the one where that is spoken:
 * what comes on either goes out on the other, no faster than it is taken there. The end of one is passed on to the
 * other; both are closed when one of them is.
 */
export function upgradeConnection(client: Socket, { headers }: ApiResponse, tunnel: Socket, clock: Clock): void {
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
  }
}

/**
 * Tells the client that its connection has gone over to WebSocket, and sends the messages of the answer. The connection
 * is closed after the last of them, and when the client closes it or breaks a rule of the protocol; `over` is called
 * then, and no message is sent any more.
 */
export function sendMessages(client: Socket, response: ApiResponse, options: WriteOptions, over: () => void): void {
  switchProtocols(client, response.headers);
  client.setNoDelay(true);
  client.setKeepAlive(true, probeMs);
  // Of pings that come faster than the client takes the answers, the last one is answered (RFC 6455, 5.5.3).
  let pong: Buffer | undefined;
  const frames = new ClientFrames({
    ping(payload) {
      if (client.writableEnded) return;
      if (client.writableNeedDrain) pong = pongFrame(payload);
      else client.write(pongFrame(payload));
    },
    close(code) {
      if (client.writableEnded) return client.destroySoon();
      over();
      client.end(closeFrame(code));
    },
  });
  client.on('drain', () => {
    if (pong !== undefined && !client.writableEnded) client.write(pong);
    pong = undefined;
  });
  client.on('data', (bytes: Buffer) => frames.read(bytes));
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
