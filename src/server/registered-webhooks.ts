import { setMaxListeners } from 'node:events';
import { isIP } from 'node:net';
import { type CallWebhook, type RegisteredWebhook, WebhookFailure } from '../admission/index.ts';
import { dialFailure, Shares } from '../http/index.ts';
import { type ByteString, isJsonObject, readJsonText } from '../meta/index.ts';
import {
  createWebhookClient,
  type Receiving,
  type WebhookAnswer,
  type WebhookCall,
  type WebhookClient,
} from './webhook-client.ts';
import type { WebhookConfig, WebhookCredentials, WebhookUser } from './webhook-kubeconfig.ts';

export interface RegisteredWebhooks {
  /**
   * `atOnce`: how many requests are sent at a time; the others wait, within their timeout. Without `credentials` the
   * webhook is called without.
   */
  postTo(registration: RegisteredWebhook, atOnce: number, credentials?: WebhookCredentials): CallWebhook;
  /** The webhook of a kubeconfig; `atOnce` as for the others, any number by default. Throws for certificates that are not PEM. */
  open(config: WebhookConfig, atOnce?: number): CallWebhook;
  /** Aborts all requests, and closes all connections. */
  close(): void;
}

export interface RegisteredWebhooksOptions {
  /** An address at which a service is reached. Rejects with the reason why there is none. */
  readonly locateService: (
    namespace: string,
    name: string,
    port: number,
  ) => Promise<{ readonly host: string; readonly port: string }>;
}

/** The largest response (bytes). */
const maxAnswer = 8 * 1024 * 1024;
/** Bytes of responses that are arriving, of all webhooks; one has no more of them than are left for others. */
const maxReceiving = 128 * 1024 * 1024;
/** How many clients are kept; the connections of others are closed when they have been idle. */
const maxClients = 256;
/** The timeout of a request that has none of its own (ms). */
const defaultMs = 30_000;

const anonymous: WebhookUser = { cert: undefined, key: undefined, authorization: undefined };

/** The webhooks that objects of the API register. Those with the same registration share their connections. */
export function registeredWebhooks({ locateService }: RegisteredWebhooksOptions): RegisteredWebhooks {
  const clients = new Map<string, WebhookClient>();
  const opened: WebhookClient[] = [];
  const shares = new Shares(maxReceiving);
  const receivingOf = (place: string): Receiving => ({
    take: (bytes) => {
      const fits = shares.fits(place, bytes, false);
      if (fits) shares.take(place, bytes);
      return fits;
    },
    give: (bytes) => shares.give(place, bytes),
  });
  const limitsOf = ({ href }: URL) => ({ timeoutMs: defaultMs, maxAnswer, receiving: receivingOf(href) });
  const closing = new AbortController();
  // Every call under way listens.
  setMaxListeners(0, closing.signal);
  const clientOf = (key: string, ...made: Parameters<typeof makeClient>): WebhookClient => {
    const client = clients.get(key) ?? makeClient(...made);
    clients.delete(key);
    clients.set(key, client);
    for (const oldest of clients.keys()) {
      if (clients.size <= maxClients) break;
      clients.delete(oldest);
    }
    return client;
  };
  const makeClient = (
    registration: RegisteredWebhook,
    maxRequests: number,
    credentials: WebhookCredentials | undefined,
  ): WebhookClient => {
    const { service } = registration;
    const url = new URL(placeOf(registration));
    const pem = Buffer.from(registration.caBundle ?? '', 'base64').toString();
    const locate =
      typeof registration.url === 'string' || !service
        ? undefined
        : () => locateService(service.namespace ?? '', service.name ?? '', service.port ?? 443);
    return createWebhookClient(
      {
        url,
        ca: pem.trim() === '' ? undefined : pem,
        serverName: locate && serverNameOf(service),
        skipVerify: false,
        ...(credentials?.userFor(url.hostname, url.port || '443') ?? anonymous),
      },
      { ...limitsOf(url), maxRequests, ...(locate === undefined ? {} : { locate }) },
    );
  };
  return {
    open: (config, maxRequests) => {
      const limits = limitsOf(config.url);
      const client = createWebhookClient(config, maxRequests === undefined ? limits : { ...limits, maxRequests });
      opened.push(client);
      return (body, timeoutMs) =>
        post(client, body, withTimeout(config.url.href, timeoutMs), { timeoutMs }, closing.signal);
    },
    postTo: (registration, atOnce, credentials) => {
      const { url, service, caBundle } = registration;
      const key = JSON.stringify([url, service, caBundle, atOnce, credentials?.path]);
      return async (body, timeoutMs, traceparent) => {
        const text = withTimeout(placeOf(registration), timeoutMs);
        const client = clientOf(key, registration, atOnce, credentials);
        return post(client, body, text, { timeoutMs, traceparent }, closing.signal);
      };
    },
    close: () => {
      closing.abort();
      for (const client of [...clients.values(), ...opened]) client.close();
    },
  };
}

async function post(
  client: WebhookClient,
  body: ByteString,
  text: string,
  call: Omit<WebhookCall, 'url'>,
  closing: AbortSignal,
): Promise<Uint8Array> {
  const url = new URL(text);
  const answer = await client.post(body, closing, { url, ...call }).catch((error: unknown) => {
    throw new Error(`Post ${JSON.stringify(text)}: ${failureText(error, url)}`, { cause: error });
  });
  return contentOf(answer);
}

const serverNameOf = (service: RegisteredWebhook['service']): string => `${service?.name}.${service?.namespace}.svc`;

/** The URL that tells the webhook how long it may take. */
const withTimeout = (url: string, timeoutMs: number): string =>
  `${url}${url.includes('?') ? '&' : '?'}timeout=${Math.ceil(timeoutMs / 1_000)}s`;

/** The URL without its query, with the port of a service. */
const placeOf = ({ url, service }: RegisteredWebhook): string =>
  typeof url === 'string' ? url : `https://${serverNameOf(service)}:${service?.port ?? 443}${service?.path ?? ''}`;

/** Why there is no response. */
function failureText(error: unknown, url: URL): string {
  if (!(error instanceof Error)) return 'unknown failure';
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'context deadline exceeded';
  // An attempt for each address of a name.
  const cause = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
  const { address, port } = cause as { readonly address?: string; readonly port?: number };
  const place = { host: address ?? url.hostname.replace(/^\[|\]$/g, ''), port: String(port ?? (url.port || 443)) };
  return certificateFault(cause) ?? dialFailure(cause, { scheme: 'https', ...place, path: '', peer: 'anyone' });
}

/** A certificate of another host. */
function certificateFault(error: Error): string | undefined {
  if (!('code' in error) || error.code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return undefined;
  const { host = '', cert = {} } = error as { host?: string; cert?: { readonly subjectaltname?: string } };
  const prefix = isIP(host) === 0 ? 'DNS:' : 'IP Address:';
  const known = (cert.subjectaltname ?? '').split(', ').filter((name) => name.startsWith(prefix));
  const names = known.map((name) => name.slice(prefix.length)).join(', ');
  const x509 = 'tls: failed to verify certificate: x509:';
  if (names !== '') return `${x509} certificate is valid for ${names}, not ${host}`;
  if (isIP(host) === 0) return `${x509} certificate is not valid for any names, but wanted to match ${host}`;
  return `${x509} cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
}

/** How much of a response that is no success is shown (bytes). */
const maxShown = 2_048;

const refusals: { readonly [status: number]: string } = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** The body of a successful response. */
function contentOf({ status, contentType, body }: WebhookAnswer): Uint8Array {
  if (status < 200 || status > 206) throw new WebhookFailure(status, statusFailure(status, contentType, body));
  if (body.length > 0) return body;
  throw new Error(`0-length response with status code: ${status} and content type: ${contentType}`);
}

function statusFailure(status: number, contentType: string, body: Buffer): string {
  const sent = readJsonText(body.toString());
  if (isJsonObject(sent ?? null)) {
    const { kind, status: outcome, message } = sent as { readonly [name: string]: unknown };
    if (kind === 'Status' && outcome === 'Failure' && typeof message === 'string') return message;
  }
  const isText = contentType === '' || contentType.startsWith('text/');
  const shown = isText ? body.subarray(0, maxShown).toString().trim() : 'unknown';
  if (status === 403 || status === 415) return shown;
  if (status === 406) {
    const why = 'the server was unable to respond with a content type that the client supports';
    return shown === '' || shown === 'unknown' ? why : shown;
  }
  const known = refusals[status];
  if (known !== undefined) return known;
  if (status >= 500)
    return `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}
