import type { Http2SecureServer } from 'node:http2';
import type { TLSSocket } from 'node:tls';

/**
 * Whether a client that vanishes can end the process: Node 20 connects the HTTP/2 engine to the TLS socket in native code,
 * where a write may fail while the engine reads. It then reads the same input twice, which corrupts its memory or fails an
 * assertion.
 */
export const isSessionUnsafe = process.versions.node.startsWith('20.');

/**
 * Connects the HTTP/2 sessions of a server to their sockets through JavaScript, where a write ends in a later turn of the
 * event loop. Must be called before listeners of `secureConnection` are added.
 */
export function separateSessions(server: Http2SecureServer): void {
  const [accept] = server.listeners('secureConnection') as ((socket: TLSSocket | SessionSocket) => void)[];
  if (accept === undefined) throw new Error('Node has no listener for TLS connections');
  server.removeListener('secureConnection', accept as (socket: TLSSocket) => void);
  server.on('secureConnection', (socket) => {
    accept.call(server, socket.alpnProtocol === 'h2' ? new SessionSocket(socket) : socket);
  });
}

type Listener = (...values: unknown[]) => void;

/** The socket of a session, without the native handle that tells Node to connect the two directly. */
class SessionSocket {
  readonly alpnProtocol = 'h2';
  readonly encrypted = true;
  readonly readable = true;
  readonly writable = true;
  readonly #socket: TLSSocket;

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    // As Node does for a session on a TLS socket (RFC 9113, 9.2.1).
    socket.disableRenegotiation();
    // A client that sends no more gets no more.
    socket.once('end', () => socket.destroy());
  }

  on(event: string, listener: Listener): this {
    this.#socket.on(event, listener);
    return this;
  }

  once(event: string, listener: Listener): this {
    // At the end of the input Node would end its side too, and fail when the session still writes.
    if (event !== 'end') this.#socket.once(event, listener);
    return this;
  }

  removeListener(event: string, listener: Listener): this {
    this.#socket.removeListener(event, listener);
    return this;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
  }

  write(chunk: Uint8Array, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  end(done: () => void): void {
    this.#socket.end(done);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
