import type { Clock } from '../meta/index.ts';
import type { Collector } from './collector.ts';
import type { SpanData } from './span-data.ts';

/** How many spans wait, how many are sent at once, how long they wait for others (ms): the defaults of OpenTelemetry. */
const mostWaiting = 2_048;
const batchSize = 512;
const waitMs = 5_000;
/** How long a batch may take (ms). */
const sendMs = 10_000;
/** How often lost spans are told of at most (ms). */
const tellMs = 60_000;

export interface SpanExporterOptions {
  readonly collector: Collector;
  readonly endpoint: string;
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly warn: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

/** Sends spans to a collector in batches, one at a time. No request waits for it: what has no room is lost. */
export class SpanExporter {
  readonly #options: SpanExporterOptions;
  #waiting: SpanData[] = [];
  #cancelTimer: (() => void) | undefined;
  #sending: Promise<void> | undefined;
  #closed = false;
  #lost = 0;
  #tellAt = Number.NEGATIVE_INFINITY;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
  }

  add(spans: readonly SpanData[]): void {
    const room = this.#closed ? 0 : mostWaiting - this.#waiting.length;
    const taken = spans.slice(0, room);
    for (const span of taken) this.#waiting.push(span);
    if (taken.length < spans.length) this.#lose(spans.length - taken.length, 'more spans than can be sent');
    if (this.#waiting.length >= batchSize) this.#send();
    else if (this.#waiting.length > 0) this.#cancelTimer ??= this.#options.clock.after(waitMs, () => this.#send());
  }

  /** Sends what waits, within a time (ms). */
  async close(timeoutMs: number): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelTimer?.();
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#options.clock.after(timeoutMs, resolve);
    });
    await Promise.race([this.#sendRest(timeoutMs), late]);
    cancel();
    this.#options.collector.close();
  }

  #send(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#sending !== undefined || this.#closed || this.#waiting.length === 0) return;
    this.#sending = this.#deliver(this.#waiting.splice(0, batchSize), sendMs).then(() => {
      this.#sending = undefined;
      this.add([]);
    });
  }

  async #sendRest(timeoutMs: number): Promise<void> {
    await this.#sending;
    if (this.#waiting.length > 0) await this.#deliver(this.#waiting.splice(0), timeoutMs);
  }

  async #deliver(spans: readonly SpanData[], timeoutMs: number): Promise<void> {
    try {
      await this.#options.collector.send(spans, timeoutMs);
    } catch (error) {
      this.#lose(spans.length, error instanceof Error ? error.message : 'unknown failure');
    }
  }

  #lose(spans: number, why: string): void {
    this.#lost += spans;
    const { clock, endpoint, warn } = this.#options;
    if (clock.monotonic() < this.#tellAt) return;
    this.#tellAt = clock.monotonic() + tellMs;
    warn('spans were not exported', { endpoint, spans: this.#lost, why });
    this.#lost = 0;
  }
}
