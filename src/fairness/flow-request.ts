/** A request in its priority level. */
import type { FlowAttributes, Schema } from './classify.ts';
import type { PriorityLevel } from './level.ts';
import type { Queue, QueuedRequest } from './queue.ts';
import type { Refusal } from './queue-set.ts';
import type { TimedCount } from './usage.ts';
import { oneSeat, type Work } from './work.ts';

/** A number that is counted up and down. */
interface Count {
  value: number;
}

interface Sample {
  observe(value: number): void;
}

/** The counters of the requests of a flow schema. */
export interface FlowSeries {
  readonly executingRequests: Count;
  readonly executingSeats: Count;
  readonly waitingRequests: Count;
  readonly waitingSeats: Count;
  readonly dispatched: Count;
  readonly rejected: (reason: Refusal) => Count;
  /** Seconds in a queue, of requests that then execute, or that do not. */
  readonly waited: Sample;
  readonly waitedInVain: Sample;
  /** Seconds with a seat. */
  readonly executed: Sample;
  readonly watchExecuted: Sample;
  readonly queueLength: Sample;
  readonly seats: Sample;
  /** The watches that receive a write. */
  readonly watches: Sample;
}

/** Where the requests of a flow schema go. */
export interface Assignment {
  readonly schema: Schema;
  readonly level: PriorityLevel;
  readonly series: FlowSeries;
}

export type Phase = 'waiting' | 'executing';

/** How many requests there are in each phase. */
export type PhaseCounts = { readonly [phase in Phase]: TimedCount };

/** Takes the seats of one request, at once or after a wait for them, and gives them back. */
export class FlowRequest implements QueuedRequest {
  readonly schema: Schema;
  readonly level: PriorityLevel;
  readonly series: FlowSeries;
  readonly attributes: FlowAttributes;
  readonly #counts: PhaseCounts;
  work = oneSeat;
  seats = 1;
  distinguisher = '';
  entered = 0;
  started: number | undefined;
  queue: Queue | undefined;
  earliestR = 0;
  place = 0;
  maxWaitMs = 0;
  #phase: Phase | undefined;
  /** Ends its wait, with the reason why it has given up; undefined: it has started. */
  #settle: ((reason: Refusal | undefined) => void) | undefined;

  /** `counts`: of all requests of its kind. */
  constructor({ schema, level, series }: Assignment, attributes: FlowAttributes, counts: PhaseCounts) {
    this.schema = schema;
    this.level = level;
    this.series = series;
    this.attributes = attributes;
    this.#counts = counts;
  }

  /**
   * Takes the seats for this work. Without free ones it enters a queue: then it has not `started`, and `wait` must follow.
   * Returns why it may do neither.
   */
  take(work: Work): Refusal | undefined {
    const { level, series } = this;
    this.work = work;
    this.seats = Math.max(work.initialSeats, work.finalSeats);
    series.seats.observe(this.seats);
    const refusal = level.queueSet.enter(this);
    if (refusal !== undefined) {
      level.counts.rejected++;
      series.rejected(refusal).value++;
      return refusal;
    }
    const { queue, started } = this;
    // A request that has started at once counts in the length of its queue.
    if (queue !== undefined) series.queueLength.observe(queue.waiting.length + (started === undefined ? 0 : 1));
    if (started === undefined) {
      this.#phase = 'waiting';
      series.waitingRequests.value++;
      series.waitingSeats.value += this.seats;
      this.#counts.waiting.add(1, this.entered);
    } else this.#execute(started);
    return undefined;
  }

  /** Waits for its start, at most for this time (ms). Resolves with the reason why it has given up; undefined: it has started. */
  wait(maxMs: number): Promise<Refusal | undefined> {
    this.maxWaitMs = maxMs;
    this.level.waits.add(this);
    return new Promise((settle) => {
      this.#settle = settle;
    });
  }

  /** Its client has disconnected: it waits no longer. */
  cancel(): void {
    if (this.#phase === 'waiting') this.#giveUp('cancelled');
  }

  onStart(now: number): void {
    // It starts while it is taken, when its queue is due.
    if (this.#phase === undefined) return;
    this.#endWait(now);
    this.#execute(now);
    this.#settle?.(undefined);
  }

  onExpired(): void {
    this.#giveUp('time-out');
  }

  /** Gives its seats back, if it has them. */
  release(): void {
    if (this.#phase !== 'executing') return;
    this.#phase = undefined;
    const { level, series, seats, started } = this;
    const now = level.queueSet.finish(this);
    this.#counts.executing.add(-1, now);
    series.executingRequests.value--;
    series.executingSeats.value -= seats;
    const { executed, watchExecuted } = series;
    const duration = this.attributes.verb === 'watch' ? watchExecuted : executed;
    duration.observe((now - (started as number)) / 1_000);
  }

  #giveUp(reason: 'time-out' | 'cancelled'): void {
    const { level, series } = this;
    const now = level.queueSet.cancel(this);
    this.#endWait(now);
    series.waitedInVain.observe((now - this.entered) / 1_000);
    series.rejected(reason).value++;
    level.counts[reason === 'cancelled' ? 'cancelled' : 'timedOut']++;
    this.#settle?.(reason);
  }

  #endWait(now: number): void {
    this.#phase = undefined;
    this.#counts.waiting.add(-1, now);
    this.series.waitingRequests.value--;
    this.series.waitingSeats.value -= this.seats;
    this.level.waits.delete(this);
  }

  #execute(now: number): void {
    this.#phase = 'executing';
    const { level, series, seats } = this;
    level.counts.dispatched++;
    series.dispatched.value++;
    series.executingRequests.value++;
    series.executingSeats.value += seats;
    series.waited.observe((now - this.entered) / 1_000);
    this.#counts.executing.add(1, now);
  }
}
