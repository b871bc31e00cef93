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

export type Transport = (request: ClientRequest) => Promise<ClientResponse>;
