import type { Clock } from './clock.ts';

/** The stages of a request, by name and number. A write that is retried passes some of them again. */
export const Stage = {
  authentication: 0,
  audit: 1,
  impersonation: 2,
  authorization: 3,
  /** The body arrives and is decoded. */
  body: 4,
  /** The object to write is prepared: patch, defaults, managed fields. */
  preparation: 5,
  mutatingAdmission: 6,
  validation: 7,
  validatingAdmission: 8,
  /** A read waits for the cache to catch up with the store, or a write is committed. */
  store: 9,
  serialization: 10,
  /** The response is sent. Slices of a long list are encoded one by one as the client reads them. */
  response: 11,
} as const;
export type Stage = (typeof Stage)[keyof typeof Stage];

/** The names by number. */
export const stageNames = Object.keys(Stage) as readonly (keyof typeof Stage)[];

/** A span within a trace. */
export interface Span {
  /** The W3C header `traceparent` for calls within the span. */
  readonly traceparent: string;
  /** Ends the span. `failure` is the reason when the operation failed. */
  end(failure?: string): void;
}

/** The trace of a sampled request. */
export interface RequestTrace {
  /** A stage begins and the previous one ends, `atMs` after the start of the request. */
  entered(stage: Stage, atMs: number): void;
  /** Begins a span within the current stage. */
  begin(name: string, attributes: { readonly [name: string]: string }): Span;
  /** Ends the trace: `status` is the HTTP status, `size` that of the body (bytes). */
  end(status: number, size: number): void;
}

/** Measures the time a request spends in each stage. A request starts in `authentication` and is in one stage at a time. */
export class Stages {
  /** Set when the request is sampled. */
  trace: RequestTrace | undefined;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #began: number;
  readonly #ms = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  #waitedMs = 0;
  #stage: Stage = Stage.authentication;
  #since: number;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#began = clock.monotonic();
    this.#since = this.#began;
  }

  enter(stage: Stage): void {
    const now = this.#clock.monotonic();
    (this.#ms[this.#stage] as number) += now - this.#since;
    this.#stage = stage;
    this.#since = now;
    this.trace?.entered(stage, now - this.#began);
  }

  /** The time in which the request waited for its seat and for admission webhooks (ms). */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** Awaits a seat or webhooks. The time counts as waited, also when the work fails. */
  async waitFor<T>(work: Promise<T>): Promise<T> {
    const began = this.#clock.monotonic();
    try {
      return await work;
    } finally {
      this.#waitedMs += this.#clock.monotonic() - began;
    }
  }

  /** The time since the request began (ms). */
  totalMs(): number {
    return this.#clock.monotonic() - this.#began;
  }

  /** The time of each stage that took any, including the current one (ms, to a thousandth). */
  times(): { readonly [stage: string]: number } {
    const present = this.#clock.monotonic() - this.#since;
    const rounded = this.#ms.map((ms, i) => Math.round((i === this.#stage ? ms + present : ms) * 1_000) / 1_000);
    return Object.fromEntries(rounded.flatMap((ms, i) => (ms > 0 ? [[stageNames[i], ms]] : [])));
  }
}
