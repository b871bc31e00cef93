import type { Clock } from '../meta/index.ts';
import type { Collector } from './collector.ts';
import type { SpanData } from './span-data.ts';

/** The defaults of OpenTelemetry: spans in the queue, spans in a batch, and the longest delay of a batch (ms). */
const maxQueuedSpans = 2_048;
const maxBatchSpans = 512;
const maxDelayMs = 5_000;
/** Time limit for the delivery of a batch (ms). */
const deliveryTimeoutMs = 10_000;
/** The shortest interval between two warnings of lost spans (ms). */
const warningIntervalMs = 60_000;

export interface SpanExporterOptions {
  readonly collector: Collector;
  /** The endpoint of the collector, for the log. */
  readonly endpoint: string;
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly warn: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

/** Sends spans to a collector in batches, one at a time. No request waits for it: spans that do not fit are lost. */
export class SpanExporter {
  readonly #options: SpanExporterOptions;
  #queue: SpanData[] = [];
  #cancelTimer: (() => void) | undefined;
  #delivery: Promise<void> | undefined;
  #closed = false;
  #lostSpans = 0;
  #nextWarningAt = Number.NEGATIVE_INFINITY;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
  }

  add(spans: readonly SpanData[]): void {
    const room = this.#closed ? 0 : maxQueuedSpans - this.#queue.length;
    const accepted = spans.slice(0, room);
    for (const span of accepted) this.#queue.push(span);
    if (accepted.length < spans.length) {
      this.#countLost(spans.length - accepted.length, `the queue of ${maxQueuedSpans} spans is full`);
    }
    this.#schedule();
  }

  /** Sends the queued spans within a time (ms). Later spans are lost. */
  async close(timeoutMs: number): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelTimer?.();
    let cancelTimeout = () => {};
    const timeout = new Promise<void>((resolve) => {
      cancelTimeout = this.#options.clock.after(timeoutMs, resolve);
    });
    await Promise.race([this.#flush(timeoutMs), timeout]);
    cancelTimeout();
    this.#options.collector.close();
  }

  #schedule(): void {
    if (this.#queue.length >= maxBatchSpans) this.#sendBatch();
    else if (this.#queue.length > 0) {
      this.#cancelTimer ??= this.#options.clock.after(maxDelayMs, () => this.#sendBatch());
    }
  }

  #sendBatch(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#delivery !== undefined || this.#closed || this.#queue.length === 0) return;
    this.#delivery = this.#deliver(this.#queue.splice(0, maxBatchSpans), deliveryTimeoutMs).then(() => {
      this.#delivery = undefined;
      this.#schedule();
    });
  }

  async #flush(timeoutMs: number): Promise<void> {
    await this.#delivery;
    if (this.#queue.length > 0) await this.#deliver(this.#queue.splice(0), timeoutMs);
  }

  async #deliver(spans: readonly SpanData[], timeoutMs: number): Promise<void> {
    try {
      await this.#options.collector.send(spans, timeoutMs);
    } catch (error) {
      this.#countLost(spans.length, error instanceof Error ? error.message : 'unknown failure');
    }
  }

  #countLost(spans: number, reason: string): void {
    this.#lostSpans += spans;
    const { clock, endpoint, warn } = this.#options;
    if (clock.monotonic() < this.#nextWarningAt) return;
    this.#nextWarningAt = clock.monotonic() + warningIntervalMs;
    warn('spans were not exported', { endpoint, spans: this.#lostSpans, why: reason });
    this.#lostSpans = 0;
  }
}
