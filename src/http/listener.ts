import { constants } from 'node:crypto';
import { type IncomingMessage, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Clock, encodeText } from '../meta/index.ts';
import { type Connection, type Connections, createConnections } from './connections.ts';
import type { Log } from './log.ts';
import type { ConnectionCounts } from './metrics.ts';
import { type NodeMessage, NodeRequest, type NodeRequestOptions } from './node-request.ts';
import { breakOff, writeHttp1, writeHttp2 } from './node-response.ts';
import { Shares } from './shares.ts';
import { sendMessages, upgradeConnection } from './tunnel.ts';
import type { ApiResponse, Handler } from './types.ts';

/** Limits of what one client can use, and for how long. Times in milliseconds. */
export interface ListenerLimits {
  /**
   * Connections. An idle one takes about 32 KB over HTTP/1.1 and 55 KB over HTTP/2, nearly all of it in Node. One
   * address may have no more of them than remain free for all others.
   */
  readonly connections: number;
  /** Concurrent streams of an HTTP/2 connection. */
  readonly streams: number;
  /** Header fields of a request; their size has Node's limit of 16 KiB. */
  readonly headers: number;
  /** From a connection to the end of its TLS handshake. */
  readonly handshakeMs: number;
  /** From the connection, or the end of its previous request, to the end of the next request's headers. */
  readonly headersMs: number;
  /** For a body that is read as a whole, and for the rest of one after the response was sent. */
  readonly bodyMs: number;
  /** A body that is read as a whole fails with 408 unless `paceBytes` arrive in each `paceMs`. */
  readonly paceMs: number;
  readonly paceBytes: number;
  /** How long a connection may be idle. */
  readonly keepAliveMs: number;
  /** How long a client may read nothing of a response that is being sent. */
  readonly stallMs: number;
}

const defaultLimits: ListenerLimits = {
  connections: 30_000,
  streams: 100,
  headers: 100,
  handshakeMs: 10_000,
  headersMs: 15_000,
  bodyMs: 60_000,
  paceMs: 10_000,
  paceBytes: 16 * 1024,
  keepAliveMs: 90_000,
  stallMs: 30_000,
};

export interface ListenerOptions {
  readonly handler: Handler;
  readonly address: string;
  /** 0: any free port. */
  readonly port: number;
  /** PEM. Client certificates are requested if there is a client CA, whose names clients are told; any is accepted. */
  readonly tls: { readonly cert: string; readonly key: string; readonly clientCa?: string };
  readonly clock: Clock;
  readonly log: Pick<Log, 'error'>;
  readonly limits?: Partial<ListenerLimits>;
}

export interface Listener {
  readonly address: string;
  readonly port: number;
  /** The number of open connections. */
  readonly connections: number;
  readonly counts: () => ConnectionCounts;
  /**
   * The number of connections on which a handler has still to respond. After `close` also those whose client may not know
   * yet that it must open no more streams: at 0, no more requests reach the handler.
   */
  readonly busy: number;
  /** Replaces the certificate and the client CA for new connections. */
  renew(tls: ListenerOptions['tls']): void;
  /**
   * Accepts no more connections, lets the requests in flight finish, sends GOAWAY over HTTP/2 and closes idle
   * connections. What is left after `graceMs` is aborted. Watches must be closed by the caller.
   */
  close(graceMs: number): Promise<void>;
}

/** Serves HTTP/1.1 and HTTP/2 over TLS 1.2 or later on one port. Rejects if it cannot listen there. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const limits = { ...defaultLimits, ...options.limits };
  const server = createSecureServer({ ...serverOptions(limits), ...tlsOptions(options.tls) });
  configureHttp1(server, limits);
  const { clock } = options;
  const connections = createConnections(clock);
  const { bodyMs, paceMs, paceBytes } = limits;
  const bodies = { clock, bodyMs, pace: { ms: paceMs, bytes: paceBytes } };
  const counts = { refused: 0, failedHandshakes: 0 };
  accept(server, { ...options, limits, connections, bodies, counts });
  await bind(server, options);
  const bound = server.address() as AddressInfo;
  return {
    address: bound.address,
    port: bound.port,
    get connections() {
      return connections.size;
    },
    counts: () => ({ open: connections.size, ...counts }),
    get busy() {
      return connections.busy;
    },
    renew: (tls) => server.setSecureContext(tlsOptions(tls)),
    async close(graceMs) {
      const stopped = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      await connections.close(graceMs);
      await stopped;
    },
  };
}

/** What requests are served with. */
interface Serving extends Pick<ListenerOptions, 'handler' | 'clock' | 'log'> {
  readonly limits: ListenerLimits;
  readonly connections: Connections;
  readonly bodies: NodeRequestOptions;
  readonly counts: { refused: number; failedHandshakes: number };
}

/** Serves new connections. An error on one closes that one only. */
function accept(server: Http2SecureServer, serving: Serving): void {
  const { limits, connections, log, counts } = serving;
  const guarded = (owner: { destroy(): void }, work: () => void) => {
    try {
      work();
    } catch (error) {
      log.error('a connection failed', { error });
      owner.destroy();
    }
  };
  const places = new Shares(limits.connections);
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    if (!places.fits(remoteAddress, 1, false)) {
      counts.refused++;
      socket.destroy();
      return;
    }
    places.take(remoteAddress, 1);
    socket.once('close', () => places.give(remoteAddress, 1));
  });
  server.on('tlsClientError', () => void counts.failedHandshakes++);
  let opened: ServerHttp2Session | undefined;
  server.on('session', (session) => {
    opened = session;
  });
  server.on('secureConnection', (socket: TLSSocket) =>
    guarded(socket, () => {
      // The `session` event of this socket was emitted just before.
      const session = socket.alpnProtocol === 'h2' ? opened : undefined;
      opened = undefined;
      if (socket.destroyed) return;
      const connection = connections.add(socket, session);
      session?.on('error', ignore);
      session?.setTimeout(limits.keepAliveMs);
      session?.on('timeout', () => {
        if (connection.requests.size === 0) connection.destroy();
        else session.setTimeout(limits.keepAliveMs);
      });
    }),
  );
  server.on('sessionError', ignore);
  server.on('request', (message, out) => {
    const owner = 'stream' in out ? out.stream.session : message.socket;
    const connection = owner === undefined ? undefined : connections.of(owner);
    if (connection === undefined || connection.ended) out.destroy();
    else guarded(connection, () => serve(serving, connection, message, out));
  });
  server.on('upgrade', (message: IncomingMessage, socket: TLSSocket, head: Buffer) => {
    const connection = connections.of(socket);
    socket.on('error', ignore);
    // A response that is being sent would mix with the new protocol.
    if (connection === undefined || connection.requests.size > 0) socket.destroy();
    else guarded(connection, () => serveUpgrade(serving, connection, message, socket, head));
  });
}

function serve(
  { handler, clock, limits, connections, bodies, log }: Serving,
  connection: Connection,
  message: NodeMessage,
  out: ServerResponse | Http2ServerResponse,
): void {
  const request = new NodeRequest(message, connection.peer, bodies);
  connection.begin(request);
  message.on('error', ignore);
  const answer = 'stream' in out ? out.stream : out;
  answer.once('close', () => connection.end(request));
  if ('rstCode' in answer) {
    // A stream that its client reset without an error would wait until its request is read.
    answer.once('aborted', () => process.nextTick(() => answer.destroy()));
    if (answer.endAfterHeaders) answer.resume();
  }
  if (connection.requests.size > 1) connection.allowPause();
  const respond = (response: ApiResponse, last = connections.closing) => {
    request.answered = true;
    if (!message.complete) {
      answer.once('finish', () => {
        // A stream stays open while its client goes on sending, but the request has ended.
        if ('rstCode' in answer) connection.end(request);
        dismiss(message, clock, limits.bodyMs);
      });
    }
    const options = { clock, stallMs: limits.stallMs, last, connection, request };
    if ('rstCode' in answer) {
      if (!answer.closed) writeHttp2(response, answer, options);
    } else if (!answer.destroyed) {
      if (!isSmall(response)) connection.allowPause();
      writeHttp1(response, answer, options);
    }
  };
  const refused = refusedHead(message, limits);
  if (refused !== undefined) {
    respond(refused, true);
    return;
  }
  handler(request)
    .then((response) => respond(response))
    .catch((error: unknown) => {
      log.error('failed to send a response', { method: request.method, error });
      breakOff(answer);
    });
}

/** The error response to too many headers or to several Host headers (RFC 9112, 3.2). */
function refusedHead({ rawHeaders }: NodeMessage, limits: ListenerLimits): ApiResponse | undefined {
  if (rawHeaders.length > 2 * limits.headers) return tooManyHeaders;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host' && ++hosts > 1) return severalHosts;
  }
  return undefined;
}

/** Whether a response fits into the buffers of a connection. */
const isSmall = ({ body }: ApiResponse): boolean =>
  (typeof body === 'string' || body instanceof Uint8Array) && body.length <= 8 * 1024;

/** Closes the connection unless the rest of the body arrives in time after the response. */
function dismiss(message: NodeMessage, clock: Clock, bodyMs: number): void {
  if (message.complete) return;
  message.once(
    'close',
    clock.after(bodyMs, () => message.destroy()),
  );
}

/** Serves a request for an upgrade, which is the last HTTP request of its connection. */
function serveUpgrade(
  { handler, clock, limits, bodies, log }: Serving,
  connection: Connection,
  message: IncomingMessage,
  socket: TLSSocket,
  head: Buffer,
): void {
  const request = new NodeRequest(message, connection.peer, { ...bodies, upgrades: true });
  // Ends with the connection.
  connection.begin(request);
  const out = new ServerResponse(message);
  out.on('error', ignore);
  try {
    out.assignSocket(socket);
  } catch {
    // Another response still uses it and would mix with the new protocol.
    socket.destroy();
    return;
  }
  out.once('finish', () => socket.destroySoon());
  // The HTTP server no longer handles the events of the socket.
  socket.on('drain', () => out.emit('drain'));
  const options = { clock, stallMs: limits.stallMs, last: true, connection, request };
  const respond = (response: ApiResponse) => {
    if (!socket.destroyed) writeHttp1(response, out, options);
  };
  const { headers } = message;
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  const refused = hasBody ? bodyWithUpgrade : refusedHead(message, limits);
  if (refused !== undefined) {
    respond(refused);
    return;
  }
  let tunnel: Socket | undefined;
  handler(request)
    .then((response) => {
      tunnel = response.tunnel;
      request.answered = true;
      if (response.status !== 101) return respond(response);
      out.detachSocket(socket);
      if (head.length > 0) socket.unshift(head);
      if (tunnel === undefined) sendMessages(socket, response, options, () => connection.end(request));
      else upgradeConnection(socket, response, tunnel, clock);
    })
    .catch((error: unknown) => {
      log.error('failed to send a response', { method: request.method, error });
      socket.destroy();
      tunnel?.destroy();
    });
}

const tooManyHeaders: ApiResponse = {
  status: 431,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: encodeText('Too many header fields\n'),
};

const severalHosts: ApiResponse = {
  status: 400,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: encodeText('Too many Host headers\n'),
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
    ciphers: cipherSuites,
    handshakeTimeout: limits.handshakeMs,
    noDelay: true,
    // Detects clients that have vanished during a long-running request.
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    maxHeaderListPairs: limits.headers + 4,
    // Room for a chunk of a list on each of some hundred streams (MB).
    maxSessionMemory: 128,
    settings: { maxConcurrentStreams: limits.streams, maxHeaderListSize: 16 * 1024 },
  } as const;
}

/** AEAD ciphers with forward secrecy only. */
const cipherSuites = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

function tlsOptions(tls: ListenerOptions['tls']) {
  // Without a client CA no certificate is requested: Node would verify it against the system's certificate authorities.
  const { cert, key, clientCa: ca } = tls;
  // A resumed session would know the client's certificate only, and not the intermediate ones that came with it.
  const secureOptions = constants.SSL_OP_NO_TICKET;
  if (ca === undefined) return { cert, key, secureOptions };
  return { cert, key, secureOptions, ca, requestCert: true, rejectUnauthorized: false };
}

/** The settings of Node's HTTP/1.1 server that its two-protocol server reads as properties. */
function configureHttp1(server: Http2SecureServer, limits: ListenerLimits): void {
  Object.assign(server, {
    headersTimeout: limits.headersMs,
    // NodeRequest has its own timeouts for bodies.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(5_000, limits.headersMs),
    keepAliveTimeout: limits.keepAliveMs,
    requireHostHeader: true,
    // Counted by `refusedHead`. Node's own limit silently drops headers or, in newer versions, responds otherwise
    // than over HTTP/2.
    maxHeadersCount: 0,
    // Some versions (22.21.0) call this on every server and fail on one for two protocols, which does not have it.
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
