import { type IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, type Http2SecureServer, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Clock, encodeText } from '../meta/index.ts';
import { type Connection, createConnections } from './connections.ts';
import { type NodeMessage, NodeRequest } from './node-request.ts';
import { writeHttp1, writeHttp2 } from './node-response.ts';
import { goOver } from './tunnel.ts';
import type { ApiResponse, Handler } from './types.ts';

/** What a client can make the listener hold on to, and for how long. Times in milliseconds. */
export interface ListenerLimits {
  readonly connections: number;
  /** Streams at once on one HTTP/2 connection. */
  readonly streams: number;
  readonly headers: number;
  readonly handshakeMs: number;
  readonly headersMs: number;
  readonly bodyMs: number;
  readonly keepAliveMs: number;
  /** How long a client may take nothing of an answer that is under way. */
  readonly stallMs: number;
}

const defaultLimits: ListenerLimits = {
  connections: 10_000,
  streams: 1_000,
  headers: 100,
  handshakeMs: 10_000,
  headersMs: 15_000,
  bodyMs: 60_000,
  keepAliveMs: 90_000,
  stallMs: 60_000,
};

export interface ListenerOptions {
  readonly handler: Handler;
  readonly address: string;
  /** 0: any free port. */
  readonly port: number;
  /** PEM. Client certificates are asked for when there is a client CA. */
  readonly tls: { readonly cert: string; readonly key: string; readonly clientCa?: string };
  readonly clock: Clock;
  readonly limits?: Partial<ListenerLimits>;
}

export interface Listener {
  readonly address: string;
  readonly port: number;
  /** Connections that are open. */
  readonly connections: number;
  /** Replaces certificate and client CA for connections to come. */
  renew(tls: ListenerOptions['tls']): void;
  /**
   * Accepts no more connections, lets the requests under way finish, tells HTTP/2 clients to go away, closes idle
   * connections; what is left after `graceMs` is cut off. Watches must be ended by their owner.
   */
  close(graceMs: number): Promise<void>;
}

/** Serves HTTP/1.1 and HTTP/2 over TLS 1.2 or later on one port. Rejects when the port cannot be had. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const limits = { ...defaultLimits, ...options.limits };
  const server = createSecureServer({ ...serverOptions(limits), ...tlsOptions(options.tls) });
  configureHttp1(server, limits);
  const connections = createConnections();
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol !== 'h2' && !socket.destroyed) connections.add(socket, undefined);
  });
  server.on('session', (session) => {
    connections.add(session.socket as TLSSocket, session);
    session.setTimeout(limits.keepAliveMs);
    session.on('timeout', () => {
      if (connections.of(session)?.active === 0) session.destroy();
    });
    session.on('error', ignore);
  });
  server.on('sessionError', ignore);
  const serving: Serving = { ...options, limits, connections };
  server.on('request', (message, out) => {
    const key = 'stream' in out ? out.stream.session : message.socket;
    const connection = key === undefined ? undefined : connections.of(key);
    if (connection === undefined) out.destroy();
    else serve(serving, connection, message, out);
  });
  server.on('upgrade', (message: IncomingMessage, socket: TLSSocket, head: Buffer) => {
    const connection = connections.of(socket);
    if (connection === undefined) socket.destroy();
    else serveUpgrade(serving, connection, message, socket, head);
  });
  await bind(server, options);
  const bound = server.address() as AddressInfo;
  return {
    address: bound.address,
    port: bound.port,
    get connections() {
      return connections.size;
    },
    renew: (tls) => server.setSecureContext(tlsOptions(tls)),
    async close(graceMs) {
      const stopped = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      await connections.close(graceMs, options.clock);
      await stopped;
    },
  };
}

/** What a request is served with. */
interface Serving extends Pick<ListenerOptions, 'handler' | 'clock'> {
  readonly limits: ListenerLimits;
  readonly connections: { readonly closing: boolean };
}

function serve(
  { handler, clock, limits, connections }: Serving,
  connection: Connection,
  message: NodeMessage,
  out: ServerResponse | Http2ServerResponse,
): void {
  connection.active += 1;
  const answer = 'stream' in out ? out.stream : out;
  answer.once('close', () => {
    connection.active -= 1;
    if (connections.closing) connection.finish();
  });
  message.on('error', ignore);
  const respond = (response: ApiResponse, last = connections.closing) => {
    if (!message.complete) out.once('finish', () => dismiss(message, clock, limits.bodyMs));
    const write = { clock, stallMs: limits.stallMs, last };
    if ('stream' in out) writeHttp2(response, out.stream, write);
    else writeHttp1(response, out, write);
  };
  if (message.rawHeaders.length > 2 * limits.headers) {
    respond(tooManyHeaders, true);
    return;
  }
  handler(new NodeRequest(message, answer, connection.peer, { clock, bodyTimeoutMs: limits.bodyMs }))
    .then((response) => respond(response))
    .catch(() => out.destroy());
}

/** What still comes of a body when all is answered, nobody waits for long. */
function dismiss(message: NodeMessage, clock: Clock, bodyMs: number): void {
  if (message.complete) return;
  message.once(
    'close',
    clock.after(bodyMs, () => message.destroy()),
  );
}

/** A request after which the connection may go over to another protocol: it is the last one in this protocol anyway. */
function serveUpgrade(
  { handler, clock, limits }: Serving,
  connection: Connection,
  message: IncomingMessage,
  socket: TLSSocket,
  head: Buffer,
): void {
  connection.active += 1;
  socket.on('error', ignore);
  const out = new ServerResponse(message);
  out.assignSocket(socket);
  out.once('finish', () => socket.destroySoon());
  // The server itself no longer looks after the socket.
  socket.on('drain', () => out.emit('drain'));
  const respond = (response: ApiResponse) => writeHttp1(response, out, { clock, stallMs: limits.stallMs, last: true });
  const { headers, rawHeaders } = message;
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  if (rawHeaders.length > 2 * limits.headers || hasBody) {
    respond(hasBody ? bodyWithUpgrade : tooManyHeaders);
    return;
  }
  const request = new NodeRequest(message, socket, connection.peer, {
    clock,
    bodyTimeoutMs: limits.bodyMs,
    upgrades: true,
  });
  handler(request)
    .then((response) => {
      if (response.tunnel === undefined) return respond(response);
      out.detachSocket(socket);
      if (head.length > 0) socket.unshift(head);
      return goOver(socket, response, response.tunnel, clock);
    })
    .catch(() => socket.destroy());
}

const tooManyHeaders: ApiResponse = {
  status: 431,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: encodeText('Too many header fields\n'),
};

const bodyWithUpgrade: ApiResponse = {
  status: 400,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: encodeText('A request that asks for another protocol cannot have a body\n'),
};

function serverOptions(limits: ListenerLimits) {
  return {
    allowHTTP1: true,
    minVersion: 'TLSv1.2',
    handshakeTimeout: limits.handshakeMs,
    noDelay: true,
    // Clients that have vanished while they waited for something are noticed.
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    maxHeaderListPairs: limits.headers + 4,
    // Room for a chunk of a list on each of some hundred streams (MB).
    maxSessionMemory: 128,
    settings: { maxConcurrentStreams: limits.streams, maxHeaderListSize: 16 * 1024 },
  } as const;
}

function tlsOptions(tls: ListenerOptions['tls']) {
  // Without a client CA no certificate is asked for: the machine's own authorities sign nobody's clients here.
  if (tls.clientCa === undefined) return { cert: tls.cert, key: tls.key };
  return { cert: tls.cert, key: tls.key, ca: tls.clientCa, requestCert: true, rejectUnauthorized: false };
}

/** The settings of Node's HTTP/1.1 server that its two-protocol server reads as properties. */
function configureHttp1(server: Http2SecureServer, limits: ListenerLimits): void {
  server.maxConnections = limits.connections;
  Object.assign(server, {
    headersTimeout: limits.headersMs,
    // A body has the time that its reader gives it.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(5_000, limits.headersMs),
    keepAliveTimeout: limits.keepAliveMs,
    // One more than is let through, so that none is dropped in silence.
    maxHeadersCount: limits.headers + 1,
    // Some versions (22.21.0) ask this of every server, and fail where it is one of two protocols that has no answer.
    shouldUpgradeCallback: () => true,
  });
}

function bind(server: Http2SecureServer, options: ListenerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.address, () => {
      server.off('error', reject);
      server.on('error', ignore);
      resolve();
    });
  });
}

const ignore = () => {};
