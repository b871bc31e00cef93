/** The global `AbortSignal`, or its shape where neither Node's nor the browser's types are installed. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer T } }
  ? T
  : { readonly aborted: boolean };

export interface ClientRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: { readonly [name: string]: string };
  readonly body?: Uint8Array;
  readonly signal?: Signal;
}

export interface ClientResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: AsyncIterable<Uint8Array>;
}

/** A connection that has gone over to another protocol. */
export interface UpgradedConnection {
  /** Of the response with status 101, by lower-case name. */
  readonly headers: { readonly [name: string]: string };
  /** What the server sends, to be iterated once. Rejects when the connection is lost. */
  readonly received: AsyncIterable<Uint8Array>;
  /** Resolves when more may be sent. */
  send(bytes: Uint8Array): Promise<void>;
  /** Closes the connection. Idempotent. */
  close(): void;
}

/** Sends requests. Rejects when there is no response. */
export interface Transport {
  (request: ClientRequest): Promise<ClientResponse>;
  /**
   * Sends a request for another protocol; the response when it is refused. Absent: there are no connections, but calls
   * in the same process.
   */
  readonly upgrade?: (request: ClientRequest) => Promise<UpgradedConnection | ClientResponse>;
}
