import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Clock } from '../meta/index.ts';
import { attributesOf, type SpanData } from './span-data.ts';

/** Statuses after which a batch is sent again (OTLP specification, "Retryable Response Codes"). */
const retryableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** The pause after the first failed attempt, which doubles up to a maximum (ms). */
const minPauseMs = 500;
const maxPauseMs = 4_000;
/** The part of an error response that is read for the log (bytes). */
const maxErrorBytes = 500;
/** A collector that sends more is disconnected (bytes). Each piece, which may be one byte, counts as further ones. */
const maxResponseBytes = 64 * 1024;
const pieceBytes = 64;
const maxInterimResponses = 10;

/** Where spans are sent. */
export interface Collector {
  /** Rejects with the reason unless the collector accepts the spans within a time (ms). */
  send(spans: readonly SpanData[], timeoutMs: number): Promise<void>;
  /** Closes the connection. A `send` in progress rejects. */
  close(): void;
}

export interface CollectorOptions {
  /** Where batches are posted. */
  readonly url: URL;
  readonly serviceName: string;
  /** Identifies this server among others. */
  readonly instance: string;
  /** The program that creates the spans. */
  readonly scope: { readonly name: string; readonly version: string };
  readonly clock: Pick<Clock, 'after'>;
}

/**
 * The URL for traces of an OTLP endpoint: `host:port`, or a URL with `http` or `https`, to which `/v1/traces` is added.
 * Undefined for any other text. A URL may have no user, query or fragment: the endpoint is logged.
 */
export function tracesUrl(endpoint: string): URL | undefined {
  const text = /^https?:\/\//i.test(endpoint) ? endpoint : `http://${endpoint}`;
  if (/[\s?#@\\]/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (text !== endpoint && url.pathname !== '/') return undefined;
  if (!/\/v1\/traces\/?$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url;
}

/** A collector that speaks OTLP over HTTP with JSON. Connects when there are spans to send. */
export function openCollector({ url, serviceName, instance, scope, clock }: CollectorOptions): Collector {
  const agent = createAgent(url);
  const resource = { attributes: attributesOf({ 'service.name': serviceName, 'service.instance.id': instance }) };
  let sending: AbortController | undefined;
  return {
    async send(spans, timeoutMs) {
      const body = Buffer.from(JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] }));
      const controller = new AbortController();
      const { signal } = controller;
      const cancel = clock.after(timeoutMs, () => controller.abort());
      sending = controller;
      let reason = `no response within ${timeoutMs} ms`;
      try {
        for (let pauseMs = minPauseMs; !signal.aborted; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
          const failure = await post(url, agent, body, signal);
          if (failure === undefined) return;
          if (signal.aborted) break;
          reason = failure.reason;
          if (!failure.retryable) break;
          await pause(Math.max(pauseMs, failure.retryAfterMs), signal, clock);
        }
      } finally {
        cancel();
      }
      throw new Error(reason);
    },
    close() {
      sending?.abort();
      agent.destroy();
    },
  };
}

const isSecure = ({ protocol }: URL): boolean => protocol === 'https:';

/** The exporter sends one batch at a time: one connection is enough. */
const createAgent = (url: URL): PlainAgent =>
  isSecure(url)
    ? new SecureAgent({ keepAlive: true, maxSockets: 1 })
    : new PlainAgent({ keepAlive: true, maxSockets: 1 });

interface PostFailure {
  readonly reason: string;
  readonly retryable: boolean;
  /** The `Retry-After` of the collector (ms); otherwise 0. */
  readonly retryAfterMs: number;
}

/** Posts a batch once. Resolves with the failure; undefined when the collector has accepted the batch. */
function post(url: URL, agent: PlainAgent, body: Buffer, signal: AbortSignal): Promise<PostFailure | undefined> {
  return new Promise((resolve) => {
    const disconnected = ({ message }: Error) => resolve({ reason: message, retryable: true, retryAfterMs: 0 });
    const send = isSecure(url) ? secureRequest : plainRequest;
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    // An upgrade that nobody asked for closes the connection without an error.
    const closed = () => disconnected(new Error('the connection was closed without a response'));
    const request = send(url, { method: 'POST', agent, headers, signal }, (response) => {
      request.off('close', closed);
      const { statusCode: status = 0 } = response;
      const isAccepted = status >= 200 && status < 300;
      let text = '';
      let left = maxResponseBytes;
      const conclude = () => {
        if (isAccepted) resolve(undefined);
        else {
          const retryAfterMs = 1_000 * Number(/^\d{1,5}$/.exec(response.headers['retry-after'] ?? '') ?? 0);
          resolve({ reason: `${status}: ${text}`, retryable: retryableStatuses.has(status), retryAfterMs });
        }
      };
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        if (!isAccepted && text.length < maxErrorBytes) text = (text + chunk).slice(0, maxErrorBytes);
        left -= chunk.length + pieceBytes;
        if (left > 0) return;
        conclude();
        response.destroy();
      });
      response.on('error', disconnected);
      response.on('end', conclude);
    });
    let interim = 0;
    request.on('information', () => {
      if (++interim > maxInterimResponses) request.destroy(new Error('the collector sent too many interim responses'));
    });
    request.on('error', disconnected).once('close', closed);
    request.end(body);
  });
}

/** Resolves after a time, or when the signal aborts. */
function pause(ms: number, signal: AbortSignal, clock: Pick<Clock, 'after'>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    const stop = () => {
      cancel();
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}
