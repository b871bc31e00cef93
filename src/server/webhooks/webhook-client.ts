import { type RequestOptions, request } from 'node:https';
import { type ByteString, bufferOf } from '../../meta/index.ts';
import { PacedConnections } from './paced-connections.ts';
import { type Receiving, readResponse } from './read-response.ts';
import type { WebhookConfig } from './webhook-kubeconfig.ts';

/** The response of a webhook. */
export interface WebhookAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/** The parameters of one request. */
export interface WebhookCall {
  /** A URL with the origin of the client. */
  readonly url: URL;
  /** Timeout (ms). */
  readonly timeoutMs: number;
  /** The `traceparent` header, if any. */
  readonly traceparent?: string | undefined;
}

/** Calls a webhook. */
export interface WebhookClient {
  /** Posts JSON. Rejects when there is no complete response in time, or when aborted. Follows no redirect. */
  post(body: ByteString, signal: AbortSignal, call?: WebhookCall): Promise<WebhookAnswer>;
  /** Closes idle connections. */
  close(): void;
}

export interface WebhookClientOptions {
  /** Timeout of a request (ms). */
  readonly timeoutMs: number;
  /** Maximum size of a response in bytes. */
  readonly maxAnswer: number;
  /** Limits the bytes of incomplete responses. Default: no limit. */
  readonly receiving?: Receiving;
  /** Maximum number of concurrent requests; further ones wait within their timeout. */
  readonly maxRequests: number;
  /** Resolves with the address to connect to. Default: the host of the URL. */
  readonly locate?: () => Promise<{ readonly host: string; readonly port: string }>;
}

/** Idle timeout of connections (ms). */
const idleMs = 90_000;

/** Creates a client with its own TLS connections. Throws for certificates that are not PEM. */
export function createWebhookClient(
  { url, ca, serverName, skipVerify, cert, key, authorization }: WebhookConfig,
  { timeoutMs, maxAnswer, maxRequests, locate, receiving }: WebhookClientOptions,
): WebhookClient {
  const agent = new PacedConnections({
    keepAlive: true,
    timeout: idleMs,
    maxSockets: maxRequests,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: !skipVerify,
    // A trusted certificate needs no trusted issuer, as with the reference server.
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  });
  const limits = { maxAnswer, ...(receiving === undefined ? {} : { receiving }) };
  return {
    async post(body, aborted, call: WebhookCall = { url, timeoutMs }) {
      const bytes = bufferOf(body);
      const credentials = await authorization?.();
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, */*',
        'content-length': bytes.length,
        host: url.host,
        ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }),
        ...(credentials === undefined ? {} : { authorization: credentials }),
      };
      const answer = await within(call.timeoutMs, aborted, async (signal) => {
        const place = await locate?.();
        const found = place === undefined ? {} : { hostname: place.host, port: place.port };
        const options = { method: 'POST', agent, headers, signal, ...found };
        return send(call.url, options, bytes, limits);
      });
      return credentials === undefined ? answer : { ...answer, body: withoutCredentials(answer.body, credentials) };
    },
    close: () => agent.destroy(),
  };
}

/** Minimum length of credentials that are removed from responses: shorter ones occur in any text. */
const minSecret = 8;

/** Removes the credentials of the request from a response, because messages quote responses. */
function withoutCredentials(body: Buffer, header: string): Buffer {
  const secret = header.slice(header.indexOf(' ') + 1);
  if (secret.length < minSecret || !body.includes(secret)) return body;
  return Buffer.from(body.toString().replaceAll(secret, '<credentials>'));
}

/** Calls `work` with a signal that aborts after a timeout, or when `aborted` does. */
async function within<T>(ms: number, aborted: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (aborted.aborted) abort();
  // `AbortSignal.any` would keep a reference for each call as long as `aborted` lives.
  aborted.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(abort, ms);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    aborted.removeEventListener('abort', abort);
  }
}

/** Sends the request, and repeats it once when an idle connection was closed meanwhile. */
async function send(
  url: URL,
  options: RequestOptions,
  body: Buffer,
  limits: Pick<WebhookClientOptions, 'maxAnswer' | 'receiving'>,
  again = false,
): Promise<WebhookAnswer> {
  const outgoing = request(url, options);
  outgoing.end(body);
  try {
    const { incoming, body: received } = await readResponse(outgoing, limits.maxAnswer, limits.receiving);
    const { statusCode: status = 0, headers } = incoming;
    return { status, contentType: headers['content-type'] ?? '', body: received };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const isClosed = outgoing.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
    if (isClosed && !again) return send(url, options, body, limits, true);
    throw error;
  }
}
