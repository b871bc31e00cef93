import { type CallWebhook, WebhookFailure } from '../../admission/index.ts';
import type { ByteString, Clock, Random } from '../../meta/index.ts';

interface Options {
  readonly call: CallWebhook;
  /** Before the second attempt. */
  readonly backoffMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

/** The timeout of each attempt (ms). */
const timeoutMs = 30_000;

/** Posts to a webhook, again after a pause when it may answer later. */
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

/** How many attempts there are, and by how much each pause is longer than the one before. */
const attempts = 5;
const factor = 1.5;
/** The part of a pause that is added at random. */
const jitter = 0.2;

/** The pauses between the attempts of a call (ms). */
export const retryPauses = (firstMs: number, random: Random): readonly number[] =>
  Array.from(
    { length: attempts - 1 },
    (_, i) => firstMs * factor ** i * (1 + (jitter * random.integer(1_000)) / 1_000),
  );

/** Of 503 a client does not know whether it is for a moment. */
const isLater = (status: number): boolean => status === 429 || (status >= 500 && status !== 503);

/** Whether the webhook was busy, or the connection was reset. One that was closed without an answer is not tried again. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof WebhookFailure) return isLater(error.status);
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNRESET' && 'syscall' in cause;
}
