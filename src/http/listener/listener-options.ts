import { constants } from 'node:crypto';
import type { Http2SecureServer } from 'node:http2';
import { Http1Message } from './http1-message.ts';

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
  /** How long a client may send nothing during its TLS handshake, which may take six times as long in all. */
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

/** The default limit of connections. */
export const maxConnections = 30_000;

export const defaultLimits: ListenerLimits = {
  connections: maxConnections,
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

/** PEM. Client certificates are requested if there is a client CA, whose names clients are told; any is accepted. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  readonly clientCa?: string;
}

export const connectionOptions = {
  noDelay: true,
  // Detects clients that have vanished during a long-running request.
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
} as const;

export function serverOptions(limits: ListenerLimits, http2 = true) {
  return {
    // Without it, Node offers both protocols.
    ...(http2 ? {} : { ALPNCallback: onlyHttp1 }),
    allowHTTP1: true,
    Http1IncomingMessage: Http1Message,
    minVersion: 'TLSv1.2',
    ciphers: cipherSuites,
    handshakeTimeout: 6 * limits.handshakeMs,
    ...connectionOptions,
    maxHeaderListPairs: limits.headers + 4,
    // Room for a chunk of a list on each of some hundred streams (MB).
    maxSessionMemory: 128,
    // Node counts a stream for a moment longer than its client, and rejects what exceeds the limit meanwhile. It would end
    // the connection after 100 of these in all. What rejected streams cost is bounded as bytes that belong to no request.
    maxSessionRejectedStreams: 2 ** 31 - 1,
    settings: { maxConcurrentStreams: limits.streams, maxHeaderListSize: 16 * 1024 },
  } as const;
}

/** Undefined ends the handshake with the alert `no_application_protocol` (RFC 7301). */
const onlyHttp1 = ({ protocols }: { readonly protocols: readonly string[] }): string | undefined =>
  protocols.includes('http/1.1') ? 'http/1.1' : undefined;

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

export function tlsOptions(tls: TlsFiles) {
  // Without a client CA no certificate is requested: Node would verify it against the system's certificate authorities.
  const { cert, key, clientCa: ca } = tls;
  // A resumed session would know the client's certificate only, and not the intermediate ones that came with it.
  const secureOptions = constants.SSL_OP_NO_TICKET;
  if (ca === undefined) return { cert, key, secureOptions };
  return { cert, key, secureOptions, ca, requestCert: true, rejectUnauthorized: false };
}

/** The settings of Node's HTTP/1.1 server that its two-protocol server reads as properties. */
export function configureHttp1(server: Http2SecureServer, limits: ListenerLimits): void {
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
