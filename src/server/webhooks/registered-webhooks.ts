import { setMaxListeners } from 'node:events';
import type { CallWebhook, RegisteredWebhook } from '../../admission/index.ts';
import { FairLimit } from '../../http/index.ts';
import type { Receiving } from './read-response.ts';
import { createWebhookClient, type WebhookClient } from './webhook-client.ts';
import type { WebhookConfig, WebhookCredentials, WebhookUser } from './webhook-kubeconfig.ts';
import { post } from './webhook-post.ts';

export interface RegisteredWebhooks {
  /**
   * `atOnce`: maximum number of concurrent requests; further ones wait within their timeout. Default of `credentials`:
   * none.
   */
  postTo(registration: RegisteredWebhook, atOnce: number, credentials?: WebhookCredentials): CallWebhook;
  /** The webhook of a kubeconfig, which reviews tokens or images; `atOnce` as for the others. Throws for certificates that are not PEM. */
  open(config: WebhookConfig, atOnce: number): CallWebhook;
  /** Aborts all requests, and closes all connections. */
  close(): void;
}

export interface RegisteredWebhooksOptions {
  /** Resolves with an address of a service. Rejects with the reason when there is none. */
  readonly locateService: (
    namespace: string,
    name: string,
    port: number,
  ) => Promise<{ readonly host: string; readonly port: string }>;
}

/**
 * Maximum size of a response in bytes: of a webhook that an API object registers, and of one of a kubeconfig. A patch that
 * replaces an object of 2 MiB takes 2.7; joining and decoding the bytes are single steps.
 */
const maxAnswer = 4 * 1024 * 1024;
/** Reviews of tokens are decoded in one step. */
const maxReview = 256 * 1024;
/** Maximum number of bytes of incomplete responses of all webhooks; one may use at most as many as remain for others. */
const maxReceiving = 128 * 1024 * 1024;
/** Maximum number of clients; the connections of others close once they are idle. */
const maxClients = 256;
/** Default timeout of a request (ms). */
const defaultMs = 30_000;

const anonymous: WebhookUser = { cert: undefined, key: undefined, authorization: undefined };

/** The webhooks that API objects register. Equal registrations share their connections. */
export function registeredWebhooks({ locateService }: RegisteredWebhooksOptions): RegisteredWebhooks {
  const clients = new Map<string, WebhookClient>();
  const opened: WebhookClient[] = [];
  const shares = new FairLimit(maxReceiving);
  const receivingOf = (place: string): Receiving => ({
    take: (bytes) => shares.tryTake(place, bytes),
    give: (bytes) => shares.release(place, bytes),
  });
  const limitsOf = ({ href }: URL) => ({ timeoutMs: defaultMs, receiving: receivingOf(href) });
  const closing = new AbortController();
  // Every pending call adds a listener.
  setMaxListeners(0, closing.signal);
  const clientOf = (key: string, ...args: Parameters<typeof createClient>): WebhookClient => {
    const client = clients.get(key) ?? createClient(...args);
    clients.delete(key);
    clients.set(key, client);
    for (const oldest of clients.keys()) {
      if (clients.size <= maxClients) break;
      clients.delete(oldest);
    }
    return client;
  };
  const createClient = (
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
      { ...limitsOf(url), maxAnswer, maxRequests, ...(locate === undefined ? {} : { locate }) },
    );
  };
  return {
    open: (config, maxRequests) => {
      const client = createWebhookClient(config, { ...limitsOf(config.url), maxAnswer: maxReview, maxRequests });
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

const serverNameOf = (service: RegisteredWebhook['service']): string => `${service?.name}.${service?.namespace}.svc`;

/** Adds the timeout to the URL of a webhook. */
const withTimeout = (url: string, timeoutMs: number): string =>
  `${url}${url.includes('?') ? '&' : '?'}timeout=${Math.ceil(timeoutMs / 1_000)}s`;

/** The URL without its query, with the port of a service. */
const placeOf = ({ url, service }: RegisteredWebhook): string =>
  typeof url === 'string' ? url : `https://${serverNameOf(service)}:${service?.port ?? 443}${service?.path ?? ''}`;
