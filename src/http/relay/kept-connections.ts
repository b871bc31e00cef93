import type { ClientRequest } from 'node:http';
import type { Agent, RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect } from 'node:tls';
import { peerTurns } from '../../meta/index.ts';
import type { EndpointTls } from './dial.ts';
import { PacedAgent } from './paced-agent.ts';
import { PacedSocket } from './paced-socket.ts';

/** Maximum number of idle connections to one address, and to all addresses of all servers. */
const maxIdleThere = 16;
const maxIdle = 256;
/** How long a connection may be idle (ms), unless the server closes it earlier or says that it will. */
const idleMs = 90_000;

/** The connections to one server with the same trust and client certificate. They stay open for further requests. */
class ServerConnections extends PacedAgent {
  readonly certificate: unknown;
  readonly #idle: Set<Duplex>;
  #closed = false;

  /** `idle`: the idle connections to all servers. */
  constructor(tls: EndpointTls, certificate: unknown, idle: Set<Duplex>) {
    super({ ...tls, keepAlive: true, maxFreeSockets: maxIdleThere, timeout: idleMs });
    this.certificate = certificate;
    this.#idle = idle;
  }

  override getName({ host, port }: RequestOptions = {}): string {
    return `${host} ${port}`;
  }

  override createConnection({ timeout: _, ...options }: RequestOptions): PacedSocket {
    const socket = new PacedSocket(connect(options as ConnectionOptions), peerTurns(this.getName(options)));
    socket.once('close', () => this.#idle.delete(socket));
    return socket;
  }

  override keepSocketAlive(socket: PacedSocket): boolean {
    if (!super.keepSocketAlive(socket) || this.#closed || this.#idle.size >= maxIdle) return false;
    this.#idle.add(socket);
    return true;
  }

  override reuseSocket(socket: PacedSocket, request: ClientRequest): void {
    this.#idle.delete(socket);
    socket.setTimeout(0);
    super.reuseSocket(socket, request);
  }

  /** Closes the idle connections now, and those in use after their response. */
  close(): void {
    this.#closed = true;
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }
}

/**
 * The connections to servers that are kept open between requests. A server is an object that stands for its address and its
 * trust: no connection is used for another one.
 */
export class KeptConnections<Server extends object> {
  readonly #tlsOf: (server: Server) => EndpointTls;
  readonly #certificate: () => unknown;
  readonly #servers = new WeakMap<Server, ServerConnections>();
  readonly #idle = new Set<Duplex>();

  /** `certificate`: the client certificate in the TLS options, an object that changes with it. */
  constructor(tlsOf: (server: Server) => EndpointTls, certificate: () => unknown) {
    this.#tlsOf = tlsOf;
    this.#certificate = certificate;
  }

  /** The agent for requests to a server. */
  of(server: Server): Agent {
    const certificate = this.#certificate();
    const known = this.#servers.get(server);
    if (known !== undefined && known.certificate === certificate) return known;
    known?.close();
    const made = new ServerConnections(this.#tlsOf(server), certificate, this.#idle);
    this.#servers.set(server, made);
    return made;
  }

  /** Closes the connections to a server, those in use after their response: its address may be another one from now on. */
  disconnect(server: Server): void {
    this.#servers.get(server)?.close();
    this.#servers.delete(server);
  }

  /** Closes all idle connections. */
  close(): void {
    for (const socket of this.#idle) socket.destroy();
  }
}
