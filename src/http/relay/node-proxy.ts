import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { ReceivedBytes, StatusError, serverTurns, statusError, type Turns } from '../../meta/index.ts';
import type { Endpoint } from '../../registry/index.ts';
import { emptyBody } from '../answers.ts';
import { createExchange, type ExchangeOptions } from '../listener/exchange.ts';
import type { ApiRequest, ApiResponse } from '../types.ts';
import { dialFailure } from './dial.ts';
import { kubeletError } from './proxy-errors.ts';
import {
  answeredHeaders,
  backHeaders,
  type IsIdentity,
  type ProxiedPath,
  proxiedHeaders,
  upgradeHeaders,
} from './proxy-headers.ts';

/**
 * Forwards requests to kubelets, pods, services and nodes. Responses are parsed in the turns of the request, by default
 * those of the server. Every call throws StatusError.
 */
export interface NodeProxy {
  /** The text body of a GET; `name` is the pod's. */
  text(request: ApiRequest, endpoint: Endpoint, name: string, turns?: Turns): Promise<ApiResponse>;
  /** The response of a proxied backend. */
  proxy(request: ApiRequest, endpoint: Endpoint, path: ProxiedPath, turns?: Turns): Promise<ApiResponse>;
  /** An upgraded connection in the protocol of the request, or the refusal of the backend. */
  upgrade(request: ApiRequest, endpoint: Endpoint, path: string, guarded: boolean, turns?: Turns): Promise<ApiResponse>;
  /** Aborts all requests. */
  close(): void;
}

/** How much of an error body is read (bytes). */
const maxRefusal = 50_000;
/** Timeout for the backend to accept an upgrade (ms): until then a disconnected client is not noticed. */
const upgradeMs = 60_000;

export interface NodeProxyOptions extends ExchangeOptions {
  readonly isIdentity: IsIdentity;
}

export function createNodeProxy({ isIdentity, ...made }: NodeProxyOptions): NodeProxy {
  const exchange = createExchange(made);
  return {
    async text({ signal }, endpoint, name, turns = serverTurns()) {
      const { scheme, host, port, path } = endpoint;
      const options = { method: 'GET', path, headers: {}, signal, guarded: false, turns };
      const { incoming } = await exchange.begin(endpoint, options).catch((error: Error) => {
        throw failed(error, `Get "${scheme}://${host}:${port}${path}": ${dialFailure(error, endpoint)}`);
      });
      const status = incoming.statusCode ?? 0;
      if (status < 200 || status > 206) throw kubeletError(status, await beginning(incoming, maxRefusal), name);
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: incoming, waits: true };
    },

    async proxy(request, endpoint, path, turns = serverTurns()) {
      const { method, signal } = request;
      const body = request.stream();
      const headers = proxiedHeaders(request, path, body !== undefined, isIdentity);
      const options = { method, path: path.there, headers, signal, guarded: true, turns };
      const { incoming } = await exchange.begin(endpoint, options, body).catch((error: Error) => {
        if (error instanceof StatusError) throw error;
        throw statusError.unavailable(`error trying to reach service: ${dialFailure(error, endpoint)}`);
      });
      return {
        status: incoming.statusCode ?? 502,
        headers: backHeaders(incoming.headers, endpoint, request, path),
        body: incoming,
        waits: true,
      };
    },

    async upgrade(request, endpoint, path, guarded, turns = serverTurns()) {
      const { method, signal } = request;
      const headers: OutgoingHttpHeaders = upgradeHeaders(request, isIdentity);
      const options = { method, path, headers, signal, guarded, timeout: upgradeMs, turns };
      const { incoming, socket } = await exchange.begin(endpoint, options).catch((error: Error) => {
        throw failed(error, `error dialing backend: ${dialFailure(error, endpoint)}`);
      });
      const status = incoming.statusCode ?? 0;
      if (socket !== undefined) {
        return { status: 101, headers: incoming.headers as ApiResponse['headers'], body: emptyBody, tunnel: socket };
      }
      if (status >= 400) return { status, headers: answeredHeaders(incoming.headers), body: incoming, waits: true };
      incoming.destroy();
      throw new StatusError(500, '', `invalid upgrade response: status code ${status}`);
    },

    close: () => exchange.close(),
  };
}

const failed = (error: Error, message: string): StatusError =>
  error instanceof StatusError ? error : new StatusError(500, '', message);

/** The first `limit` bytes as text. */
async function beginning(incoming: IncomingMessage, limit: number): Promise<string> {
  const received = new ReceivedBytes();
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    received.add(piece);
    if (received.size >= limit) break;
  }
  return received.whole().subarray(0, limit).toString();
}
