import { Agent, type RequestOptions, request } from 'node:https';
import type { Socket } from 'node:net';
import { PacedSocket } from '../http/index.ts';
import { type ByteString, bufferOf, ReceivedBytes, serverTurns } from '../meta/index.ts';
import type { WebhookConfig } from './webhook-kubeconfig.ts';

/** The response of a webhook. */
export interface WebhookAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/** What is special to one request. */
export interface WebhookCall {
  /** At the same place as that of the client. */
  readonly url: URL;
  /** Timeout (ms). */
  readonly timeoutMs: number;
  /** The header of this name. Absent: it is not sent. */
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
  /** The largest response (bytes). */
  readonly maxAnswer: number;
  /** Is asked before more bytes of a response are held, and told when they no longer arrive. Default: all are held. */
  readonly receiving?: Receiving;
  /** How many requests it sends at a time; the others wait, within their timeout. Default: any number. */
  readonly maxRequests?: number;
  /** Where to connect to in place of the host of the URL. */
  readonly locate?: () => Promise<{ readonly host: string; readonly port: string }>;
}

/** The bytes of responses that are arriving. */
export interface Receiving {
  /** Whether so many more fit; they count until they are given back. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** How long a connection may be idle (ms). */
const idleMs = 90_000;

/** Its connections are parsed in the turns of the server. */
class PacedAgent extends Agent {
  override createConnection(options: RequestOptions): PacedSocket {
    return new PacedSocket(super.createConnection(options) as Socket, serverTurns());
  }
}

/** A client of the webhook of a kubeconfig, over TLS connections of its own. Throws for certificates that are not PEM. */
export function createWebhookClient(
  { url, ca, serverName, skipVerify, cert, key, authorization }: WebhookConfig,
  { timeoutMs, maxAnswer, maxRequests = Number.POSITIVE_INFINITY, locate, receiving }: WebhookClientOptions,
): WebhookClient {
  const agent = new PacedAgent({
    keepAlive: true,
    timeout: idleMs,
    maxSockets: maxRequests,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: !skipVerify,
    // A certificate that is trusted needs no issuer that is, as with the reference server.
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  });
  const limits = { maxAnswer, ...(receiving === undefined ? {} : { receiving }) };
  return {
    async post(body, aborted, call: WebhookCall = { url, timeoutMs }) {
      const bytes = bufferOf(body);
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, */*',
        'content-length': bytes.length,
        host: url.host,
        ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }),
        ...(authorization === undefined ? {} : { authorization: await authorization() }),
      };
      return within(call.timeoutMs, aborted, async (signal) => {
        const place = await locate?.();
        const found = place === undefined ? {} : { hostname: place.host, port: place.port };
        const options = { method: 'POST', agent, headers, signal, ...found };
        return send(call.url, options, bytes, limits).catch((error: unknown) => {
          // The webhook has closed the connection, which was idle, while the request was sent.
          if (error instanceof ClosedWhileIdle) return send(call.url, options, bytes, limits);
          throw error;
        });
      });
    },
    close: () => agent.destroy(),
  };
}

/** Work with a signal that aborts after a time, and when another one does. */
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

class ClosedWhileIdle extends Error {}

function send(
  url: URL,
  options: RequestOptions,
  body: Buffer,
  { maxAnswer, receiving }: Pick<WebhookClientOptions, 'maxAnswer' | 'receiving'>,
): Promise<WebhookAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, options, (incoming) => {
      const received = new ReceivedBytes();
      incoming.on('data', (piece: Buffer) => {
        if (received.size + piece.length > maxAnswer) {
          incoming.destroy(new Error(`the response has more than ${maxAnswer} bytes`));
        } else if (receiving?.take(piece.length) === false) {
          incoming.destroy(new Error('too many bytes of responses of webhooks are arriving'));
        } else received.add(piece);
      });
      incoming.once('close', () => receiving?.give(received.size));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const { statusCode: status = 0, headers } = incoming;
        resolve({ status, contentType: headers['content-type'] ?? '', body: received.whole() });
      });
    });
    outgoing.on('error', (error) => {
      const closed = outgoing.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
      reject(closed ? new ClosedWhileIdle(error.message, { cause: error }) : error);
    });
    outgoing.end(body);
  });
}
