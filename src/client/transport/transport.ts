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

/** A connection that was upgraded to another protocol. */
export interface UpgradedConnection {
  /** The headers of the response with status 101, by lower-case name. */
  readonly headers: { readonly [name: string]: string };
  /** The bytes from the server; iterable once. Rejects when the connection is lost. */
  readonly received: AsyncIterable<Uint8Array>;
  /** Resolves when the connection accepts more data. */
  send(bytes: Uint8Array): Promise<void>;
  /** Closes the connection. Idempotent. */
  close(): void;
}

/** Sends requests. Rejects when there is no response. */
export interface Transport {
  (request: ClientRequest): Promise<ClientResponse>;
  /**
   * Sends a request to upgrade the connection; resolves to the response when the server rejects it. Absent when the
   * transport has no connections, as within one process.
   */
  readonly upgrade?: (request: ClientRequest) => Promise<UpgradedConnection | ClientResponse>;
}
