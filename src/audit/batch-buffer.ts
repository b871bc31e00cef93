import type { ByteString, Clock } from '../meta/index.ts';
import type { ReportLoss } from './losses.ts';

export interface BatchOptions {
  /** The most events that wait; further ones are lost. */
  readonly bufferSize: number;
  /** The most events of a batch, and its size in bytes unless one event is larger. */
  readonly batchSize: number;
  readonly batchBytes: number;
  /** How long events wait for a full batch (ms). */
  readonly waitMs: number;
  /** Batches per second on average, and at once. */
  readonly throttle?: { readonly qps: number; readonly burst: number } | undefined;
  /** The most batches delivered at one time. */
  readonly parallel: number;
}

export interface BatchDelivery {
  /** The plugin under which a failure is reported. */
  readonly plugin: string;
  /** Delivers a batch, or rejects; aborted when the time for the shutdown is over. */
  readonly deliver: (batch: readonly ByteString[], signal: AbortSignal) => Promise<void>;
  readonly lost: ReportLoss;
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
}

/** The most bytes of events that wait. */
const maxWaiting = 64 * 1024 * 1024;

interface Waiting {
  readonly event: ByteString;
  readonly settle: (delivered: boolean) => void;
}

/** Gathers events and delivers them in batches; what does not fit is lost. */
export class BatchBuffer {
  readonly #delivery: BatchDelivery;
  readonly #options: BatchOptions;
  readonly #abort = new AbortController();
  readonly #waiting: Waiting[] = [];
  #bytes = 0;
  #running = 0;
  /** The events have waited long enough for a full batch. */
  #due = false;
  #closing = false;
  #cancelWait: (() => void) | undefined;
  #cancelThrottle: (() => void) | undefined;
  #tokens: number;
  #counted: number;
  #idle: () => void = () => {};

  constructor(options: BatchOptions, delivery: BatchDelivery) {
    this.#options = options;
    this.#delivery = delivery;
    this.#tokens = options.throttle?.burst ?? 0;
    this.#counted = delivery.clock.monotonic();
  }

  /** Resolves, and never rejects, when the event was delivered (true) or lost (false). */
  add(event: ByteString): Promise<boolean> {
    const { bufferSize } = this.#options;
    if (this.#closing || this.#waiting.length >= bufferSize || this.#bytes + event.length > maxWaiting) {
      const why = this.#closing ? 'audit backend shut down' : 'audit buffer queue blocked';
      this.#delivery.lost('buffered', 1, new Error(why));
      return Promise.resolve(false);
    }
    const delivered = new Promise<boolean>((settle) => {
      this.#waiting.push({ event, settle });
    });
    this.#bytes += event.length;
    this.#start();
    return delivered;
  }

  /** Delivers what waits, without waiting for full batches. False: not everything was delivered within `graceMs`. */
  async close(graceMs: number): Promise<boolean> {
    this.#closing = true;
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    this.#start();
    let inTime = true;
    const cancel = this.#delivery.clock.after(graceMs, () => {
      inTime = false;
      const left = this.#waiting.splice(0);
      this.#bytes = 0;
      if (left.length > 0) this.#delivery.lost('buffered', left.length, new Error('the time for the shutdown is over'));
      for (const { settle } of left) settle(false);
      this.#abort.abort();
      this.#idle();
    });
    await idle;
    cancel();
    this.#cancelWait?.();
    this.#cancelThrottle?.();
    return inTime;
  }

  /** Starts the batches that may be delivered now. */
  #start(): void {
    const { batchSize, waitMs, parallel } = this.#options;
    while (this.#waiting.length > 0 && this.#running < parallel) {
      if (this.#waiting.length < batchSize && waitMs > 0 && !this.#due && !this.#closing) {
        this.#cancelWait ??= this.#delivery.clock.after(waitMs, () => {
          this.#cancelWait = undefined;
          this.#due = true;
          this.#start();
        });
        return;
      }
      if (!this.#mayDeliver()) return;
      this.#cancelWait?.();
      this.#cancelWait = undefined;
      this.#due = false;
      this.#deliver(this.#take());
    }
    if (this.#closing && this.#running === 0 && this.#waiting.length === 0) this.#idle();
  }

  #take(): Waiting[] {
    const { batchSize, batchBytes } = this.#options;
    let count = 0;
    let size = 0;
    for (const { event } of this.#waiting) {
      const { length } = event;
      if (count === batchSize || (count > 0 && size + length > batchBytes)) break;
      count++;
      size += length;
    }
    this.#bytes -= size;
    return this.#waiting.splice(0, count);
  }

  #deliver(batch: readonly Waiting[]): void {
    const { deliver, lost, plugin } = this.#delivery;
    const ended = (delivered: boolean) => {
      for (const { settle } of batch) settle(delivered);
      this.#running--;
      this.#start();
    };
    this.#running++;
    deliver(
      batch.map(({ event }) => event),
      this.#abort.signal,
    ).then(
      () => ended(true),
      (error: unknown) => {
        lost(plugin, batch.length, error);
        ended(false);
      },
    );
  }

  /** Takes a token of the throttle; without one, tries again when there is one. */
  #mayDeliver(): boolean {
    const { throttle } = this.#options;
    if (throttle === undefined) return true;
    const now = this.#delivery.clock.monotonic();
    this.#tokens = Math.min(throttle.burst, this.#tokens + ((now - this.#counted) / 1000) * throttle.qps);
    this.#counted = now;
    if (this.#tokens >= 1) {
      this.#tokens--;
      return true;
    }
    this.#cancelThrottle ??= this.#delivery.clock.after(Math.ceil(((1 - this.#tokens) / throttle.qps) * 1000), () => {
      this.#cancelThrottle = undefined;
      this.#start();
    });
    return false;
  }
}
