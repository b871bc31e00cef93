import type { ClientRequest } from 'node:http';
import { Agent } from 'node:https';
import type { Duplex } from 'node:stream';
import type { PacedSocket } from './paced-socket.ts';

/** The agent of connections that are `PacedSocket`s. An idle one on which something arrives is closed. */
export class PacedAgent extends Agent {
  override keepSocketAlive(socket: PacedSocket): boolean {
    // The agent of Node also says whether the server keeps the connection long enough.
    const isKept: unknown = super.keepSocketAlive(socket);
    if (isKept !== true) return false;
    socket.on('data', closeOnData);
    return true;
  }

  override reuseSocket(socket: PacedSocket, request: ClientRequest): void {
    socket.off('data', closeOnData);
    super.reuseSocket(socket, request);
  }
}

/** Nothing may arrive on an idle connection: it could go on for ever, or be taken for the response to the next request. */
function closeOnData(this: Duplex): void {
  this.destroy();
}
