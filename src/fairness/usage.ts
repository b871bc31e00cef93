/** The use and the demand of a priority level over time. */

/** Observes a value that a state had for a duration (ns). */
export interface TimedSample {
  observe(value: number, nanoseconds: number): void;
}

/** A count over time, which is observed as a fraction of a limit. */
export class TimedCount {
  readonly #sample: TimedSample;
  readonly #limit: number;
  #count = 0;
  /** When the count changed (monotonic ms), and what was not yet observed: its time (ms), and counts times their time. */
  #since: number;
  #pendingMs = 0;
  #countMs = 0;

  constructor(sample: TimedSample, limit: number, now: number) {
    this.#sample = sample;
    this.#limit = limit;
    this.#since = now;
  }

  /** Changes the count; the one before has lasted until now (monotonic ms). */
  add(change: number, now: number): void {
    const ms = Math.max(0, now - this.#since);
    this.#since = now;
    this.#pendingMs += ms;
    this.#countMs += this.#count * ms;
    this.#count += change;
    if (this.#pendingMs < minObservedMs) return;
    this.#sample.observe(this.#countMs / this.#pendingMs / this.#limit, Math.round(this.#pendingMs * 1e6));
    this.#pendingMs = 0;
    this.#countMs = 0;
  }
}

/** The observations of a level, each as a fraction of its limit. */
export interface LevelSamples {
  readonly seatUtilization: TimedSample;
  readonly requestsExecuting: TimedSample;
  readonly requestsWaiting: TimedSample;
  readonly seatDemand: TimedSample;
}

/** The seats that a level could have used in an adjustment period. */
export interface Demand {
  readonly average: number;
  readonly deviation: number;
  readonly highest: number;
  /** The smoothed demand: it rises at once and falls slowly. */
  readonly smoothed: number;
}

/** States are averaged over this time before they are observed (ms): most last for microseconds. */
const minObservedMs = 10;

/** The weight of the past in the smoothed demand. */
const smoothing = 0.977;

/** Follows the seats and requests of one level. */
export class LevelUsage {
  readonly #samples: LevelSamples;
  /** The nominal limit, and the number of requests that may wait and execute at most. */
  #nominal = 1;
  #limit = 1;
  #capacity = 1;
  /** When the state began, and what was not yet observed: its time (ms), and values times their time. */
  #since: number;
  #pendingMs = 0;
  #seatMs = 0;
  #demandMs = 0;
  #executingMs = 0;
  #waitingMs = 0;
  /** Sums of the demand over the period, weighted by time. */
  #began: number;
  #sum = 0;
  #squares = 0;
  #highest = 0;
  demand: Demand = { average: 0, deviation: 0, highest: 0, smoothed: 0 };

  constructor(samples: LevelSamples, now: number) {
    this.#samples = samples;
    this.#since = now;
    this.#began = now;
  }

  /** Sets what the observations are fractions of: seats now, seats nominally, and places in queues. */
  configure(limit: number, nominal: number, places: number): void {
    this.#limit = Math.max(1, limit);
    this.#nominal = Math.max(1, nominal);
    this.#capacity = Math.max(1, places);
  }

  /** The level has had these seats and requests since the last call, until now (monotonic ms). */
  elapse(now: number, seats: number, waitingSeats: number, executing: number, waiting: number): void {
    const demand = seats + waitingSeats;
    this.#highest = Math.max(this.#highest, demand);
    const ms = now - this.#since;
    if (ms <= 0) return;
    this.#since = now;
    this.#sum += demand * ms;
    this.#squares += demand * demand * ms;
    this.#pendingMs += ms;
    this.#seatMs += seats * ms;
    this.#demandMs += demand * ms;
    this.#executingMs += executing * ms;
    this.#waitingMs += waiting * ms;
    if (this.#pendingMs >= minObservedMs) this.#observe();
  }

  #observe(): void {
    const ms = this.#pendingMs;
    const nanoseconds = Math.round(ms * 1e6);
    const { seatUtilization, requestsExecuting, requestsWaiting, seatDemand } = this.#samples;
    seatUtilization.observe(this.#seatMs / ms / this.#limit, nanoseconds);
    requestsExecuting.observe(this.#executingMs / ms / this.#limit, nanoseconds);
    requestsWaiting.observe(this.#waitingMs / ms / this.#capacity, nanoseconds);
    seatDemand.observe(this.#demandMs / ms / this.#nominal, nanoseconds);
    this.#pendingMs = 0;
    this.#seatMs = 0;
    this.#demandMs = 0;
    this.#executingMs = 0;
    this.#waitingMs = 0;
  }

  /** Ends the period, which has elapsed until now: computes its demand, and begins the next one. */
  endPeriod(now: number): Demand {
    const ms = now - this.#began;
    const average = ms > 0 ? this.#sum / ms : this.#highest;
    const deviation = ms > 0 ? Math.sqrt(Math.max(0, this.#squares / ms - average * average)) : 0;
    const envelope = Math.min(average + deviation, this.#highest);
    const smoothed = Math.max(envelope, smoothing * this.demand.smoothed + (1 - smoothing) * envelope);
    this.demand = { average, deviation, highest: this.#highest, smoothed };
    this.#began = now;
    this.#sum = 0;
    this.#squares = 0;
    this.#highest = 0;
    return this.demand;
  }
}
