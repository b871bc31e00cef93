import type { Socket } from 'node:net';
import type { ByteString } from '../meta/index.ts';

/** Request headers by lower-case name; several of one name are joined as HTTP does. */
export interface RequestHeaders {
  readonly [name: string]: string | undefined;
}

export interface Peer {
  /** Text form of the remote address; empty in process. */
  readonly address: string;
  /** Subject and digest (hex) of the client certificate when one was shown and the client CA signed it. */
  readonly certificate:
    | { readonly commonName: string; readonly organizations: readonly string[]; readonly sha256?: string }
    | undefined;
}

/** A request, whatever carried it. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  readonly headers: RequestHeaders;
  /** Every value of a header, in UTF-8, as it was sent: what `headers` joins. Absent: no header was sent twice. */
  headerValues?(name: string): readonly string[];
  readonly peer: Peer;
  /** The whole body. Throws the 413 StatusError past `limit` bytes, the 408 one when it comes too slowly, the 400 one when it is cut off. */
  body(limit: number): Promise<Uint8Array>;
  /** Bytes of the body, as far as they are known, when it has still to arrive; else 0, or absent. */
  readonly coming?: number;
  /** The body piece by piece as it comes, however long; in place of `body`, and once. Undefined: there is none. */
  stream(): AsyncIterable<Uint8Array> | undefined;
  /** Asks for another protocol, over a connection that can go over to it. */
  readonly upgrades: boolean;
  /** Aborts when the client goes away. Made on first use. */
  readonly signal: AbortSignal;
  /**
   * Calls once when all is over: the client has taken the last byte of the answer, or is gone. Absent in process, where
   * an answer is taken as soon as it is there.
   */
  whenOver?(listener: () => void): void;
}

export type Chunk = ByteString | Uint8Array;

export interface ApiResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | readonly string[] };
  /** All at once, or piece by piece: the next piece is asked for when the last one has been taken. */
  readonly body: Chunk | AsyncIterable<Chunk>;
  /** A client may take nothing of the body for as long as it likes: nothing piles up meanwhile. */
  readonly waits?: true;
  /**
   * With status 101, to a request that `upgrades`: the connection with which the client speaks from there on. Without it
   * the body is a stream of WebSocket frames, none of them divided between two pieces.
   */
  readonly tunnel?: Socket;
}

/** The server without its sockets. Never throws: a failure is a response. */
export type Handler = (request: ApiRequest) => Promise<ApiResponse>;
