import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { CallWebhook, RegisteredWebhook } from '../../admission/index.ts';
import { bufferOf, type Json, type JsonObject } from '../../meta/index.ts';
import { type CertKeyPair, issueCertificate } from '../../pki/index.ts';
import { ensureFolder, writePrivate, writePublic } from '../private-files.ts';
import { didYouMean } from '../settings/suggest.ts';
import { StartError } from '../start-error.ts';
import type { RegisteredWebhooks } from '../webhooks/registered-webhooks.ts';
import type { Source } from './sources.ts';

/** What a webhook is sent: an AdmissionReview or a ConversionReview, and the path of its configuration. */
export interface WebhookRequest {
  /** The `path` of `clientConfig.service`; `/` without one. */
  readonly path: string;
  readonly review: { readonly apiVersion: string; readonly kind: string; readonly request: JsonObject };
}

/**
 * Answers a webhook in process: the result is the `response` of the review without its `uid`, such as
 * `{ allowed: false, status: { message: 'no' } }`. A `patch` may be a list of operations. When it throws, the call has failed.
 */
export type WebhookHandler = (request: WebhookRequest) => object | Promise<object>;

/** The webhooks of a test: those whose configuration, or conversion, names a service. */
export interface WebhookOptions {
  /** Webhook configurations: objects, files, and folders, of which only the configurations are read. */
  readonly configurations?: Source | readonly Source[] | undefined;
  /** Answers them in process. Without one they are called over TLS at `host` and `port`. */
  readonly handler?: WebhookHandler | undefined;
  /** Default: `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Default: a port that is free. */
  readonly port?: number | undefined;
  /** A folder into which `tls.crt` and `tls.key` are written, for a server that reads them there. */
  readonly certDir?: string | undefined;
}

/** Where webhooks are called over TLS, and what serves them there. */
export interface WebhookPlace {
  readonly host: string;
  readonly port: number;
  /** The serving certificate and its key in PEM: options of `createServer` of `node:https`. */
  readonly cert: string;
  readonly key: string;
}

/** The webhooks of a test server. */
export interface LocalWebhooks {
  /** Undefined: a handler answers. */
  readonly place: WebhookPlace | undefined;
  /** Calls the webhooks of services at their local place. */
  readonly intercept: (webhooks: RegisteredWebhooks) => RegisteredWebhooks;
}

const parts: readonly (keyof WebhookOptions)[] = ['configurations', 'handler', 'host', 'port', 'certDir'];

/** @throws StartError when the options make no sense */
export async function localWebhooks(options: WebhookOptions): Promise<LocalWebhooks> {
  const { handler, host = '127.0.0.1', port, certDir } = options;
  checkOptions(options);
  if (handler !== undefined) return { place: undefined, intercept: interceptWith(answerWith(handler)) };
  const { authority, serving } = certificatesFor(host);
  if (certDir !== undefined) {
    await ensureFolder(certDir);
    await writePublic(join(certDir, 'tls.crt'), serving.cert);
    await writePrivate(join(certDir, 'tls.key'), serving.key);
  }
  const place = { host, port: port ?? (await freePort(host)), ...serving };
  const base = `https://${host.includes(':') ? `[${host}]` : host}:${place.port}`;
  const caBundle = Buffer.from(authority).toString('base64');
  const intercept = interceptWith((path, webhooks, ...rest) =>
    webhooks.postTo({ url: base + path, caBundle }, ...rest),
  );
  return { place, intercept };
}

function checkOptions({ handler, ...options }: WebhookOptions): void {
  for (const key of Object.keys(options)) {
    if ((parts as readonly string[]).includes(key)) continue;
    throw new StartError(`webhooks.${key} is an unknown option${didYouMean(key, parts)}`);
  }
  if (handler === undefined) return;
  if (typeof handler !== 'function') throw new StartError('webhooks.handler must be a function');
  const other = (['host', 'port', 'certDir'] as const).find((key) => options[key] !== undefined);
  if (other === undefined) return;
  throw new StartError(`webhooks.${other} is for webhooks over TLS: webhooks.handler answers them in process`);
}

type Rest = readonly [atOnce: number, credentials?: Parameters<RegisteredWebhooks['postTo']>[2]];

const interceptWith =
  (call: (path: string, webhooks: RegisteredWebhooks, ...rest: Rest) => CallWebhook): LocalWebhooks['intercept'] =>
  (webhooks) => ({
    ...webhooks,
    postTo: (registration: RegisteredWebhook, ...rest: Rest) => {
      const { url, service } = registration;
      if (typeof url === 'string' || !service) return webhooks.postTo(registration, ...rest);
      const { path } = service;
      return call(typeof path === 'string' && path !== '' ? path : '/', webhooks, ...rest);
    },
  });

/** Has the handler answer, within the timeout of the webhook. */
function answerWith(handler: WebhookHandler) {
  return (path: string): CallWebhook =>
    async (body, timeoutMs) => {
      const review = JSON.parse(bufferOf(body).toString()) as WebhookRequest['review'];
      const over = new AbortController();
      const late = pause(timeoutMs, undefined, { signal: over.signal, ref: false }).then(() => {
        throw new Error(`${path}: context deadline exceeded`);
      });
      // It is aborted when the handler has answered.
      late.catch(() => {});
      try {
        const response = await Promise.race([handler({ path, review }), late]);
        return Buffer.from(JSON.stringify(reviewOf(review, response)));
      } finally {
        over.abort();
      }
    };
}

function reviewOf({ apiVersion, kind, request }: WebhookRequest['review'], response: object) {
  const { patch, ...rest } = response as { readonly patch?: Json };
  const encoded = Array.isArray(patch)
    ? { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
    : patch === undefined
      ? {}
      : { patch };
  return { apiVersion, kind, response: { uid: request['uid'] ?? '', ...rest, ...encoded } };
}

const day = 86_400_000;

/** A serving certificate for the host, and the authority that has signed it. Connections are judged by the time of the system. */
function certificatesFor(host: string): { readonly authority: string; readonly serving: CertKeyPair } {
  const times = { notBefore: Date.now() - day, notAfter: Date.now() + 30 * day };
  const name = 'webhooks-ca';
  const authority = issueCertificate({ commonName: name, usage: 'authority', ...times });
  const hosts = [...new Set(['localhost', '127.0.0.1', host])];
  const request = { commonName: 'webhooks', usage: 'server', hosts, ...times } as const;
  return { authority: authority.cert, serving: issueCertificate(request, { ...authority, name }) };
}

/** @throws StartError when the host has none */
function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', (error) => reject(new StartError(`webhooks.host: ${error.message}`, error)));
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
