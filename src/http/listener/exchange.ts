import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../meta/index.ts';
import type { Endpoint } from '../../registry/index.ts';
import { type DialOptions, dial, type KubeletTrust } from '../relay/dial.ts';
import type { PacedSocket } from '../relay/paced-socket.ts';

export interface ExchangeOptions {
  readonly clock: Clock;
  readonly trust: KubeletTrust;
  /** Timeout for the connection (ms); 0: none. */
  readonly connectMs: number;
}

/** The response; with a socket if the backend switched protocols. */
interface Exchanged {
  readonly incoming: IncomingMessage;
  readonly socket?: Socket;
}

/** A connection that was kept open ended without a byte of the response: the server had closed it. */
export class StaleConnection extends Error {
  readonly code = 'ECONNRESET';
}

/** Sends requests to kubelets and proxied backends. */
export interface Exchange {
  /** Resolves with the headers of the response. Rejects with the error of the connection, or `StaleConnection`. */
  begin(endpoint: Endpoint, options: DialOptions, body?: AsyncIterable<Uint8Array>): Promise<Exchanged>;
  /** Aborts all requests. */
  close(): void;
}

export function createExchange({ clock, trust, connectMs }: ExchangeOptions): Exchange {
  const open = new Set<ClientRequest | Socket>();
  const track = (connection: ClientRequest | Socket) => {
    open.add(connection);
    connection.once('close', () => open.delete(connection));
  };
  return {
    begin: (endpoint, options, body) =>
      new Promise((resolve, reject) => {
        const outgoing = dial(endpoint, trust, options);
        track(outgoing);
        const late = () => outgoing.destroy(Object.assign(new Error('i/o timeout'), { code: 'ETIMEDOUT' }));
        const cancel = connectMs === 0 ? ignore : clock.after(connectMs, late);
        outgoing.once('socket', (socket) => {
          if (outgoing.reusedSocket) cancel();
          else socket.once(endpoint.scheme === 'https' ? 'secureConnect' : 'connect', cancel);
        });
        const fail = (error: Error) => {
          const socket = outgoing.socket as unknown as PacedSocket | null;
          const isStale = outgoing.reusedSocket && socket?.isSilent === true && !options.signal.aborted;
          reject(isStale ? new StaleConnection('EOF', { cause: error }) : error);
        };
        outgoing.once('close', () => {
          cancel();
          fail(Object.assign(new Error('no answer'), { code: 'ECONNRESET' }));
        });
        outgoing.once('timeout', late);
        outgoing.on('error', fail);
        outgoing.once('response', (incoming) => {
          // Errors of a body that nobody reads are ignored.
          incoming.on('error', ignore);
          const { statusCode = 0 } = incoming;
          if (statusCode >= 200 && statusCode <= 599) return resolve({ incoming });
          incoming.destroy();
          reject(new Error(`malformed HTTP status code "${statusCode}"`));
        });
        const agreed = (incoming: IncomingMessage, paced: PacedSocket, head: Buffer) => {
          const socket = paced.release(head);
          track(socket);
          socket.on('error', ignore);
          socket.setTimeout(0);
          resolve({ incoming, socket });
        };
        // An unsolicited upgrade is rejected.
        if (options.headers['upgrade'] !== undefined) outgoing.once('upgrade', agreed);
        if (body === undefined) outgoing.end();
        else pipeline(body, outgoing).catch(reject);
      }),
    close() {
      for (const connection of open) connection.destroy();
    },
  };
}

const ignore = () => {};
