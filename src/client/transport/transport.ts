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

/** The client side of a WebSocket (RFC 6455) whose messages are binary. */
export interface MessageSocket {
  /** The subprotocol that the server selected. */
  readonly protocol: string;
  /** The messages of the server; iterable once. Ends when the server closes. Rejects when the connection is lost. */
  readonly messages: AsyncIterable<Uint8Array>;
  /** Resolves when the connection accepts more data. */
  send(message: Uint8Array): Promise<void>;
  /** Closes the connection. Idempotent. */
  close(): void;
}

export interface SocketRequest {
  /** Path and query. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: { readonly [name: string]: string };
  /** The offered subprotocols in order of preference. */
  readonly protocols: readonly string[];
  readonly signal?: Signal;
}

/** Sends requests. Rejects when there is no response. */
export interface Transport {
  (request: ClientRequest): Promise<ClientResponse>;
  /**
   * Opens a WebSocket. Absent when the transport has no connections, as within one process.
   * @throws StatusError of the server when it rejects the WebSocket
   */
  readonly webSocket?: (request: SocketRequest) => Promise<MessageSocket>;
}
