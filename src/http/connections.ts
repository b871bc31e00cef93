import { hash } from 'node:crypto';
import type { ServerHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../meta/index.ts';
import type { Peer } from './types.ts';

/** One accepted connection, of either protocol. */
export interface Connection {
  readonly peer: Peer;
  /** Requests under way on it. */
  active: number;
  /** Takes no further request; closes once those under way are answered. */
  finish(): void;
  destroy(): void;
}

/** The connections of a listener, and their end. */
export interface Connections {
  readonly closing: boolean;
  readonly size: number;
  add(socket: TLSSocket, session: ServerHttp2Session | undefined): Connection;
  of(key: object): Connection | undefined;
  /** Resolves when all are closed; what is left after `graceMs` is cut off. */
  close(graceMs: number, clock: Clock): Promise<void>;
}

export function createConnections(): Connections {
  const open = new Map<object, Connection>();
  let whenEmpty: (() => void) | undefined;
  let closing = false;
  return {
    get closing() {
      return closing;
    },
    get size() {
      return open.size;
    },
    of: (key) => open.get(key),
    add(socket, session) {
      const connection = session === undefined ? overSocket(socket) : overSession(socket, session);
      const key = session ?? socket;
      open.set(key, connection);
      key.once('close', () => {
        open.delete(key);
        if (open.size === 0) whenEmpty?.();
      });
      if (closing) connection.finish();
      return connection;
    },
    async close(graceMs, clock) {
      closing = true;
      const empty = new Promise<void>((resolve) => {
        whenEmpty = resolve;
      });
      for (const connection of open.values()) connection.finish();
      if (open.size === 0) return;
      const cancel = clock.after(graceMs, () => {
        for (const connection of open.values()) connection.destroy();
      });
      await empty;
      cancel();
    },
  };
}

function overSocket(socket: TLSSocket): Connection {
  const connection: Connection = {
    peer: peerOf(socket),
    active: 0,
    finish: () => {
      if (connection.active === 0) socket.destroySoon();
    },
    destroy: () => socket.destroy(),
  };
  return connection;
}

function overSession(socket: TLSSocket, session: ServerHttp2Session): Connection {
  return {
    peer: peerOf(socket),
    active: 0,
    // Tells the client with a GOAWAY, and ends with the last stream.
    finish: () => {
      if (!session.closed && !session.destroyed) session.close();
    },
    destroy: () => session.destroy(),
  };
}

/**
 * Address and certificate of the other side. A certificate counts only when the client CA signed it and it was really
 * shown: a resumed TLS 1.3 session without one is `authorized`, too.
 */
function peerOf(socket: TLSSocket): Peer {
  const { subject, raw } = (socket.authorized ? socket.getPeerCertificate() : undefined) ?? {};
  const commonName = allOf(subject?.CN).at(-1);
  return {
    address: socket.remoteAddress ?? '',
    certificate:
      commonName === undefined || raw === undefined
        ? undefined
        : { commonName, organizations: allOf(subject?.O), sha256: hash('sha256', raw, 'hex') },
  };
}

const allOf = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value;
