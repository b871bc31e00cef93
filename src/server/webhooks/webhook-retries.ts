import { type CallWebhook, WebhookFailure } from '../../admission/index.ts';
import type { ByteString, Clock, Random } from '../../meta/index.ts';

interface Options {
  readonly call: CallWebhook;
  /** Delay before the first retry. */
  readonly backoffMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

/** Timeout of each attempt (ms). */
const timeoutMs = 30_000;

/** Wraps calls of a webhook with retries after failures that may be temporary. */
export function withRetries({ call, backoffMs, clock, random }: Options): (body: ByteString) => Promise<Uint8Array> {
  return async (body) => {
    const pauses = retryPauses(backoffMs, random);
    for (let attempt = 0; ; attempt++) {
      try {
        return await call(body, timeoutMs);
      } catch (error) {
        const ms = pauses[attempt];
        if (ms === undefined || !isRetryable(error)) throw error;
        await new Promise<void>((resolve) => {
          clock.after(ms, resolve);
        });
      }
    }
  };
}

/** Maximum number of attempts, and the growth of the delay between them. */
const attempts = 5;
const factor = 1.5;
/** Maximum fraction of a delay that is added at random. */
const jitter = 0.2;

/** The delays between the attempts of a call (ms). */
export const retryPauses = (firstMs: number, random: Random): readonly number[] =>
  Array.from(
    { length: attempts - 1 },
    (_, i) => firstMs * factor ** i * (1 + (jitter * random.integer(1_000)) / 1_000),
  );

/** A 503 may be permanent and is not retried. */
const isLater = (status: number): boolean => status === 429 || (status >= 500 && status !== 503);

/** Whether the webhook was busy or the connection was reset. A connection that was closed without a response is not retried. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof WebhookFailure) return isLater(error.status);
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNRESET' && 'syscall' in cause;
}
