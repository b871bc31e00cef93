import type { Http2SecureServer } from 'node:http2';
import type { TLSSocket } from 'node:tls';

/**
 * On Node 20, connects the HTTP/2 sessions of a server to their sockets through JavaScript. Must be called before listeners
 * of `secureConnection` are added.
 *
 * Node connects the HTTP/2 engine to the TLS socket in native code, where a write may fail while the engine reads. On Node 20
 * the engine then reads the same input twice, which corrupts its memory or fails an assertion: a client that disconnects
 * could end the process. Through JavaScript, a write ends in a later turn of the event loop.
 */
export function separateSessions(server: Http2SecureServer): void {
  if (!process.versions.node.startsWith('20.')) return;
  const [accept] = server.listeners('secureConnection') as ((socket: TLSSocket | SessionSocket) => void)[];
  if (accept === undefined) throw new Error('Node has no listener for TLS connections');
  server.removeListener('secureConnection', accept as (socket: TLSSocket) => void);
  server.on('secureConnection', (socket) => {
    accept.call(server, socket.alpnProtocol === 'h2' ? new SessionSocket(socket) : socket);
  });
}

type Listener = (...values: unknown[]) => void;

/** The TLS socket of a session, without the native handle by which Node would connect the two directly. */
class SessionSocket {
  readonly alpnProtocol = 'h2';
  readonly encrypted = true;
  readonly readable = true;
  readonly writable = true;
  readonly #socket: TLSSocket;

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    // Node does this for a session that has the TLS socket itself (RFC 9113, 9.2.1).
    socket.disableRenegotiation();
    // A client that closes its side is disconnected.
    socket.once('end', () => socket.destroy());
  }

  on(event: string, listener: Listener): this {
    this.#socket.on(event, listener);
    return this;
  }

  once(event: string, listener: Listener): this {
    // Node would close its own side at the end of the input, and fail when the session writes after that.
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
