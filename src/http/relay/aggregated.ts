import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Address, Ask, Question, RemoteServer, RemoteService } from '../../aggregation/index.ts';
import { type Clock, ReceivedBytes, StatusError, statusError, type Turns } from '../../meta/index.ts';
import type { Endpoint } from '../../registry/index.ts';
import { emptyBody, textAnswer } from '../answers.ts';
import type { Call } from '../call.ts';
import { createExchange, type Exchange, StaleConnection } from '../listener/exchange.ts';
import type { RequestInfo } from '../request-info.ts';
import { isLongRunning, timeoutOf } from '../timeout.ts';
import type { ApiRequest, ApiResponse } from '../types.ts';
import { type DialOptions, dialFailure, type EndpointTls } from './dial.ts';
import { KeptConnections } from './kept-connections.ts';
import {
  acceptsAny,
  addressedTo,
  answeredHeaders,
  type IsIdentity,
  relayedBackHeaders,
  relayedHeaders,
  relayedTrailers,
  userHeaders,
} from './proxy-headers.ts';

/** Relays requests to extension API servers. */
export interface AggregatedRelay {
  /** The response of the extension API server to a request of a user. @throws StatusError */
  readonly answer: (call: Call, remote: RemoteServer) => Promise<ApiResponse>;
  /** Sends a request of this server itself. */
  readonly ask: Ask;
  /** Closes the kept connections to an extension API server: its APIService has changed, or its address. */
  readonly disconnect: (service: RemoteService) => void;
  /** Aborts all requests, and closes all connections. */
  close(): void;
}

export interface AggregatedRelayOptions {
  readonly clock: Clock;
  /** The client certificate by which extension API servers recognise this one, in PEM. */
  readonly certificate: () => { readonly cert: string; readonly key: string } | undefined;
  /** Finds the address of an extension API server. Rejects with an Error that says why there is none. */
  readonly locate: (service: RemoteService) => Promise<Address>;
  readonly isIdentity: IsIdentity;
}

/** Timeout of a connection (ms). */
const connectMs = 30_000;
/** Timeout of a response, to its last byte, except that of a watch or an upgraded connection (ms). */
const answerMs = 60_000;
/** Timeout of a request of this server itself (ms). */
const askMs = 5_000;

export function createAggregatedRelay(options: AggregatedRelayOptions): AggregatedRelay {
  const { clock, certificate, locate, isIdentity } = options;
  const exchange = createExchange({ clock, trust: {}, connectMs });
  const tlsOf = (service: RemoteService) => ({ ...certificate(), ...verification(service) });
  const connections = new KeptConnections(tlsOf, certificate);
  const send = createSender(exchange, connections);

  const answer = async (call: Call, { service, available }: RemoteServer): Promise<ApiResponse> => {
    const { request, info, turns } = call;
    const path = pathThere(info);
    const deadline = deadlineOf(call);
    if (!available) return textAnswer(503, 'service unavailable\n');
    const address = await locate(service).catch((error: Error) => unreachable(error.message));
    if ('status' in address) return address;
    const endpoint = endpointAt(address);
    const body = request.upgrades ? undefined : request.stream();
    const headers = relayedHeaders(call, authorityOf(address), path, body !== undefined, isIdentity);
    const timer = startTimer(clock, deadline, request.signal);
    const { method } = request;
    const sent = { method, path, headers, signal: timer.signal, guarded: false, turns, tls: tlsOf(service) };
    try {
      const { incoming, socket } = await send(service, endpoint, sent, body, request.upgrades);
      if (socket !== undefined) {
        timer.cancel();
        return { status: 101, headers: incoming.headers as ApiResponse['headers'], body: emptyBody, tunnel: socket };
      }
      incoming.once('close', timer.cancel);
      return request.upgrades ? refusedUpgrade(incoming) : answered(call, incoming);
    } catch (error) {
      timer.cancel();
      if (timer.isOver()) throw statusError.timeout('request did not complete within the allotted timeout');
      if (error instanceof StatusError) throw error;
      const failure = dialFailure(error as Error, endpoint);
      return request.upgrades
        ? textAnswer(503, `${failure === 'EOF' ? 'unexpected EOF' : failure}\n`)
        : unreachable(failure);
    }
  };

  const ask: Ask = async (service, address, question, turns) => {
    const endpoint = endpointAt(address);
    const timer = startTimer(clock, askMs, undefined);
    const { path, maxBytes } = question;
    const headers = questionHeaders(question, address);
    const sent = { method: 'GET', path, headers, signal: timer.signal, guarded: false, turns, tls: tlsOf(service) };
    try {
      // Many checks fall due together, and each begins with a TLS context of its own.
      if (turns.over) await turns.next();
      const { incoming } = await exchange.begin(endpoint, sent);
      const { statusCode: status = 0, headers: answered } = incoming;
      if (maxBytes === undefined) incoming.destroy();
      const body = maxBytes === undefined ? new Uint8Array() : await wholeBody(incoming, maxBytes, turns);
      return { status, etag: answered.etag ?? '', body };
    } catch (error) {
      const failure = timer.isOver() ? 'context deadline exceeded' : dialFailure(error as Error, endpoint);
      throw new Error(`Get ${JSON.stringify(`https://${authorityOf(address)}${path}`)}: ${failure}`, { cause: error });
    } finally {
      timer.cancel();
    }
  };
  return {
    answer,
    ask,
    disconnect: (service) => connections.disconnect(service),
    close: () => {
      connections.close();
      exchange.close();
    },
  };
}

/** How the certificate of an extension API server is verified. */
const verification = ({ namespace, name, ca, verify }: RemoteService): EndpointTls => ({
  servername: `${name}.${namespace}.svc`,
  rejectUnauthorized: verify,
  // A trusted certificate needs no trusted issuer, as with the reference server.
  ...(ca === '' ? {} : { ca, allowPartialTrustChain: true }),
});

type Body = ReturnType<ApiRequest['stream']>;

/** The methods whose requests change nothing (RFC 9110, 9.2.1). */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Sends relayed requests, all but upgrades over connections that stay open. A request that changes nothing is repeated when
 * such a connection turns out to be closed.
 */
function createSender(exchange: Exchange, connections: KeptConnections<RemoteService>) {
  return async (service: RemoteService, endpoint: Endpoint, options: DialOptions, body: Body, upgrades: boolean) => {
    if (upgrades) return exchange.begin(endpoint, options);
    try {
      return await exchange.begin(endpoint, { ...options, agent: connections.of(service) }, body);
    } catch (error) {
      const mayRepeat = body === undefined && safeMethods.has(options.method);
      if (!mayRepeat || !(error instanceof StaleConnection)) throw error;
      return exchange.begin(endpoint, options);
    }
  };
}

const endpointAt = ({ host, port }: Address): Endpoint => ({ scheme: 'https', host, port, path: '', peer: 'anyone' });

const authorityOf = ({ host, port }: Address): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

const unreachable = (why: string): ApiResponse => textAnswer(503, `error trying to reach service: ${why}\n`);

function questionHeaders({ path, accept, user, forwarded, etag = '' }: Question, address: Address) {
  return {
    ...userHeaders(user),
    host: authorityOf(address),
    'accept-encoding': 'gzip',
    ...(accept === undefined ? {} : { accept }),
    ...(forwarded === true ? addressedTo(authorityOf(address), path) : {}),
    ...(etag === '' ? {} : { 'if-none-match': etag }),
  };
}

/**
 * The path and query that the extension API server is asked for: the path that was authorized, encoded again, so that both servers read
 * the same path. @throws StatusError 400 for segments that might be resolved there: empty ones, `.` and `..`
 */
export function pathThere({ path, query }: Pick<RequestInfo, 'path' | 'query'>): string {
  const segments = path.split('/');
  if (segments.slice(1, -1).includes('') || segments.some((segment) => segment === '.' || segment === '..')) {
    throw statusError.badRequest(
      'the path of a request to an aggregated API must not have empty segments, "." or ".."',
    );
  }
  const encoded = segments.map((segment) =>
    encodeURIComponent(segment).replace(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent),
  );
  if (query.size === 0) return encoded.join('/');
  const sorted = new URLSearchParams(query as URLSearchParams);
  sorted.sort();
  return `${encoded.join('/')}?${sorted.toString()}`;
}

/** The time for a response (ms); undefined for one that may take as long as the client wants. */
function deadlineOf({ request, info }: Call): number | undefined {
  if (info.verb === 'watch' || isLongRunning(request, info)) return undefined;
  return Math.min(timeoutOf(info) ?? answerMs, answerMs);
}

/** A signal that aborts with another one, or after a time (ms). */
function startTimer(clock: Clock, ms: number | undefined, gone: AbortSignal | undefined) {
  const late = new AbortController();
  const cancel = ms === undefined ? () => {} : clock.after(ms, () => late.abort());
  const signal = gone === undefined ? late.signal : AbortSignal.any([gone, late.signal]);
  return { signal, cancel, isOver: () => late.signal.aborted };
}

/** The response to a request that asked for no upgrade. */
function answered({ request }: Call, incoming: IncomingMessage): ApiResponse {
  const { statusCode: status = 502, headers } = incoming;
  if (status >= 300 && status <= 399 && headers.location !== undefined) {
    incoming.destroy();
    return textAnswer(502, 'the backend attempted to redirect this request, which is not permitted');
  }
  // The body of a response to HEAD has no bytes, but an end that must be read.
  if (request.method === 'HEAD') incoming.resume();
  const back = relayedBackHeaders(headers);
  const trailers = request.method === 'HEAD' ? undefined : relayedTrailers(incoming);
  if (!acceptsAny(request.headers) || headers['content-encoding'] !== 'gzip' || request.method === 'HEAD') {
    return { status, headers: back, body: incoming, trailers, waits: true };
  }
  const { 'content-encoding': _, 'content-length': __, ...plain } = back;
  return { status, headers: plain, body: decompressed(incoming), trailers, waits: true };
}

function refusedUpgrade(incoming: IncomingMessage): ApiResponse {
  const { statusCode: status = 0, headers } = incoming;
  if (status >= 400) return { status, headers: answeredHeaders(headers), body: incoming, waits: true };
  incoming.destroy();
  return textAnswer(503, `invalid upgrade response: status code ${status}\n`);
}

const decompressed = (incoming: IncomingMessage) => pipeline(incoming, createGunzip(), () => {});

/** The body, decompressed. @throws Error beyond `maxBytes` */
async function wholeBody(incoming: IncomingMessage, maxBytes: number, turns: Turns): Promise<Uint8Array> {
  const pieces = incoming.headers['content-encoding'] === 'gzip' ? decompressed(incoming) : incoming;
  const received = new ReceivedBytes();
  for await (const piece of pieces as AsyncIterable<Buffer>) {
    if (received.size + piece.length > maxBytes) throw new Error(`the response has more than ${maxBytes} bytes`);
    received.add(piece);
    if (turns.over) await turns.next();
  }
  return received.whole();
}
