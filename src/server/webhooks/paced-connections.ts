import type { RequestOptions } from 'node:https';
import type { Socket } from 'node:net';
import { connectionLookup, Lookups, PacedAgent, PacedSocket } from '../../http/index.ts';
import { peerTurns } from '../../meta/index.ts';

/** Hosts are looked up two at a time, in as many threads as Node has for lookups. */
const lookups = new Lookups(2);

/** Connections to a server that may be hostile, which are read in turns of its own. */
export class PacedConnections extends PacedAgent {
  override createConnection(options: RequestOptions): PacedSocket {
    const { lookup, leave } = connectionLookup(lookups);
    const socket = super.createConnection({ ...options, lookup }) as Socket;
    socket.once('close', leave);
    return new PacedSocket(socket, peerTurns(`${options.host}:${options.port}`));
  }
}
