import { Agent, request } from 'node:https';
import { type ByteString, bufferOf } from '../meta/index.ts';
import type { WebhookConfig } from './webhook-kubeconfig.ts';

/** The response of a webhook. */
export interface WebhookAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** Calls a webhook. */
export interface WebhookClient {
  /** Posts JSON. Rejects when there is no complete response in time, or when aborted. Follows no redirect. */
  post(body: ByteString, signal: AbortSignal): Promise<WebhookAnswer>;
  /** Closes idle connections. */
  close(): void;
}

export interface WebhookClientOptions {
  /** Timeout of a request (ms). */
  readonly timeoutMs: number;
  /** The largest response (bytes). */
  readonly maxAnswer: number;
}

/** A client of the webhook of a kubeconfig, over TLS connections of its own. Throws for certificates that are not PEM. */
export function createWebhookClient(
  { url, ca, serverName, skipVerify, cert, key, authorization }: WebhookConfig,
  { timeoutMs, maxAnswer }: WebhookClientOptions,
): WebhookClient {
  const agent = new Agent({
    keepAlive: true,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: !skipVerify,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  });
  return {
    async post(body, aborted) {
      const signal = AbortSignal.any([aborted, AbortSignal.timeout(timeoutMs)]);
      const bytes = bufferOf(body);
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json',
        'content-length': bytes.length,
        ...(authorization === undefined ? {} : { authorization: await authorization() }),
      };
      return new Promise((resolve, reject) => {
        const outgoing = request(url, { method: 'POST', agent, headers, signal }, (incoming) => {
          const pieces: Buffer[] = [];
          let size = 0;
          incoming.on('data', (piece: Buffer) => {
            size += piece.length;
            if (size > maxAnswer) incoming.destroy(new Error(`the response has more than ${maxAnswer} bytes`));
            else pieces.push(piece);
          });
          incoming.on('error', reject);
          incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(pieces) }));
        });
        outgoing.on('error', reject);
        outgoing.end(bytes);
      });
    },
    close: () => agent.destroy(),
  };
}
