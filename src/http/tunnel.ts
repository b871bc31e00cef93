import type { Socket } from 'node:net';
import type { Clock } from '../meta/index.ts';
import type { ApiResponse } from './types.ts';

/** How long one direction may go on when the other has ended (ms). */
const lingerMs = 10_000;
/** How long a connection is silent until it is asked whether the other side is still there (ms). */
const probeMs = 30_000;

/**
 * Tells the client that its connection has gone over to another protocol, and joins it to the one where that is spoken:
 * what comes on either goes out on the other, no faster than it is taken there. The end of one is passed on to the
 * other; both are closed when one of them is.
 */
export function goOver(client: Socket, { headers }: ApiResponse, tunnel: Socket, clock: Clock): void {
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`));
  client.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`, 'latin1');
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
