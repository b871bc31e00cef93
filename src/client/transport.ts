/** The engine's own `AbortSignal`, also where the types of neither Node nor browsers are known. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer T } }
  ? T
  : { readonly aborted: boolean };

/** How a client reaches a server: over a socket, or straight into its handler. */
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

export type Transport = (request: ClientRequest) => Promise<ClientResponse>;
