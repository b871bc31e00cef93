import { isIP } from 'node:net';
import { dialFailure } from '../http/index.ts';
import { type ByteString, isJsonObject, readJsonText } from '../meta/index.ts';
import { createWebhookClient, type WebhookAnswer, type WebhookClient } from './webhook-client.ts';
import type { WebhookCredentials, WebhookUser } from './webhook-kubeconfig.ts';

/** Where a webhook is that an object of the API registers, and how it is trusted. */
export interface WebhookRegistration {
  readonly url?: string | null;
  readonly service?: ServicePlace | null;
  /** CA bundle: PEM in base64. Empty: the authorities that Node trusts. */
  readonly caBundle?: string;
}

interface ServicePlace {
  readonly namespace?: string;
  readonly name?: string;
  readonly path?: string | null;
  readonly port?: number | null;
}

/** Posts JSON to a webhook and returns the body of its response. Rejects with an Error as client libraries word it. */
export type PostToWebhook = (body: ByteString) => Promise<Uint8Array>;

export interface RegisteredWebhooks {
  /** `seconds`: the timeout of a request. Without `credentials` the webhook is called without. */
  postTo(registration: WebhookRegistration, seconds: number, credentials?: WebhookCredentials): PostToWebhook;
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

/** How many requests are sent to a webhook at a time, and the largest response (bytes). */
const maxRequests = 16;
const maxAnswer = 8 * 1024 * 1024;
/** How many clients are kept; the connections of others are closed when they have been idle. */
const maxClients = 256;

type ClientMaker = (
  registration: WebhookRegistration,
  seconds: number,
  credentials: WebhookCredentials | undefined,
) => WebhookClient;

const anonymous: WebhookUser = { cert: undefined, key: undefined, authorization: undefined };

/** The webhooks that objects of the API register. Those with the same registration share their connections. */
export function registeredWebhooks({ locateService }: RegisteredWebhooksOptions): RegisteredWebhooks {
  const clients = new Map<string, WebhookClient>();
  const closing = new AbortController();
  const clientOf: ClientMaker = (registration, seconds, credentials) => {
    const { url, service, caBundle } = registration;
    const key = JSON.stringify([url, service, caBundle, seconds, credentials?.path]);
    const client = clients.get(key) ?? makeClient(registration, seconds, credentials);
    clients.delete(key);
    clients.set(key, client);
    for (const oldest of clients.keys()) {
      if (clients.size <= maxClients) break;
      clients.delete(oldest);
    }
    return client;
  };
  const makeClient: ClientMaker = (registration, seconds, credentials) => {
    const { service } = registration;
    const url = urlOf(registration, seconds);
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
      { timeoutMs: seconds * 1_000, maxAnswer, maxRequests, ...(locate === undefined ? {} : { locate }) },
    );
  };
  return {
    postTo: (registration, seconds, credentials) => async (body) => {
      const client = clientOf(registration, seconds, credentials);
      const answer = await client.post(body, closing.signal).catch((error: unknown) => {
        const text = textOf(registration, seconds);
        throw new Error(`Post ${JSON.stringify(text)}: ${failureText(error, new URL(text))}`, { cause: error });
      });
      return contentOf(answer);
    },
    close: () => {
      closing.abort();
      for (const client of clients.values()) client.close();
    },
  };
}

const serverNameOf = (service: ServicePlace | null | undefined): string => `${service?.name}.${service?.namespace}.svc`;

/** The URL as messages show it, with the port of a service. */
function textOf({ url, service }: WebhookRegistration, seconds: number): string {
  const base =
    typeof url === 'string' ? url : `https://${serverNameOf(service)}:${service?.port ?? 443}${service?.path ?? ''}`;
  return `${base}?timeout=${seconds}s`;
}

const urlOf = (registration: WebhookRegistration, seconds: number): URL => new URL(textOf(registration, seconds));

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
  if (status < 200 || status > 206) throw new Error(statusFailure(status, contentType, body));
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
