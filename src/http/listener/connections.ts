import { constants, type ServerHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../meta/index.ts';
import type { Peer } from '../types.ts';
import type { Arrivals } from './arrivals.ts';
import { Bursts } from './bursts.ts';
import { InputLimits } from './input-limits.ts';
import type { LoopTurns } from './loop-turns.ts';
import type { NodeRequest } from './node-request.ts';
import { breakOff, type Sink } from './node-response.ts';
import { peerOf } from './peer.ts';
import { readingOf } from './reading.ts';
import { Rounds } from './rounds.ts';

/** One accepted connection, of either protocol. */
export interface Connection {
  readonly peer: Peer;
  /** The name of the user of its last request; before it, the network of the client. */
  readonly user: string;
  /** Its requests in flight. Each is notified once of its end, with its response or with the connection. */
  readonly requests: readonly NodeRequest[];
  begin(request: NodeRequest): void;
  end(request: NodeRequest): void;
  /** Must be called once it has closed and all its requests have ended. */
  closed(): void;
  /** Counts a piece of a body. */
  received(bytes: number): void;
  /** Counts a stream that its client has opened and reset in the same piece of input. */
  resetAtOnce(): void;
  /** Counts a stream that was reset; `began` is monotonic. */
  reset(began: number): void;
  /** Must be called before responses can fill an HTTP/1.1 connection: from then on Node can pause it. */
  allowPause(): void;
  /** Aborts a response that its client does not read, and all others of the connection if none makes progress. */
  cutOff(answer: Sink, clock: Clock): void;
  /** Accepts no more requests; closes once those in flight have ended. */
  finish(): void;
  destroy(): void;
  /** True once it is being closed: a request that still arrives cannot be answered, and must not be served. */
  readonly ended: boolean;
  /** Whether the client has answered the GOAWAY, or has had the time to. Always true over HTTP/1.1. */
  readonly told: boolean;
  /** Whether a handler has not responded yet, or, while the connection is closing, whether requests may still arrive. */
  readonly busy: boolean;
}

/** The connections of a listener, and their end. */
export interface Connections {
  readonly closing: boolean;
  readonly size: number;
  /** How many connections are busy. */
  readonly busy: number;
  add(socket: TLSSocket, session: ServerHttp2Session | undefined): Connection;
  of(key: object): Connection | undefined;
  /** Resolves when all are closed; what is left after `graceMs` is cut off. */
  close(graceMs: number): Promise<void>;
}

export interface ConnectionsOptions {
  readonly clock: Clock;
  readonly loop: LoopTurns;
  readonly arrivals: Arrivals;
  /** Is told of each connection that is ended because its client sends more than it may. */
  readonly exceeded: () => void;
  /** How long a connection may be idle (ms), and how long the client of one with requests may not answer. */
  readonly keepAliveMs: number;
}

export function createConnections(options: ConnectionsOptions): Connections {
  const { clock } = options;
  const rounds = new Rounds(clock);
  const bursts = new Bursts(options.loop);
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
    get busy() {
      return [...open.values()].filter(({ busy }) => busy).length;
    },
    of: (key) => open.get(key),
    add(socket, session) {
      const connection = createConnection(socket, session, { ...options, rounds, bursts });
      const key = session ?? socket;
      open.set(key, connection);
      key.once('close', () => {
        open.delete(key);
        // Responses that wait for their turn on an HTTP/1.1 connection are not notified of its end by Node.
        for (const request of [...connection.requests]) connection.end(request);
        connection.closed();
        if (open.size === 0) whenEmpty?.();
      });
      // Its handshake ended after `close`. `busy` has not counted it: it must not bring requests.
      if (closing) connection.destroy();
      return connection;
    },
    async close(graceMs) {
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

/** The state that the connections of a listener share. */
interface CommonOptions extends ConnectionsOptions {
  readonly rounds: Rounds;
  readonly bursts: Bursts;
}

function createConnection(
  socket: TLSSocket,
  session: ServerHttp2Session | undefined,
  { clock, loop, arrivals, exceeded, rounds, bursts, keepAliveMs }: CommonOptions,
): Connection {
  // Not a set: V8 reallocates one that loses its only member, which would be at each request.
  const requests: NodeRequest[] = [];
  const ends = session === undefined ? endsOf(socket, requests) : endsOfSession(session, socket, requests, clock);
  let finishing = false;
  const finish = (left = false) => {
    finishing = true;
    ends.finish(left);
  };
  const reading = readingOf(socket);
  const peer = peerOf(socket);
  let user = peer.network;
  bursts.add(user, reading);
  const isOf = (next: string) => {
    if (next === user) return;
    bursts.delete(user, reading);
    user = next;
    bursts.add(user, reading);
  };
  const end = (request: NodeRequest) => {
    const place = requests.indexOf(request);
    if (place < 0) return;
    requests.splice(place, 1);
    if (requests.length < mostPipelined) reading.release();
    isOf(request.user ?? user);
    request.end();
    if (finishing) ends.finish(false);
    // A connection that has ended has nothing more to read.
    if (finishing || session !== undefined || requests.length > 0 || ends.ended()) return;
    if (arrivals.holdBack(user, () => reading.release())) reading.hold();
  };
  let flooded = false;
  const exceed = () => {
    if (flooded || ends.ended()) return;
    flooded = true;
    exceeded();
    reading.stop();
    session?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    // Data that was read before may reach the session through JavaScript.
    if (session !== undefined) socket.removeAllListeners('data');
    // Not the session, which may be reading.
    clock.after(tellMs, () => socket.destroy());
  };
  const input = new InputLimits({ pause: () => reading.pause(), exceed }, clock, loop);
  const connection: Connection = {
    peer,
    get user() {
      return user;
    },
    requests,
    begin(request) {
      requests.push(request);
      input.request();
      bursts.arrived(user, reading);
      if (session === undefined && requests.length >= mostPipelined) reading.hold();
    },
    end,
    closed: () => bursts.delete(user, reading),
    received: (bytes) => input.piece(bytes),
    resetAtOnce() {
      if (!flooded && !ends.ended()) bursts.arrived(user, reading);
      input.reset(clock.monotonic());
    },
    reset: (began) => input.reset(began),
    allowPause: ends.allowPause,
    cutOff: ends.cutOff,
    destroy: ends.destroy,
    finish: () => finish(),
    get ended() {
      return flooded || ends.ended();
    },
    get told() {
      return ends.told();
    },
    get busy() {
      return (finishing && !ends.told()) || requests.some(({ answered }) => !answered);
    },
  };
  // Node closes a session when its client sends a GOAWAY, and destroys it when that tells of an error. It then refuses
  // the streams that still come while it reads them, which corrupts its memory or ends the process: a session is never
  // closed, but destroyed once it is idle, and never while it is reading.
  if (session !== undefined) {
    session.close = () => finish(true);
    destroyLater(session);
    const control = () => input.control();
    session.on('ping', control);
    session.on('remoteSettings', control);
    const watchdog = watchdogOf(session, socket, clock, keepAliveMs);
    session.once(
      'close',
      rounds.add(() => {
        input.look(socket, requests.length);
        if (watchdog() === 'gone') ends.destroy();
      }),
    );
    // Node's engine has told its client to go away, and would wait for what the client does not read.
    session.once('error', () => clock.after(reactMs, () => socket.destroy()));
  }
  return connection;
}

interface Ends extends Pick<Connection, 'allowPause' | 'cutOff' | 'destroy'> {
  /** `left`: the client has sent GOAWAY. */
  finish(left: boolean): void;
  ended(): boolean;
  /** Whether the client, after `finish`, must open no more streams. */
  told(): boolean;
}

function endsOf(socket: TLSSocket, requests: readonly NodeRequest[]): Ends {
  let pausable = false;
  return {
    // Node pauses a connection on which a request arrives while answers fill it. Its parser reads from the socket
    // directly, and fails (HPE_PAUSED) on what arrives meanwhile, until somebody listens for data: then it reads what
    // the socket emits, which a pause stops.
    allowPause() {
      if (!pausable) socket.on('data', ignore);
      pausable = true;
    },
    cutOff: () => socket.destroy(),
    finish() {
      if (requests.length === 0) socket.destroySoon();
    },
    destroy: () => socket.destroy(),
    ended: () => socket.writableEnded || socket.destroyed,
    told: () => true,
  };
}

function endsOfSession(
  session: ServerHttp2Session,
  socket: TLSSocket,
  requests: readonly NodeRequest[],
  clock: Clock,
): Ends {
  let goingAway = false;
  let told = false;
  let ended = false;
  const endIfIdle = () => {
    if (!told || requests.length > 0 || session.destroyed) return;
    ended = true;
    session.destroy();
  };
  // All streams that the client has opened before it was told have arrived when it answers.
  const tell = (mostMs: number) => {
    goingAway = true;
    session.goaway(constants.NGHTTP2_NO_ERROR, lastStream);
    const answered = () => {
      cancel();
      told = true;
      setImmediate(endIfIdle);
    };
    const cancel = clock.after(mostMs, answered);
    if (!session.ping(answered)) answered();
  };
  return {
    allowPause: ignore,
    cutOff(answer, clock) {
      const { bytesWritten } = socket;
      breakOff(answer);
      // Not even the end of the stream could be sent: nothing that the session holds will be.
      clock.after(reactMs, () => {
        if (socket.bytesWritten === bytesWritten) socket.destroy();
      });
    },
    // Sends a GOAWAY and ends with the last stream: pending writes are finished first.
    finish(left) {
      if (session.destroyed) return;
      if (goingAway) setImmediate(endIfIdle);
      else tell(left ? leaveMs : reactMs);
    },
    destroy() {
      session.destroy();
      // A session would wait for its pending writes.
      socket.destroy();
    },
    ended: () => ended || session.destroyed || socket.destroyed,
    told: () => told || session.destroyed,
  };
}

/**
 * Tells whether the client of a session is gone. Node's engine does not say so: after bytes that are no frame it reads no
 * more, not even the end of the connection. Whoever sends nothing for a time is pinged, and is gone after that time again.
 */
function watchdogOf(session: ServerHttp2Session, socket: TLSSocket, clock: Clock, patienceMs: number) {
  let seen = socket.bytesRead;
  let since = clock.monotonic();
  let isPinged = false;
  return (): 'there' | 'gone' => {
    const now = clock.monotonic();
    if (socket.bytesRead !== seen) {
      seen = socket.bytesRead;
      since = now;
      isPinged = false;
    } else if (now - since >= patienceMs) {
      if (isPinged) return 'gone';
      isPinged = true;
      since = now;
      if (!session.destroyed) session.ping(ignore);
    }
    return 'there';
  };
}

/** From now on the session is destroyed in a later turn of the event loop. */
function destroyLater(session: ServerHttp2Session): void {
  const destroy = session.destroy.bind(session);
  session.destroy = (...why) => void setImmediate(() => destroy(...why));
}

/**
 * The last stream of a GOAWAY that tells a client to open no more streams. The number of the last stream that has arrived
 * would tell it to send again what is under way and will be served.
 */
const lastStream = 2 ** 31 - 1;

/** How long the end of a stream may take on a connection that makes progress, or the answer to a GOAWAY (ms). */
const reactMs = 1_000;

/** Requests of an HTTP/1.1 connection whose responses are still to be sent, after which it is not read. */
const mostPipelined = 100;

/** Time in which a client can read why its connection ends (ms). */
const tellMs = 50;

/** For how long streams are expected of a client that has sent GOAWAY (ms): Node sends it before those it has opened. */
const leaveMs = 100;

const ignore = () => {};
