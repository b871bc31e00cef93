import { compatibleDomain } from '../../meta/index.ts';
import { base64url, utf8 } from './bytes.ts';
import { openPlatformSocket } from './platform-socket.ts';
import { failure, readAll } from './response.ts';
import type { ClientRequest, ClientResponse, SocketRequest, Transport } from './transport.ts';

export interface FetchOptions {
  /** The URL of the server without a path; in a browser, by default, the origin of the page. */
  readonly server?: string;
  /** A bearer token, or a function that returns one for each request. A browser sends its client certificate on its own. */
  readonly token?: string | (() => Promise<string>);
  /** The API domain of the server, which WebSockets with a token need; `compatibleDomain` by default. */
  readonly apiDomain?: string;
}

/**
 * Sends requests by `fetch` of the platform, and opens WebSockets where it has them: in browsers, and wherever no Node modules
 * are at hand.
 */
export function fetchTransport({ server = '', token, apiDomain = compatibleDomain }: FetchOptions = {}): Transport {
  const currentToken = async () => (typeof token === 'function' ? token() : token);
  const send = async ({ method, url, headers, body, signal }: ClientRequest): Promise<ClientResponse> => {
    checkPath(url);
    const bearer = await currentToken();
    const response = await fetch(`${server}${url}`, {
      method,
      headers: { ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }), ...headers },
      redirect: 'error',
      ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
      ...(signal === undefined ? {} : { signal }),
    });
    return { status: response.status, headers: Object.fromEntries(response.headers), body: chunksOf(response.body) };
  };
  if (typeof WebSocket === 'undefined') return send;
  const webSocket = async ({ url, protocols, signal }: SocketRequest) => {
    checkPath(url);
    const bearer = await currentToken();
    const credentials = bearer === undefined ? [] : [bearerProtocol(bearer, apiDomain)];
    try {
      return await openPlatformSocket(`${server}${url}`, [...protocols, ...credentials], signal);
    } catch (error) {
      if (signal?.aborted === true) throw error;
      // The platform does not show the response that refuses a WebSocket. Without an upgrade, 400 says that one is required.
      const response = await send({ method: 'GET', url, headers: {}, ...(signal === undefined ? {} : { signal }) });
      if (response.status <= 400) throw error;
      throw failure(response.status, await readAll(response));
    }
  };
  return Object.assign(send, { webSocket });
}

/** A path such as `//host` would name another host, which would receive the credentials. @throws TypeError */
function checkPath(url: string): void {
  if (!/^\/(?!\/)/.test(url)) throw new TypeError(`the URL of a request must start with one slash: ${url}`);
}

/** The subprotocol that carries a token, since a browser sends no `Authorization` header with a WebSocket. */
const bearerProtocol = (token: string, domain: string): string =>
  `base64url.bearer.authorization.${domain}.${base64url(utf8(token))}`;

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
