import type { Socket } from 'node:net';
import type { ClientCertificate } from '../auth/index.ts';
import type { ByteString, Turns } from '../meta/index.ts';

/** Request headers by lower-case name; several of one name are joined as HTTP does. */
export interface RequestHeaders {
  readonly [name: string]: string | undefined;
}

export interface Peer {
  /** Text form of the remote address; empty in process. */
  readonly address: string;
  /** The addresses that the client can have ({@link clientNetwork}): what it takes while its user is not known counts for them. */
  readonly network: string;
  /** The client certificate as it was presented, not verified; undefined: none. */
  readonly certificate: ClientCertificate | undefined;
}

/** A request, independent of its transport. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  readonly headers: RequestHeaders;
  /** The values of a header, one for each time it was sent; absent: none was sent twice. Throws 400 unless in UTF-8. */
  headerValues?(name: string): readonly string[];
  readonly peer: Peer;
  /**
   * The whole body. Throws 413 beyond `limit` bytes, 408 if it arrives too slowly, 400 if it is incomplete. `count` is
   * told how much there is (bytes) before each piece is kept, and may throw a StatusError to refuse the body.
   */
  body(limit: number, count?: (bytes: number) => void): Promise<Uint8Array>;
  /** The length of a body that has yet to arrive, as far as it is known (bytes); otherwise 0 or absent. */
  readonly coming?: number;
  /** The body in chunks as it arrives, of any length; once, instead of `body`. Undefined: there is none. */
  stream(): AsyncIterable<Uint8Array> | undefined;
  /** Requests an upgrade over a connection that supports it. */
  readonly upgrades: boolean;
  /** Aborts when the client disconnects. Created on first use. */
  readonly signal: AbortSignal;
  /**
   * Calls once when the client has read the last byte of the response or has disconnected. Absent in process, where a
   * response is read at once.
   */
  whenOver?(listener: () => void): void;
}

export type Chunk = ByteString | Uint8Array;

/** Gives a buffer for a chunk of a size (bytes); undefined: there is none of that size. */
export type TakeBuffer = (size: number) => Buffer | undefined;

export interface Trailers {
  /** The header `trailer`. */
  readonly announces: string;
  /** Those that there are once the body has ended. */
  read(): { readonly [name: string]: string };
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | readonly string[] };
  /**
   * One chunk, or several: the next is requested when the previous one was read. Their bytes must not change. Whoever passes
   * a {@link TakeBuffer} to `next` may get a chunk in a buffer that it has given, which is then its own again.
   */
  readonly body: Chunk | AsyncIterable<Chunk, unknown, TakeBuffer | undefined>;
  /** The same body as gzip, where that is at hand and need not be made for this response, and its length (bytes). */
  readonly gzip?: { readonly body: AsyncIterable<Chunk>; readonly length: number };
  /** Header fields after the body, of which a client that cannot receive them is not told. */
  readonly trailers?: Trailers | undefined;
  /** The client may pause reading without limit: nothing is buffered meanwhile. */
  readonly waits?: true | undefined;
  /**
   * With status 101, for a request that `upgrades`: the connection to which the client's is joined. Without it the body
   * is a stream of WebSocket frames, each within one chunk.
   */
  readonly tunnel?: Socket;
  /** The turns of the request, in which its connection is read. */
  readonly turns?: Turns | undefined;
}

/** The server without its sockets. Never throws: a failure is a response. The connection of one that throws is cut. */
export type Handler = (request: ApiRequest) => Promise<ApiResponse>;
