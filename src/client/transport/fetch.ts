import type { ClientResponse, Transport } from './transport.ts';

export interface FetchOptions {
  /** The URL of the server without a path; in a browser, by default, the origin of the page. */
  readonly server?: string;
  /** A bearer token. A browser sends its client certificate on its own. */
  readonly token?: string;
}

/** Sends requests by `fetch` of the platform: in browsers, and wherever no Node modules are at hand. */
export function fetchTransport({ server = '', token }: FetchOptions = {}): Transport {
  const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return async ({ method, url, headers, body, signal }): Promise<ClientResponse> => {
    // A path such as `//host` would name another host, which would receive the credentials.
    if (!/^\/(?!\/)/.test(url)) throw new TypeError(`the URL of a request must start with one slash: ${url}`);
    const response = await fetch(`${server}${url}`, {
      method,
      headers: { ...credentials, ...headers },
      redirect: 'error',
      ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
      ...(signal === undefined ? {} : { signal }),
    });
    return { status: response.status, headers: Object.fromEntries(response.headers), body: chunksOf(response.body) };
  };
}

/** The chunks of a body. Not every browser iterates over streams. */
async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
