import { setMaxListeners } from 'node:events';
import { stat } from 'node:fs/promises';
import { CallFailure } from '../../access/index.ts';
import { type ByteString, type FieldError, fieldError, formatDuration } from '../../meta/index.ts';
import { StartError, systemReason } from '../start-error.ts';
import { createWebhookClient } from '../webhooks/webhook-client.ts';
import { readWebhookConfig } from '../webhooks/webhook-kubeconfig.ts';
import { post } from '../webhooks/webhook-post.ts';
import { isRetryable } from '../webhooks/webhook-retries.ts';

/** The kubeconfig of a webhook, and the setting or field that names it. */
export interface Kubeconfig {
  readonly setting: string;
  readonly path: string;
  /** The path of the webhook, where its server is an API server. Default: that of the URL in the kubeconfig. */
  readonly endpoint?: string;
}

/** The connections to an authorization webhook. */
export interface AuthorizationClient {
  /** One attempt: the body of the response. Rejects with a CallFailure. */
  readonly call: (review: ByteString) => Promise<string>;
  /** Aborts pending calls. */
  readonly close: () => void;
}

/** Maximum size of a response in bytes, and maximum number of concurrent requests. */
const limits = { maxAnswer: 256 * 1024, maxRequests: 64 };

/** @throws StartError */
export async function openAuthorizationWebhook(
  { setting, path, endpoint = '' }: Kubeconfig,
  timeoutMs: number,
): Promise<AuthorizationClient> {
  const what = 'invalid authorization config';
  const where = `${setting}=${JSON.stringify(path)}: ${what}`;
  const read = await readWebhookConfig(setting, path, what);
  const config = { ...read, url: new URL(endpoint, read.url) };
  if (config.url.search !== '' || config.url.hash !== '') {
    throw new StartError(`${where}: server must be a URL without parameters`);
  }
  const closing = new AbortController();
  // Every pending call adds a listener.
  setMaxListeners(0, closing.signal);
  const client = (() => {
    try {
      return createWebhookClient(config, { timeoutMs, ...limits });
    } catch (error) {
      const why = `its certificates cannot be used: ${systemReason(error)}`;
      throw new StartError(`${where}: ${why}`, error);
    }
  })();
  const text = `${config.url.href}?timeout=${formatDuration(BigInt(timeoutMs) * 1_000_000n)}`;
  return {
    call: async (review) => {
      try {
        return Buffer.from(await post(client, review, text, { timeoutMs }, closing.signal)).toString();
      } catch (error) {
        throw callFailureOf(error);
      }
    },
    close: () => {
      closing.abort();
      client.close();
    },
  };
}

function callFailureOf(error: unknown): CallFailure {
  if (!(error instanceof Error)) return new CallFailure('unknown failure');
  const timedOut = error.cause instanceof Error && error.cause.name === 'AbortError';
  return new CallFailure(error.message, { timedOut, mayRecover: isRetryable(error) });
}

/** Validates the path of a kubeconfig. */
export async function checkKubeconfigPath(field: string, path: string): Promise<FieldError[]> {
  try {
    return (await stat(path)).isFile() ? [] : [fieldError.invalid(field, path, 'must be a regular file')];
  } catch (error) {
    return [fieldError.invalid(field, path, `error loading file: ${systemReason(error)}`)];
  }
}
