import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Clock, clientNetwork, encodeText, scheduler, socketAddress } from '../../meta/index.ts';
import { FairLimit } from '../limits.ts';
import type { Log } from '../log.ts';
import type { ConnectionCounts } from '../metrics/request-metrics.ts';
import { sendMessages, upgradeConnection } from '../relay/tunnel.ts';
import type { ApiResponse, Handler, RequestHeaders } from '../types.ts';
import { Arrivals } from './arrivals.ts';
import { type Connection, type Connections, createConnections } from './connections.ts';
import { Handshakes } from './handshakes.ts';
import { hasBody } from './http1-message.ts';
import {
  configureHttp1,
  connectionOptions,
  defaultLimits,
  type ListenerLimits,
  serverOptions,
  type TlsFiles,
  tlsOptions,
} from './listener-options.ts';
import { LoopTurns } from './loop-turns.ts';
import { type NodeMessage, NodeRequest, type NodeRequestOptions, type RequestHead } from './node-request.ts';
import { breakOff, isSmall, writeHttp1, writeHttp2 } from './node-response.ts';
import { separateSessions } from './session-socket.ts';

export interface ListenerOptions {
  readonly handler: Handler;
  readonly address: string;
  /** 0: any free port. Undefined: none, and connections come by `take`. */
  readonly port: number | undefined;
  /** Offers each accepted connection to another process, before its handshake. True: another one has taken it. */
  readonly assign?: ((socket: Socket) => boolean) | undefined;
  readonly tls: TlsFiles;
  /** Whether HTTP/2 is offered. Default: true. */
  readonly http2?: boolean | undefined;
  readonly clock: Clock;
  readonly log: Pick<Log, 'error'>;
  readonly limits?: Partial<ListenerLimits>;
  /** The limit of file descriptors of the process, half of which connections may take. Default: none. */
  readonly maxFiles?: number | undefined;
}

export interface Listener {
  /** Where it listens; empty, and port 0, without a port. */
  readonly address: string;
  readonly port: number;
  /** Serves a connection that another process has accepted. */
  take(socket: Socket): void;
  /** The number of open connections. */
  readonly connections: number;
  readonly counts: () => ConnectionCounts;
  /**
   * The number of connections on which a handler has still to respond. After `close` also those whose client may not know
   * yet that it must open no more streams: at 0, no more requests reach the handler.
   */
  readonly busy: number;
  /** Replaces the certificate and the client CA for new connections. */
  renew(tls: TlsFiles): void;
  /**
   * Accepts no more connections, lets the requests in flight finish, sends GOAWAY over HTTP/2 and closes idle
   * connections and those in their TLS handshake. What is left after `graceMs` is aborted. Watches must be closed by the caller.
   */
  close(graceMs: number): Promise<void>;
}

/** Serves HTTP/1.1 and, unless it is disabled, HTTP/2 over TLS 1.2 or later on one port. Rejects if it cannot listen there. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const configured = { ...defaultLimits, ...options.limits };
  const { maxFiles = Number.POSITIVE_INFINITY } = options;
  const limits = { ...configured, connections: Math.min(configured.connections, Math.floor(maxFiles / 2)) };
  const server = createSecureServer({ ...serverOptions(limits, options.http2), ...tlsOptions(options.tls) });
  configureHttp1(server, limits);
  separateSessions(server);
  const { clock } = options;
  const loop = new LoopTurns();
  const counts = { refused: 0, flooded: 0, failedHandshakes: 0 };
  const arrivals = new Arrivals(scheduler, loop);
  const connections = createConnections({
    clock,
    loop,
    arrivals,
    exceeded: () => void counts.flooded++,
    keepAliveMs: limits.keepAliveMs,
  });
  const { bodyMs, paceMs, paceBytes } = limits;
  const bodies = { clock, bodyMs, pace: { ms: paceMs, bytes: paceBytes } };
  accept(server, { ...options, limits, connections, arrivals, bodies, counts });
  const front = options.assign === undefined ? server : frontOf(server, options.assign);
  if (options.port !== undefined) await bind(front, options.port, options.address);
  const { address, port } = (front.address() as AddressInfo | null) ?? unbound;
  return {
    address,
    port,
    take: (socket) => void server.emit('connection', socket),
    get connections() {
      return connections.size;
    },
    counts: () => ({ open: connections.size, ...counts }),
    get busy() {
      return connections.busy;
    },
    renew: (tls) => server.setSecureContext(tlsOptions(tls)),
    async close(graceMs) {
      // A server in front would also wait for the connections of other processes.
      if (front !== server) front.close();
      const stopped = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      await connections.close(graceMs);
      await stopped;
    },
  };
}

/** The dependencies of requests. */
interface Serving extends Pick<ListenerOptions, 'handler' | 'clock' | 'log'> {
  readonly limits: ListenerLimits;
  readonly connections: Connections;
  readonly arrivals: Arrivals;
  readonly bodies: NodeRequestOptions;
  readonly counts: { refused: number; flooded: number; failedHandshakes: number };
}

/** Serves new connections. An error on one closes that one only. */
function accept(server: Http2SecureServer, serving: Serving): void {
  const { limits, clock, connections, log, counts } = serving;
  const guarded = (owner: { destroy(): void }, work: () => void) => {
    try {
      work();
    } catch (error) {
      log.error('a connection failed', { error });
      owner.destroy();
    }
  };
  const places = new FairLimit(limits.connections);
  const handshakes = new Handshakes(clock, scheduler, { patienceMs: limits.handshakeMs });
  server.on('connection', (socket: Socket) => {
    const network = clientNetwork(socketAddress(socket));
    if (!places.tryTake(network, 1)) {
      counts.refused++;
      socket.destroy();
      return;
    }
    socket.once('close', () => places.release(network, 1));
    // TLS begins to read it in the next tick.
    process.nextTick(() => handshakes.begin(socket));
  });
  server.on('tlsClientError', () => void counts.failedHandshakes++);
  const acceptStreams = (session: ServerHttp2Session, connection: Connection) => {
    session.on('error', ignore);
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _: number, rawHeaders: string[]) => {
      stream.on('error', ignore);
      // The client has reset it in the same piece of input.
      if (stream.destroyed) connection.resetAtOnce();
      else if (connection.ended) stream.destroy();
      else if (connections.closing && connection.told) refuse(stream);
      else guarded(connection, () => serveStream(serving, connection, stream, headers, rawHeaders));
    });
    session.setTimeout(limits.keepAliveMs);
    session.on('timeout', () => {
      if (connection.requests.length === 0) connection.destroy();
      else session.setTimeout(limits.keepAliveMs);
    });
  };
  let opened: ServerHttp2Session | undefined;
  server.on('session', (session) => {
    opened = session;
  });
  server.on('secureConnection', (socket: TLSSocket) =>
    guarded(socket, () => {
      // The `session` event of this socket was emitted just before.
      const session = socket.alpnProtocol === 'h2' ? opened : undefined;
      opened = undefined;
      handshakes.end(socket);
      if (socket.destroyed) return;
      const connection = connections.add(socket, session);
      if (session !== undefined) acceptStreams(session, connection);
    }),
  );
  server.on('sessionError', ignore);
  server.on('request', (message: IncomingMessage, out: ServerResponse) => {
    const connection = connections.of(message.socket);
    message.on('error', ignore);
    if (connection === undefined || connection.ended) out.destroy();
    else guarded(connection, () => serve(serving, connection, message, message, out));
  });
  // The listener of Node makes each stream a request and a response of HTTP/1.1.
  server.removeAllListeners('stream');
  server.on('upgrade', (message: IncomingMessage, socket: TLSSocket, head: Buffer) => {
    const connection = connections.of(socket);
    socket.on('error', ignore);
    // A response that is being sent would mix with the new protocol.
    if (connection === undefined || connection.requests.length > 0) socket.destroy();
    else guarded(connection, () => serveUpgrade(serving, connection, message, socket, head));
  });
}

/** Serves a stream of HTTP/2. Node leaves CONNECT and expectations (RFC 9110, 10.1.1) to its users. */
function serveStream(
  serving: Serving,
  connection: Connection,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): void {
  const { ':method': method, ':path': url } = headers as RequestHeaders;
  const { expect } = headers;
  if (method === 'CONNECT') stream.respond({ ':status': 405 }, { endStream: true });
  else if (expect !== undefined && expect !== '100-continue') stream.respond({ ':status': 417 }, { endStream: true });
  else {
    if (expect !== undefined) stream.additionalHeaders({ ':status': 100 });
    serve(serving, connection, { method, url, headers, rawHeaders }, stream, stream);
  }
}

/** Called as a listener. A closure would be held as long as the stream. */
function destroySoon(this: ServerHttp2Stream): void {
  process.nextTick(() => this.destroy());
}

function serve(
  { handler, clock, limits, connections, arrivals, bodies, log }: Serving,
  connection: Connection,
  head: RequestHead,
  message: NodeMessage,
  answer: ServerResponse | ServerHttp2Stream,
): void {
  const request = new NodeRequest(head, message, connection, bodies);
  connection.begin(request);
  if ('rstCode' in answer) {
    const began = clock.monotonic();
    answer.once('close', () => {
      connection.end(request);
      if (answer.aborted || answer.rstCode !== constants.NGHTTP2_NO_ERROR) connection.reset(began);
    });
    // A stream that its client reset without an error would wait until its request is read.
    answer.once('aborted', destroySoon);
  } else answer.once('close', () => connection.end(request));
  if (connection.requests.length > 2) connection.allowPause();
  const respond = (response: ApiResponse, last = connections.closing) => {
    request.answered = true;
    request.user = response.turns?.owner;
    const isArriving = !request.complete && request.coming > 0;
    if (!request.complete) {
      // Node would drop the rest unseen.
      if (isArriving) request.discard();
      answer.once('finish', () => {
        // A stream stays open while its client goes on sending, but the request has ended.
        if ('rstCode' in answer) connection.end(request);
        if (!request.complete) dismiss(message, clock, limits.bodyMs);
      });
    }
    const options = { clock, stallMs: limits.stallMs, last, connection, request };
    if ('rstCode' in answer) {
      const write = () => {
        if (!answer.closed) writeHttp2(response, answer, options);
      };
      if (isArriving && response.status >= 400 && isSmall(response)) afterBody(message, clock, write);
      else write();
    } else if (!answer.destroyed) {
      if (!isSmall(response, connection.requests.length === 1 ? 8 * 1024 : 4 * 1024)) connection.allowPause();
      writeHttp1(response, answer, options);
    }
  };
  const refused = refusedHead(head, limits);
  if (refused !== undefined) {
    respond(refused, true);
    return;
  }
  const fail = (error: unknown) => {
    log.error('failed to send a response', { method: request.method, error });
    breakOff(answer);
  };
  arrivals.begin(connection.user, () => {
    // Its client has reset it, or the connection has ended.
    if (connection.ended || !connection.requests.includes(request)) return;
    try {
      handler(request).then(respond).catch(fail);
    } catch (error) {
      fail(error);
    }
  });
}

/** Tells the client that a stream has not been processed, and may be sent again on another connection (RFC 9113, 8.7). */
function refuse(stream: ServerHttp2Stream): void {
  stream.on('error', ignore);
  stream.close(constants.NGHTTP2_REFUSED_STREAM);
  stream.resume();
}

/** The error response to too many headers or to several Host headers (RFC 9112, 3.2). */
function refusedHead({ rawHeaders }: RequestHead, limits: ListenerLimits): ApiResponse | undefined {
  if (rawHeaders.length > 2 * limits.headers) return tooManyHeaders;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host' && ++hosts > 1) return severalHosts;
  }
  return undefined;
}

/** How long a refusal over HTTP/2 waits for the rest of the body that it refuses (ms). */
const refusalMs = 1_000;

/**
 * Calls back once the rest of the body has arrived, which must be read, or after a second. When a response ends before
 * its request, Node counts the stream for longer than its client does, and rejects the stream that its client opens next.
 */
function afterBody(message: NodeMessage, clock: Clock, callback: () => void): void {
  let called = false;
  const call = () => {
    if (called) return;
    called = true;
    cancel();
    callback();
  };
  const cancel = clock.after(refusalMs, call);
  message.once('end', call);
  message.once('close', call);
}

/** Closes the connection unless the rest of the body arrives in time after the response. */
function dismiss(message: NodeMessage, clock: Clock, bodyMs: number): void {
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
  const request = new NodeRequest(message, message, connection, { ...bodies, upgrades: true });
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
  const refused = hasBody(message.headers) ? bodyWithUpgrade : refusedHead(message, limits);
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

/** A server that accepts connections for `server` and for other processes. They are not read before they are assigned. */
function frontOf(server: Http2SecureServer, assign: (socket: Socket) => boolean): Server {
  const options = { ...connectionOptions, pauseOnConnect: true };
  return createServer(options, (socket) => {
    if (!assign(socket)) server.emit('connection', socket);
  });
}

function bind(server: Http2SecureServer | Server, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, () => {
      server.off('error', reject);
      server.on('error', ignore);
      resolve();
    });
  });
}

const unbound = { address: '', port: 0 };

const ignore = () => {};
