import { type CallWebhook, WebhookFailure } from '../admission/index.ts';
import type { ByteString, Clock, Random } from '../meta/index.ts';

interface Options {
  readonly call: CallWebhook;
  /** Before the second attempt. */
  readonly backoffMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

/** How many attempts there are, the timeout of each (ms), and by how much each pause is longer than the one before. */
const attempts = 5;
const timeoutMs = 30_000;
const factor = 1.5;
/** The part of a pause that is added at random. */
const jitter = 0.2;

/** Posts to a webhook, again after a pause when it may answer later. */
export function retriedCall({ call, backoffMs, clock, random }: Options): (body: ByteString) => Promise<Uint8Array> {
  return async (body) => {
    for (let attempt = 1, pause = backoffMs; ; attempt++, pause *= factor) {
      try {
        return await call(body, timeoutMs);
      } catch (error) {
        if (attempt === attempts || !mayRecover(error)) throw error;
        const ms = pause * (1 + (jitter * random.integer(1_000)) / 1_000);
        await new Promise<void>((resolve) => {
          clock.after(ms, resolve);
        });
      }
    }
  };
}

const later = [429, 500, 504];

/** Whether the webhook was busy, or the connection was lost. */
const mayRecover = (error: unknown): boolean =>
  error instanceof WebhookFailure
    ? later.includes(error.status)
    : error instanceof Error &&
      error.cause instanceof Error &&
      'code' in error.cause &&
      error.cause.code === 'ECONNRESET';
