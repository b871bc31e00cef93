import { setMaxListeners } from 'node:events';
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type ClientRequest as SentRequest,
} from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { throughProxy } from './proxy.ts';
import type { ClientRequest, ClientResponse, SocketRequest, Transport } from './transport.ts';
import { openWebSocket, type UpgradedConnection } from './web-socket.ts';

export interface HttpsOptions {
  /**
   * The URL of the server, such as `https://127.0.0.1:6443`. Its path precedes the path of each request. With `http`,
   * requests are sent without TLS.
   */
  readonly server: string;
  /** The CA bundle that verifies the server certificate (PEM); by default the certificates that the system trusts. */
  readonly ca?: string;
  /** A bearer token. */
  readonly token?: string;
  /** Returns the `Authorization` header for each request; replaces `token`. */
  readonly authorization?: () => Promise<string>;
  /** The name in the server certificate, when it differs from the host. */
  readonly serverName?: string;
  /** Skips the verification of the server certificate. */
  readonly skipVerify?: boolean;
  /** A client certificate and its key in PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Headers of every request, such as those of an impersonation; names in lower case. */
  readonly headers?: { readonly [name: string]: string | readonly string[] };
  /** The URL of a proxy with http, https or socks5, with its credentials if it needs any. */
  readonly proxy?: string;
}

/** Sends requests over TLS and HTTP/1.1, on connections that are kept alive until `close`. */
export function httpsTransport(
  options: HttpsOptions,
): Transport & Required<Pick<Transport, 'webSocket'>> & { close(): void } {
  const { ca, certificate, serverName, skipVerify = false, token, authorization, proxy, headers: own } = options;
  const url = new URL(options.server);
  const isSecure = url.protocol === 'https:';
  const tls = {
    keepAlive: true,
    minVersion: 'TLSv1.2',
    ca,
    ...certificate,
    rejectUnauthorized: !skipVerify,
    ...(serverName === undefined ? {} : { servername: serverName }),
  } as const;
  const agent = isSecure ? new Agent(tls) : new HttpAgent(tls);
  // As an option of the agent it would have no effect.
  const closing = new AbortController();
  // One for each connection.
  setMaxListeners(0, closing.signal);
  if (proxy !== undefined) Object.assign(agent, { createConnection: throughProxy(proxy, isSecure, closing.signal) });
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const prefix = url.pathname.replace(/\/$/, '');
  const fixed = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const open = isSecure ? httpsRequest : httpRequest;
  const send = async (request: ClientRequest) => {
    const credentials = authorization === undefined ? fixed : { authorization: await authorization() };
    // Resolving the path against the server's URL would let it name another host, which would receive the credentials.
    return open({
      hostname,
      port: url.port === '' ? (isSecure ? 443 : 80) : url.port,
      path: `${prefix}${request.url}`,
      method: request.method,
      agent,
      headers: {
        ...(own as { readonly [name: string]: string | string[] }),
        ...credentials,
        ...request.headers,
        ...(request.body === undefined ? {} : { 'content-length': request.body.length }),
      },
    });
  };
  const transport = async (request: ClientRequest) => {
    const sent = await send(request);
    return new Promise<ClientResponse>((resolve, reject) => {
      onFailure(sent, request, reject);
      sent.on('response', (response) => resolve(responseOf(response)));
      sent.end(request.body);
    });
  };
  const upgrade = async (request: ClientRequest) => {
    const sent = await send(request);
    return new Promise<UpgradedConnection | ClientResponse>((resolve, reject) => {
      onFailure(sent, request, reject);
      sent.on('response', (response) => resolve(responseOf(response)));
      sent.on('upgrade', (response, socket, head) => resolve(upgraded(response, socket, head)));
      sent.end(request.body);
    });
  };
  const webSocket = (request: SocketRequest) => openWebSocket(upgrade, request);
  const close = () => {
    agent.destroy();
    closing.abort();
  };
  return Object.assign(transport, { webSocket, close });
}

/** Calls back when a request has no response, and ends the request when its signal aborts. */
function onFailure(sent: SentRequest, { signal }: ClientRequest, failed: (error: Error) => void): void {
  const abort = () => {
    const error = new DOMException('The operation was aborted', 'AbortError');
    sent.destroy(error);
    // While the request waits for its connection, which takes long through some proxies, Node reports no error.
    failed(error);
  };
  if (signal?.aborted === true) abort();
  else signal?.addEventListener('abort', abort);
  sent.on('error', failed).once('close', () => {
    signal?.removeEventListener('abort', abort);
    // An upgrade that nobody asked for closes the connection without an error.
    failed(new Error('the server closed the connection without a response'));
  });
}

const responseOf = (response: IncomingMessage): ClientResponse => ({
  status: response.statusCode ?? 0,
  headers: headersOf(response),
  body: response,
});

function headersOf(response: IncomingMessage): { [name: string]: string } {
  const headers: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return headers;
}

function upgraded(response: IncomingMessage, socket: Duplex, head: Uint8Array): UpgradedConnection {
  if (head.length > 0) socket.unshift(head);
  // Reads and writes report the error.
  socket.on('error', () => {});
  return {
    headers: headersOf(response),
    received: socket,
    send: (bytes) =>
      new Promise((resolve, reject) => {
        socket.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    close: () => void socket.destroy(),
  };
}
