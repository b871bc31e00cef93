import type { ByteString, Clock, Random } from '../meta/index.ts';
import { BatchBuffer } from './batch-buffer.ts';
import { eventList, eventMembers } from './event.ts';
import type { BackendDependencies, TruncateOptions } from './log-backend.ts';
import { lossReporter, tooLarge } from './losses.ts';
import { awaited, type BatchSettings, inMode } from './mode.ts';
import { encodeWithin } from './truncate.ts';
import type { AuditBackend, AuditEvent } from './types.ts';

export interface WebhookBackendOptions {
  readonly batch: BatchSettings;
  /** Sends a body of JSON to the webhook. Rejects unless it is accepted, and when aborted. */
  readonly post: (body: ByteString, signal: AbortSignal) => Promise<void>;
  /** The time before the first of four further attempts (ms); each following one is half as long again. */
  readonly initialBackoffMs: number;
  readonly truncate: TruncateOptions | undefined;
}

const attempts = 5;
/** Batches that are sent, or wait for their next attempt, at one time. */
const parallel = 8;
/** The size of a request where batches are not limited (bytes). */
const requestBytes = 10 * 1024 * 1024;

/** Sends events to a webhook in batches. */
export function createWebhookBackend(
  { post, initialBackoffMs, truncate, batch }: WebhookBackendOptions,
  { names, clock, counts, log, random }: BackendDependencies & { readonly random: Pick<Random, 'integer'> },
): AuditBackend {
  const lost = lossReporter({ counts, log, clock });
  const deliver = async (items: readonly ByteString[], signal: AbortSignal) => {
    const body = eventList(items, names);
    for (let attempt = 1, backoff = initialBackoffMs; ; attempt++, backoff *= 1.5) {
      try {
        return await post(body, signal);
      } catch (error) {
        if (attempt === attempts || signal.aborted) throw error;
        await pause(backoff * (1 + random.integer(200) / 1000), signal, clock);
        if (signal.aborted) throw error;
      }
    }
  };
  const buffer = new BatchBuffer(
    { ...inMode(batch), batchBytes: truncate?.maxBatchSize ?? requestBytes, parallel },
    { plugin: 'webhook', deliver, lost, clock },
  );
  const encode = (event: AuditEvent) => `{${eventMembers(event)}}` as ByteString;
  return {
    mode: batch.mode,
    write(event) {
      const item = encodeWithin(truncate?.maxEventSize ?? Number.POSITIVE_INFINITY, event, names.domain, encode);
      return awaited(batch.mode, item === undefined ? tooLarge(lost) : buffer.add(item));
    },
    async close(graceMs) {
      await buffer.close(graceMs);
    },
  };
}

/** Resolves after a time, or when aborted. */
function pause(ms: number, signal: AbortSignal, clock: Pick<Clock, 'after'>): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      cancel();
      signal.removeEventListener('abort', over);
      resolve();
    };
    const cancel = clock.after(ms, over);
    signal.addEventListener('abort', over);
    if (signal.aborted) over();
  });
}
